/**
 * Statements, transactions and decoded rows of the one connection.
 */
import { assert, describe, it } from "@effect/vitest"
import { arrayOf, between, oneOf, unicode } from "@plaza/testing/Generators"
import { Arbitrary, Cause, Context, Deferred, Effect, Exit, Layer, Schema } from "effect"
import { DatabaseSync } from "node:sqlite"
import { Db, insert, literal } from "../src/storage/Db.ts"
import { collect } from "./collected.ts"

type Database = Db["Service"]

/** A database with two tables of its own. */
const open = Effect.map(Layer.build(Layer.fresh(Db.layer(":memory:"))), (context): Database => {
  const db = Context.get(context, Db)
  db.run`CREATE TABLE things (id TEXT UNIQUE, n INTEGER, other TEXT)`
  db.run`CREATE TABLE others (id TEXT)`
  return db
})
const ids = (db: Database) => db.all(Schema.Struct({ id: Schema.String }))`SELECT id FROM things ORDER BY id`.map(({ id }) => id).join("")
const add = (db: Database, id: string) => db.run`INSERT INTO things ${insert({ id, n: 1, other: null })}`
const adding = (db: Database, id: string) => Effect.sync(() => add(db, id))

describe("statements", () => {
  it.effect("with a text of their own are not kept, however many there are", () =>
    Effect.gen(function*() {
      const db = yield* open
      const statements: Array<WeakRef<object>> = []
      const prepare: unknown = Reflect.get(DatabaseSync.prototype, "prepare")
      assert(typeof prepare === "function")
      Reflect.set(DatabaseSync.prototype, "prepare", function(this: unknown, ...parts: ReadonlyArray<unknown>): unknown {
        const statement: unknown = Reflect.apply(prepare, this, parts)
        if (typeof statement === "object" && statement !== null) statements.push(new WeakRef(statement))
        return statement
      })
      for (let number = 0; number < 100; number++) {
        db.run`CREATE TABLE ${literal(`things_${number}`)} (id TEXT)`
        db.run`DROP TABLE ${literal(`things_${number}`)}`
        ids(db)
      }
      Reflect.set(DatabaseSync.prototype, "prepare", prepare)
      yield* collect
      assert.isAbove(statements.length, 200)
      assert.isBelow(statements.filter((statement) => statement.deref() !== undefined).length, 10)
    }))
})

describe("the number of writes", () => {
  it.effect("grows with each statement that writes to the tables, and with each rollback", () =>
    Effect.gen(function*() {
      const db = yield* open
      let before = db.writes("things")
      const grows = (effect: Effect.Effect<unknown, unknown>, isExpected: boolean, what: string) =>
        Effect.map(Effect.exit(effect), () => {
          const after = db.writes("things")
          assert.strictEqual(after > before, isExpected, what)
          before = after
        })
      const other = (id: string) => Effect.sync(() => db.run`INSERT INTO others VALUES (${id})`)
      yield* grows(adding(db, "a"), true, "an insert")
      yield* grows(Effect.sync(() => db.run`UPDATE things SET n = ${2}`), true, "an update")
      yield* grows(Effect.sync(() => ids(db)), false, "a read")
      yield* grows(other("a"), false, "another table")
      yield* grows(db.transaction(other("b")), false, "a transaction without a write")
      const during = Effect.sync(() => {
        before = db.writes("things")
      })
      yield* grows(
        db.transaction(Effect.andThen(adding(db, "c"), Effect.andThen(during, Effect.fail("no")))),
        true,
        "a rollback after its writes"
      )
    }))
})

