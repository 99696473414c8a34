/**
 * Statements, transactions and decoded rows of the one connection.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, FastCheck, Option, Schema } from "effect"
import { DatabaseSync } from "node:sqlite"
import * as Sql from "../src/storage/Sql.ts"
import * as SqlSchema from "../src/storage/SqlSchema.ts"

const open = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const database = new DatabaseSync(":memory:")
      database.exec("CREATE TABLE things (id TEXT UNIQUE, n INTEGER, other TEXT); CREATE TABLE others (id TEXT)")
      return database
    }),
    (database) => Effect.sync(() => database.close())
  ),
  Sql.make
)
const Id = Schema.Struct({ id: Schema.String }).pipe(Schema.pluck("id"))
const ids = (sql: Sql.Client) =>
  Effect.map(
    SqlSchema.findAll({ Result: Id, execute: () => sql`SELECT id FROM things ORDER BY id` })(),
    (found) => found.join("")
  )
const add = (sql: Sql.Client, id: string) => sql`INSERT INTO things ${sql.insert({ id, n: 1, other: null })}`

describe("the number of writes", () => {
  it.scoped("grows with each statement that writes to the tables, and with each rollback", () =>
    Effect.gen(function*() {
      const sql = yield* open
      let before = sql.writes("things")
      const grows = (effect: Effect.Effect<unknown, unknown>, isExpected: boolean, what: string) =>
        Effect.map(Effect.exit(effect), () => {
          const after = sql.writes("things")
          assert.strictEqual(after > before, isExpected, what)
          before = after
        })
      yield* grows(add(sql, "a"), true, "an insert")
      yield* grows(Effect.sync(() => sql.unsafeRun`UPDATE things SET n = ${2}`), true, "an update")
      yield* grows(ids(sql), false, "a read")
      yield* grows(sql`INSERT INTO others VALUES (${"a"})`, false, "another table")
      yield* grows(sql.withTransaction(sql`INSERT INTO others VALUES (${"b"})`), false, "a transaction without a write")
      const during = Effect.sync(() => {
        before = sql.writes("things")
      })
      yield* grows(
        sql.withTransaction(Effect.zipRight(add(sql, "c"), Effect.zipRight(during, Effect.fail("no")))),
        true,
        "a rollback after its writes"
      )
    }))
})

describe("a transaction", () => {
  it.scoped("is rolled back completely when it fails or dies", () =>
    Effect.gen(function*() {
      const sql = yield* open
      for (const end of [Effect.fail("no"), Effect.die("no")]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(sql.withTransaction(Effect.zipRight(add(sql, "a"), end)))))
        assert.strictEqual(yield* ids(sql), "")
      }
      yield* sql.withTransaction(add(sql, "b"))
      assert.strictEqual(yield* ids(sql), "b")
    }))

  it.scoped("in another one is rolled back alone, or with the outer one", () =>
    Effect.gen(function*() {
      const sql = yield* open
      const inner = (id: string, end: Effect.Effect<void, string>) => sql.withTransaction(Effect.zipRight(add(sql, id), end))
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* add(sql, "a")
        yield* Effect.ignore(inner("b", Effect.fail("no")))
        yield* inner("c", Effect.void)
      }))
      assert.strictEqual(yield* ids(sql), "ac")
      yield* Effect.ignore(sql.withTransaction(Effect.zipRight(inner("d", Effect.void), Effect.fail("no"))))
      assert.strictEqual(yield* ids(sql), "ac")
    }))

  it.scoped("yields to no other fiber, however many steps it takes", () =>
    Effect.gen(function*() {
      const sql = yield* open
      const seen: Array<string> = []
      const long = sql.withTransaction(Effect.gen(function*() {
        yield* add(sql, "a")
        // More steps than a fiber takes before it yields, and then an explicit yield.
        yield* Effect.forEach(Array.from({ length: 5_000 }), () => Effect.yieldNow(), { discard: true })
        yield* add(sql, "b")
      }))
      yield* Effect.all([long, Effect.map(ids(sql), (found) => seen.push(found))], { concurrency: "unbounded" })
      assert.include(["", "ab"], seen.join())
    }))

  it.scoped("that suspends dies, is rolled back and writes nothing later", () =>
    Effect.gen(function*() {
      const sql = yield* open
      for (const region of [Effect.interruptible, Effect.uninterruptible]) {
        const latch = yield* Deferred.make<void>()
        const waits = Effect.all([add(sql, "a"), Deferred.await(latch), add(sql, "b")], { discard: true })
        const exit = yield* Effect.exit(region(sql.withTransaction(waits)))
        assert.strictEqual(yield* ids(sql), "")
        yield* Deferred.succeed(latch, undefined)
        // By then every runnable fiber has run.
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        assert.strictEqual(yield* ids(sql), "")
        assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
        assert.include(
          Cause.pretty(Exit.isFailure(exit) ? exit.cause : Cause.empty),
          "an effect in withTransaction must be synchronous; wait outside the transaction"
        )
      }
      yield* sql.withTransaction(add(sql, "c"))
      assert.strictEqual(yield* ids(sql), "c")
    }))

  it.scoped("works after a statement that SQLite refused", () =>
    Effect.gen(function*() {
      const sql = yield* open
      const once = (id: string) => sql.first`INSERT INTO things (id, n) VALUES (${id}, 1) RETURNING n`
      yield* sql.withTransaction(once("a"))
      for (const id of ["b", "c"]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(sql.withTransaction(once("a")))))
        assert.deepInclude(yield* sql.withTransaction(once(id)), { n: 1 })
      }
      assert.strictEqual(yield* ids(sql), "abc")
    }))
})

describe("a statement", () => {
  it.scoped("is counted for the table that it writes to, and for no other", () =>
    Effect.gen(function*() {
      const sql = yield* open
      const table = sql.literal("things")
      for (
        const write of [
          sql`INSERT INTO things (id) VALUES (${"a"})`,
          sql`INSERT OR IGNORE INTO ${table} ${sql.insert({ id: "a" })}`,
          sql`INSERT OR REPLACE INTO things (id) VALUES (${"a"})`,
          sql`
          UPDATE things SET n = ${1}`,
          sql`DELETE FROM ${table}`,
          sql.first`INSERT INTO things (id) VALUES (${"b"}) RETURNING n`
        ]
      ) {
        const [things, others] = [sql.writes("things"), sql.writes("others")]
        yield* write
        assert.deepStrictEqual([sql.writes("things"), sql.writes("others")], [things + 1, others])
        assert.strictEqual(sql.writes("things", "others"), things + others + 1)
      }
      const before = sql.writes("things")
      yield* sql`SELECT * FROM things`
      assert.strictEqual(sql.writes("things"), before)
    }))

  it.scoped("returns the rows unchanged, whatever they contain", () =>
    Effect.gen(function*() {
      const sql = yield* open
      const Thing = Schema.Struct({ id: Schema.String, n: Schema.NullOr(Schema.Int), other: Schema.NullOr(Schema.String) })
      const all = SqlSchema.findAll({ Result: Thing, execute: (limit: number) => sql`SELECT * FROM things ORDER BY rowid LIMIT ${limit}` })
      const find = SqlSchema.findOne({ Result: Thing, execute: (id: string) => sql.first`SELECT * FROM things WHERE id = ${id}` })
      const text = FastCheck.fullUnicodeString().map((drawn) => drawn.replaceAll("\0", ""))
      const rows = FastCheck.uniqueArray(
        FastCheck.record({ id: text, n: FastCheck.option(FastCheck.maxSafeInteger()), other: FastCheck.option(text) }),
        { selector: ({ id }) => id, minLength: 1, maxLength: 30 }
      )
      for (const drawn of FastCheck.sample(rows, { numRuns: 50, seed: 3 })) {
        yield* sql`DELETE FROM things`
        yield* sql`INSERT INTO things ${sql.insert(drawn)}`
        const limit = drawn.length - 1
        assert.deepStrictEqual(yield* all(limit), drawn.slice(0, limit))
        for (const thing of drawn) {
          assert.deepStrictEqual(yield* find(thing.id), Option.some(thing))
        }
      }
      assert.deepStrictEqual(yield* find("\0"), Option.none())
    }))

  it.scoped("whose row doesn't match its schema dies", () =>
    Effect.gen(function*() {
      const sql = yield* open
      yield* add(sql, "a")
      const Other = Schema.Struct({ other: Schema.String })
      const reads: ReadonlyArray<Effect.Effect<unknown>> = [
        SqlSchema.findAll({ Result: Other, execute: () => sql`SELECT other FROM things` })(),
        SqlSchema.findOne({ Result: Other, execute: () => sql.first`SELECT other FROM things` })(),
        SqlSchema.single({ Result: Other, execute: () => sql.first`SELECT other FROM things` })(),
        SqlSchema.single({ Result: Other, execute: () => sql.first`SELECT other FROM things WHERE id = ${"b"}` })()
      ]
      for (const read of reads) {
        const exit = yield* Effect.exit(read)
        assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      }
    }))
})
