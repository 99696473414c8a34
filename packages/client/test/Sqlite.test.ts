/** What a user of `@plaza/client/sqlite` sees. */
import { describe, expect, it } from "@effect/vitest"
import * as Sqlite from "@plaza/client/sqlite"
import { oldestNode } from "@plaza/testing/Nodes"
import { Config, ConfigProvider, Context, Deferred, Effect, Fiber, Layer, type Scope, Stream } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { TestClock } from "effect/testing"
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { DatabaseSync } from "node:sqlite"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(Path.join(tmpdir(), "plaza-sqlite-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const open = (options: Sqlite.Options): Effect.Effect<SqlClient.SqlClient, unknown, Scope.Scope> =>
  Effect.map(Layer.build(Sqlite.layer(options)), (context) => Context.get(context, SqlClient.SqlClient))

const memory = open({ filename: ":memory:" })

describe("values", () => {
  it.effect("are stored and read back", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE stored (value)`
      for (const value of [null, "", "tea \u{1F375}", 1.5, -0.25, 2 ** 40, new Uint8Array([0, 255])]) {
        yield* sql`DELETE FROM stored`
        yield* sql`INSERT INTO stored VALUES (${value})`
        expect(yield* sql`SELECT value FROM stored`).toEqual([{ value }])
      }
    }))

  it.effect("a boolean is 1 or 0", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      expect(yield* sql`SELECT ${true} AS yes, ${false} AS no`).toEqual([{ yes: 1, no: 0 }])
    }))

  // As the first value, they would be the values of named parameters, and the others would move by one place.
  it.effect.each([["a date", new Date(0)], ["a list", [1]], ["an object", { at: 1 }]] as const)("%s is an error in every place",
    ([, value]) =>
      Effect.gen(function*() {
        const sql = yield* memory
        for (const values of [[value, 1], [1, value]]) {
          expect(yield* Effect.flip(sql.unsafe("SELECT ? AS at, ? AS n", values))).toMatchObject({ _tag: "SqlError" })
        }
      }))

  it.effect("an integer beyond 2 to the 53rd is exact if the caller asks for it", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      const big = 2n ** 62n + 1n
      const query = sql`SELECT ${big} AS big, 1 AS one`
      expect(yield* Effect.provideService(query, SqlClient.SafeIntegers, true)).toEqual([{ big, one: 1n }])
      expect(yield* query).toEqual([{ big: Number(big), one: 1 }])
    }))

  it.effect("rows can be read as lists, which have all columns of one name", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      const query = sql`SELECT 1 AS n, 2 AS n`
      expect(yield* query.values).toEqual([[1, 2]])
      expect(yield* query).toEqual([{ n: 2 }])
    }))
})

describe("statements", () => {
  it.effect("a query has the columns that its table has now", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE product (id, stock)`
      yield* sql`INSERT INTO product VALUES ('tea', 3)`
      const query = sql`SELECT * FROM product`
      expect(yield* query).toEqual([{ id: "tea", stock: 3 }])
      yield* sql`ALTER TABLE product ADD COLUMN name DEFAULT 'Tea'`
      expect(yield* query).toEqual([{ id: "tea", stock: 3, name: "Tea" }])
      yield* sql`ALTER TABLE product DROP COLUMN stock`
      expect(yield* query).toEqual([{ id: "tea", name: "Tea" }])
    }))

  it.effect("a failure has the reason and the code of SQLite, and the next statement runs", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE product (id UNIQUE)`
      const insert = sql`INSERT INTO product VALUES ('tea')`
      yield* insert
      expect(yield* Effect.flip(insert)).toMatchObject({
        _tag: "SqlError",
        message: "UNIQUE constraint failed: product.id",
        reason: { _tag: "UniqueViolation", constraint: "product.id", cause: { errcode: 2067 } }
      })
      expect(yield* sql`SELECT count(*) AS n FROM product`).toEqual([{ n: 1 }])
    }))

  it.effect("a statement without rows reports its changes as the raw result", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE t (n)`
      expect(yield* sql`INSERT INTO t VALUES (1), (2)`.raw).toEqual({ changes: 2, lastInsertRowid: 2 })
      expect(yield* sql`INSERT INTO t VALUES (3) RETURNING n`.raw).toEqual([{ n: 3 }])
    }))

  it.effect("a statement that is not kept prepared returns the same rows and values", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      expect(yield* sql`SELECT ${1} AS n`.unprepared).toEqual([{ n: 1 }])
      expect(yield* sql`SELECT ${1} AS n`.valuesUnprepared).toEqual([[1]])
    }))

  it.effect("more texts than are kept prepared", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      const numbers = Array.from({ length: 500 }, (_, n) => n)
      const rows = yield* Effect.forEach(numbers, (n) => sql.unsafe(`SELECT ${n} AS n`))
      expect(rows.flat()).toEqual(numbers.map((n) => ({ n })))
    }))
})