describe("a transaction", () => {
  it.effect("is rolled back completely when it fails or dies", () =>
    Effect.gen(function*() {
      const db = yield* open
      for (const end of [Effect.fail("no"), Effect.die("no")]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(db.transaction(Effect.andThen(adding(db, "a"), end)))))
        assert.strictEqual(ids(db), "")
      }
      yield* db.transaction(adding(db, "b"))
      assert.strictEqual(ids(db), "b")
    }))

  it.effect("in another one is rolled back alone, or with the outer one", () =>
    Effect.gen(function*() {
      const db = yield* open
      const inner = (id: string, end: Effect.Effect<void, string>) => db.transaction(Effect.andThen(adding(db, id), end))
      yield* db.transaction(Effect.gen(function*() {
        add(db, "a")
        yield* Effect.ignore(inner("b", Effect.fail("no")))
        yield* inner("c", Effect.void)
      }))
      assert.strictEqual(ids(db), "ac")
      yield* Effect.ignore(db.transaction(Effect.andThen(inner("d", Effect.void), Effect.fail("no"))))
      assert.strictEqual(ids(db), "ac")
    }))

  it.effect("yields to no other fiber, however many steps it takes", () =>
    Effect.gen(function*() {
      const db = yield* open
      const seen: Array<string> = []
      const long = db.transaction(Effect.gen(function*() {
        add(db, "a")
        // More steps than a fiber takes before it yields, and then explicit yields.
        yield* Effect.forEach(Array.from({ length: 5_000 }), () => Effect.void, { discard: true })
        yield* Effect.forEach(Array.from({ length: 5_000 }), () => Effect.yieldNow, { discard: true })
        add(db, "b")
      }))
      yield* Effect.all([long, Effect.sync(() => seen.push(ids(db)))], { concurrency: "unbounded" })
      assert.include(["", "ab"], seen.join())
      assert.strictEqual(ids(db), "ab")
    }))

  it.effect("that suspends dies, is rolled back and writes nothing later", () =>
    Effect.gen(function*() {
      const db = yield* open
      for (const region of [Effect.interruptible, Effect.uninterruptible]) {
        const latch = yield* Deferred.make<void>()
        const waits = Effect.all([adding(db, "a"), Deferred.await(latch), adding(db, "b")], { discard: true })
        const exit = yield* Effect.exit(region(db.transaction(waits)))
        assert.strictEqual(ids(db), "")
        yield* Deferred.succeed(latch, undefined)
        // By then every runnable fiber has run.
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        assert.strictEqual(ids(db), "")
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.include(
          Cause.pretty(Exit.isFailure(exit) ? exit.cause : Cause.empty),
          "an effect in a transaction must be synchronous; wait outside the transaction"
        )
      }
      yield* db.transaction(adding(db, "c"))
      assert.strictEqual(ids(db), "c")
    }))

  it.effect("works after a statement that SQLite refused", () =>
    Effect.gen(function*() {
      const db = yield* open
      const once = (id: string) =>
        db.transaction(
          Effect.sync(() => db.first(Schema.Struct({ n: Schema.Int }))`INSERT INTO things (id, n) VALUES (${id}, 1) RETURNING n`)
        )
      yield* once("a")
      for (const id of ["b", "c"]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(once("a"))))
        assert.deepStrictEqual(yield* once(id), { n: 1 })
      }
      assert.strictEqual(ids(db), "abc")
    }))
})

describe("a statement", () => {
  it.effect("is counted for the table that it writes to, and for no other", () =>
    Effect.gen(function*() {
      const db = yield* open
      const table = literal("things")
      for (
        const write of [
          () => db.run`INSERT INTO things (id) VALUES (${"a"})`,
          () => db.run`INSERT OR IGNORE INTO ${table} ${insert({ id: "a" })}`,
          () => db.run`INSERT OR REPLACE INTO things (id) VALUES (${"a"})`,
          () =>
            db.run`
          UPDATE things SET n = ${1}`,
          () => db.run`DELETE FROM ${table}`,
          () => db.exists`INSERT INTO things (id) VALUES (${"b"}) RETURNING n`
        ]
      ) {
        const [things, others] = [db.writes("things"), db.writes("others")]
        write()
        assert.deepStrictEqual([db.writes("things"), db.writes("others")], [things + 1, others])
        assert.strictEqual(db.writes("things", "others"), things + others + 1)
      }
      const before = db.writes("things")
      db.exists`SELECT * FROM things`
      assert.strictEqual(db.writes("things"), before)
    }))

  const text = Arbitrary.map(unicode(), (drawn) => drawn.replaceAll("\0", ""))
  const rows = arrayOf(
    Arbitrary.all({
      id: text,
      n: oneOf<number | null>(between(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER), Arbitrary.Constant(null)),
      other: oneOf<string | null>(text, Arbitrary.Constant(null))
    }),
    { minLength: 1, maxLength: 30 }
  )
  it.effect.prop("returns the rows unchanged, whatever they contain", [rows], ([drawn]) =>
    Effect.gen(function*() {
      const db = yield* open
      const things = [...new Map(drawn.map((thing) => [thing.id, thing])).values()]
      const Thing = Schema.Struct({ id: Schema.String, n: Schema.NullOr(Schema.Int), other: Schema.NullOr(Schema.String) })
      const find = (id: string) => db.first(Thing)`SELECT * FROM things WHERE id = ${id}`
      db.run`INSERT INTO things ${insert(things)}`
      const limit = things.length - 1
      assert.deepStrictEqual(db.all(Thing)`SELECT * FROM things ORDER BY rowid LIMIT ${limit}`, things.slice(0, limit))
      for (const thing of things) {
        assert.deepStrictEqual(find(thing.id), thing)
      }
      assert.isUndefined(find("\0"))
    }), { arbitrary: { runs: 50 } })

  it.effect("whose row doesn't match its schema dies", () =>
    Effect.gen(function*() {
      const db = yield* open
      add(db, "a")
      const Other = Schema.Struct({ other: Schema.String })
      const reads: ReadonlyArray<() => unknown> = [
        () => db.all(Other)`SELECT other FROM things`,
        () => db.first(Other)`SELECT other FROM things`,
        () => db.one(Other)`SELECT other FROM things`,
        () => db.one(Other)`SELECT other FROM things WHERE id = ${"b"}`
      ]
      for (const read of reads) {
        const exit = yield* Effect.exit(Effect.sync(read))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      }
    }))
})