describe("transactions", () => {
  it.effect("an inner one that fails is undone alone", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE t (n)`
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`INSERT INTO t VALUES (1)`
        yield* Effect.flip(sql.withTransaction(Effect.andThen(sql`INSERT INTO t VALUES (2)`, Effect.fail("no"))))
        yield* sql.withTransaction(sql`INSERT INTO t VALUES (3)`)
      }))
      expect(yield* sql`SELECT n FROM t`).toEqual([{ n: 1 }, { n: 3 }])
    }))

  it.effect("one that is interrupted is undone, and lets others run", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE t (n)`
      const written = yield* Deferred.make<void>()
      const transaction = yield* Effect.forkChild(
        sql.withTransaction(
          sql`INSERT INTO t VALUES (1)`.pipe(Effect.andThen(Deferred.succeed(written, undefined)), Effect.andThen(Effect.never))
        )
      )
      yield* Deferred.await(written)
      const query = yield* Effect.forkChild(sql`SELECT count(*) AS n FROM t`)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(transaction)
      expect(yield* Fiber.join(query)).toEqual([{ n: 0 }])
    }))
})

describe("a transaction that can't be committed", () => {
  it.effect("fails with the reason, is undone, and the next statement runs", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`PRAGMA foreign_keys = ON`
      yield* sql`CREATE TABLE parent (id PRIMARY KEY)`
      yield* sql`CREATE TABLE child (parent REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`
      expect(yield* Effect.flip(sql.withTransaction(sql`INSERT INTO child VALUES (1)`))).toMatchObject({
        _tag: "SqlError",
        reason: { _tag: "ConstraintError" }
      })
      expect(yield* sql`SELECT * FROM child`).toEqual([])
    }))
})

describe("a stream of rows", () => {
  const numbers = Effect.gen(function*() {
    const sql = yield* memory
    yield* sql`CREATE TABLE t (n INTEGER)`
    yield* sql`INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 2000) SELECT n FROM r`
    return sql
  })

  it.effect("has every row once, in chunks, and ends", () =>
    Effect.gen(function*() {
      const sql = yield* numbers
      const chunks = yield* Stream.runCollect(Stream.chunks(sql<{ n: number }>`SELECT n FROM t ORDER BY n`.stream))
      expect(chunks.length).toBeGreaterThan(1)
      expect(chunks.flat().map(({ n }) => n)).toEqual(Array.from({ length: 2_000 }, (_, index) => index + 1))
      expect(yield* Stream.runCollect(sql`SELECT n FROM t WHERE n < 0`.stream)).toEqual([])
    }))

  it.effect("is read no further than its consumer asks, and its table can be dropped then", () =>
    Effect.gen(function*() {
      const sql = yield* numbers
      // The division fails at row 1,500, which no chunk of the first rows has.
      const query = sql<{ n: number }>`SELECT abs(CASE n WHEN 1500 THEN -9223372036854775808 ELSE n END) AS n FROM t ORDER BY rowid`.stream
      expect(yield* Stream.runCollect(Stream.take(query, 3))).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
      expect(yield* Effect.flip(Stream.runDrain(query))).toMatchObject({ _tag: "SqlError", message: "integer overflow" })
      yield* sql`DROP TABLE t`
    }))

  it.effect("that is interrupted leaves no open statement and no locked connection", () =>
    Effect.gen(function*() {
      const sql = yield* numbers
      const reading = yield* Deferred.make<void>()
      const stream = yield* Effect.forkChild(
        Stream.runForEach(sql`SELECT n FROM t`.stream, () => Effect.andThen(Deferred.succeed(reading, undefined), Effect.never))
      )
      yield* Deferred.await(reading)
      yield* Fiber.interrupt(stream)
      yield* sql`DROP TABLE t`
    }))

  it.effect("and the statements of its transaction run side by side", () =>
    Effect.gen(function*() {
      const sql = yield* numbers
      yield* sql`CREATE TABLE copy (n)`
      yield* sql.withTransaction(
        Stream.runForEach(sql<{ n: number }>`SELECT n FROM t WHERE n <= 600`.stream, ({ n }) => sql`INSERT INTO copy VALUES (${n})`)
      )
      expect(yield* sql`SELECT count(*) AS n FROM copy`).toEqual([{ n: 600 }])
    }))

  it.effect("has exact integers if the caller asks for them", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      const big = 2n ** 62n + 1n
      const query = Stream.runCollect(sql`SELECT ${big} AS big`.stream)
      expect(yield* Effect.provideService(query, SqlClient.SafeIntegers, true)).toEqual([{ big }])
      expect(yield* query).toEqual([{ big: Number(big) }])
    }))
})

describe("files", () => {
  it.effect("a file has a write-ahead log while it is open, and none after", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* folder, "a.db")
      yield* Effect.scoped(Effect.gen(function*() {
        const sql = yield* open({ filename })
        yield* sql`CREATE TABLE t (n)`
        expect(existsSync(`${filename}-wal`)).toBe(true)
      }))
      expect(existsSync(`${filename}-wal`)).toBe(false)
    }))

  it.effect("while another program writes, a write fails at once, and a query sees what was there before", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* folder, "a.db")
      const sql = yield* open({ filename })
      yield* sql`CREATE TABLE t (n)`
      const other = yield* Effect.acquireRelease(Effect.sync(() => new DatabaseSync(filename)),
        (database) => Effect.sync(() => database.close()))
      other.exec("BEGIN; INSERT INTO t VALUES (1)")
      expect(yield* sql`SELECT n FROM t`).toEqual([])
      expect(yield* Effect.flip(sql`INSERT INTO t VALUES (2)`)).toMatchObject({
        message: "database is locked",
        reason: { _tag: "LockTimeoutError", isRetryable: true, cause: { errcode: 5 } }
      })
      other.exec("COMMIT")
      expect(yield* sql`SELECT n FROM t`).toEqual([{ n: 1 }])
    }))

  it.effect("while another program writes, a transaction fails at its beginning, not in the middle", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* folder, "a.db")
      const [sql, other] = [yield* open({ filename }), yield* open({ filename })]
      yield* sql`CREATE TABLE t (n)`
      yield* other.withTransaction(Effect.gen(function*() {
        let began = false
        const transaction = sql.withTransaction(Effect.sync(() => {
          began = true
        }))
        expect(yield* Effect.flip(transaction)).toMatchObject({ reason: { _tag: "LockTimeoutError" } })
        expect(began).toBe(false)
      }))
      yield* sql.withTransaction(sql`INSERT INTO t VALUES (1)`)
    }))

  it.effect("that another program locks for a moment, as when both open a new file, is opened after that", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* folder, "a.db")
      const other = yield* Effect.acquireRelease(Effect.sync(() => new DatabaseSync(filename)),
        (database) => Effect.sync(() => database.close()))
      other.exec("BEGIN EXCLUSIVE")
      const opening = yield* Effect.forkChild(open({ filename }))
      yield* TestClock.adjust("200 millis")
      other.exec("COMMIT")
      yield* TestClock.adjust("200 millis")
      expect(yield* Effect.flatMap(Fiber.join(opening), (sql) => sql`PRAGMA journal_mode`)).toEqual([{ journal_mode: "wal" }])

      other.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
      const failing = yield* Effect.forkChild(Effect.flip(Effect.scoped(open({ filename }))))
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(failing)).toMatchObject({
        message: `Failed to open ${filename}: database is locked`,
        reason: { _tag: "LockTimeoutError" }
      })
    }))

  it.effect("options come from the configuration", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* folder, "a.db")
      const layer = Sqlite.layerConfig({ filename: Config.String("DATABASE") }).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATABASE: filename })))
      )
      yield* Effect.scoped(Layer.build(layer))
      expect(existsSync(filename)).toBe(true)
      expect(yield* Effect.flip(Effect.scoped(Layer.build(Sqlite.layerConfig({ filename: Config.String("DATABASE") }))))).toMatchObject({
        _tag: "ConfigError"
      })
    }))

  it.effect("opened for reading only, in whichever journal mode", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* folder, "a.db")
      yield* Effect.scoped(Effect.gen(function*() {
        const sql = yield* open({ filename, disableWAL: true })
        yield* sql`CREATE TABLE t (n)`
      }))
      const sql = yield* open({ filename, readonly: true })
      expect(yield* sql`SELECT n FROM t`).toEqual([])
      expect(yield* Effect.flip(sql`INSERT INTO t VALUES (1)`)).toMatchObject({ message: "attempt to write a readonly database" })
      expect(yield* sql`PRAGMA journal_mode`).toEqual([{ journal_mode: "delete" }])
    }))

  it.effect("a file that is no database, a folder, and a missing file for reading: an error with the path, and nothing is changed", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const text = Path.join(path, "notes.txt")
      const content = "No database, but a text. ".repeat(100)
      writeFileSync(text, content)
      const cases: ReadonlyArray<readonly [Sqlite.Options, string]> = [
        [{ filename: text }, "file is not a database"],
        [{ filename: path }, "unable to open database file"],
        [{ filename: Path.join(path, "missing.db"), readonly: true }, "unable to open database file"],
        [{ filename: Path.join(path, "missing", "a.db") }, "unable to open database file"]
      ]
      for (const [options, message] of cases) {
        expect(yield* Effect.flip(Effect.scoped(open(options)))).toMatchObject({
          _tag: "SqlError",
          message: `Failed to open ${options.filename}: ${message}`,
          reason: { cause: { message, errcode: expect.any(Number) as unknown } }
        })
      }
      expect(readFileSync(text, "utf8")).toBe(content)
      expect(existsSync(Path.join(path, "missing.db"))).toBe(false)
    }))
})

// Values, columns and iterators that its SQLite treats in another way.
const script = `
  import * as Sqlite from "@plaza/client/sqlite"
  import { Effect, Stream } from "effect"
  import { SqlClient } from "effect/sql"
  const read = Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql\`CREATE TABLE product (id, known)\`
    yield* sql\`INSERT INTO product VALUES (\${"tea"}, \${true})\`
    const query = sql\`SELECT * FROM product\`
    const before = yield* query
    const streamed = yield* Stream.runCollect(query.stream)
    yield* sql\`ALTER TABLE product DROP COLUMN id\`
    return [before, streamed, yield* query]
  })
  console.log(JSON.stringify(await Effect.runPromise(Effect.provide(read, Sqlite.layer({ filename: ":memory:" })))))
`

it("the oldest Node gives the same rows, and prints no warning", () => {
  const { stderr, stdout } = spawnSync(oldestNode, ["--conditions=@plaza/source", "--input-type=module", "--eval", script], {
    cwd: Path.join(import.meta.dirname, ".."),
    encoding: "utf8",
    timeout: 60_000
  })
  expect(stderr).toBe("")
  const row = { id: "tea", known: 1 }
  expect(JSON.parse(stdout)).toEqual([[row], [row], [{ known: 1 }]])
})
