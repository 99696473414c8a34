/** What a user of `@plaza-legacy/client/sqlite` sees. */
import * as SqlClient from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Sqlite from "@plaza-legacy/client/sqlite"
import { oldestNode } from "@plaza-legacy/testing/Nodes"
import { Context, Deferred, Effect, Fiber, Layer, type Scope } from "effect"
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
  it.scoped("are stored and read back", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE stored (value)`
      for (const value of [null, "", "tea \u{1F375}", 1.5, -0.25, 2 ** 40, new Uint8Array([0, 255])]) {
        yield* sql`DELETE FROM stored`
        yield* sql`INSERT INTO stored VALUES (${value})`
        expect(yield* sql`SELECT value FROM stored`).toEqual([{ value }])
      }
    }))

  it.scoped("a boolean is 1 or 0", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      expect(yield* sql`SELECT ${true} AS yes, ${false} AS no`).toEqual([{ yes: 1, no: 0 }])
    }))

  // As the first value, they would be the values of named parameters, and the others would move by one place.
  it.scoped.each([["a date", new Date(0)], ["a list", [1]], ["an object", { at: 1 }]] as const)("%s is an error in every place",
    ([, value]) =>
      Effect.gen(function*() {
        const sql = yield* memory
        for (const values of [[value, 1], [1, value]]) {
          expect(yield* Effect.flip(sql.unsafe("SELECT ? AS at, ? AS n", values))).toMatchObject({ _tag: "SqlError" })
        }
      }))

  it.scoped("an integer beyond 2 to the 53rd is exact if the caller asks for it", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      const big = 2n ** 62n + 1n
      const query = sql`SELECT ${big} AS big, 1 AS one`
      expect(yield* Effect.provideService(query, SqlClient.SafeIntegers, true)).toEqual([{ big, one: 1n }])
      expect(yield* query).toEqual([{ big: Number(big), one: 1 }])
    }))

  it.scoped("rows can be read as lists, which have all columns of one name", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      const query = sql`SELECT 1 AS n, 2 AS n`
      expect(yield* query.values).toEqual([[1, 2]])
      expect(yield* query).toEqual([{ n: 2 }])
    }))
})

describe("statements", () => {
  it.scoped("a query has the columns that its table has now", () =>
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

  it.scoped("a failure has the reason and the code of SQLite, and the next statement runs", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE product (id UNIQUE)`
      const insert = sql`INSERT INTO product VALUES ('tea')`
      yield* insert
      expect(yield* Effect.flip(insert)).toMatchObject({
        _tag: "SqlError",
        cause: { message: "UNIQUE constraint failed: product.id", errcode: 2067 }
      })
      expect(yield* sql`SELECT count(*) AS n FROM product`).toEqual([{ n: 1 }])
    }))

  it.scoped("more texts than are kept prepared", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      const numbers = Array.from({ length: 500 }, (_, n) => n)
      const rows = yield* Effect.forEach(numbers, (n) => sql.unsafe(`SELECT ${n} AS n`))
      expect(rows.flat()).toEqual(numbers.map((n) => ({ n })))
    }))
})

describe("transactions", () => {
  it.scoped("an inner one that fails is undone alone", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE t (n)`
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`INSERT INTO t VALUES (1)`
        yield* Effect.flip(sql.withTransaction(Effect.zipRight(sql`INSERT INTO t VALUES (2)`, Effect.fail("no"))))
        yield* sql.withTransaction(sql`INSERT INTO t VALUES (3)`)
      }))
      expect(yield* sql`SELECT n FROM t`).toEqual([{ n: 1 }, { n: 3 }])
    }))

  it.scoped("one that is interrupted is undone, and lets others run", () =>
    Effect.gen(function*() {
      const sql = yield* memory
      yield* sql`CREATE TABLE t (n)`
      const written = yield* Deferred.make<void>()
      const transaction = yield* Effect.fork(
        sql.withTransaction(
          sql`INSERT INTO t VALUES (1)`.pipe(Effect.zipRight(Deferred.succeed(written, undefined)), Effect.zipRight(Effect.never))
        )
      )
      yield* Deferred.await(written)
      const query = yield* Effect.fork(sql`SELECT count(*) AS n FROM t`)
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(transaction)
      expect(yield* Fiber.join(query)).toEqual([{ n: 0 }])
    }))
})

describe("files", () => {
  it.scoped("a file has a write-ahead log while it is open, and none after", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* folder, "a.db")
      yield* Effect.scoped(Effect.gen(function*() {
        const sql = yield* open({ filename })
        yield* sql`CREATE TABLE t (n)`
        expect(existsSync(`${filename}-wal`)).toBe(true)
      }))
      expect(existsSync(`${filename}-wal`)).toBe(false)
    }))

  it.scoped("while another program writes, a write fails at once, and a query sees what was there before", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* folder, "a.db")
      const sql = yield* open({ filename })
      yield* sql`CREATE TABLE t (n)`
      const other = yield* Effect.acquireRelease(Effect.sync(() => new DatabaseSync(filename)),
        (database) => Effect.sync(() => database.close()))
      other.exec("BEGIN; INSERT INTO t VALUES (1)")
      expect(yield* sql`SELECT n FROM t`).toEqual([])
      expect(yield* Effect.flip(sql`INSERT INTO t VALUES (2)`)).toMatchObject({ cause: { message: "database is locked", errcode: 5 } })
      other.exec("COMMIT")
      expect(yield* sql`SELECT n FROM t`).toEqual([{ n: 1 }])
    }))

  it.scoped("opened for reading only, in whichever journal mode", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* folder, "a.db")
      yield* Effect.scoped(Effect.gen(function*() {
        const sql = yield* open({ filename, disableWAL: true })
        yield* sql`CREATE TABLE t (n)`
      }))
      const sql = yield* open({ filename, readonly: true })
      expect(yield* sql`SELECT n FROM t`).toEqual([])
      expect(yield* Effect.flip(sql`INSERT INTO t VALUES (1)`)).toMatchObject({
        cause: { message: "attempt to write a readonly database" }
      })
      expect(yield* sql`PRAGMA journal_mode`).toEqual([{ journal_mode: "delete" }])
    }))

  it.scoped("a file that is no database, a folder, and a missing file for reading: an error with the path, and nothing is changed", () =>
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
          message: `Failed to open ${options.filename}`,
          cause: { message }
        })
      }
      expect(readFileSync(text, "utf8")).toBe(content)
      expect(existsSync(Path.join(path, "missing.db"))).toBe(false)
    }))
})

// Values and columns that its SQLite treats in another way.
const script = `
  import { SqlClient } from "@effect/sql"
  import * as Sqlite from "@plaza-legacy/client/sqlite"
  import { Effect } from "effect"
  const read = Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql\`CREATE TABLE product (id, known)\`
    yield* sql\`INSERT INTO product VALUES (\${"tea"}, \${true})\`
    const query = sql\`SELECT * FROM product\`
    const before = yield* query
    yield* sql\`ALTER TABLE product DROP COLUMN id\`
    return [before, yield* query]
  })
  console.log(JSON.stringify(await Effect.runPromise(Effect.provide(read, Sqlite.layer({ filename: ":memory:" })))))
`

it("the oldest Node gives the same rows", () => {
  const { stdout } = spawnSync(oldestNode, ["--conditions=@plaza/source", "--input-type=module", "--eval", script], {
    cwd: Path.join(import.meta.dirname, ".."),
    encoding: "utf8"
  })
  expect(JSON.parse(stdout)).toEqual([[{ id: "tea", known: 1 }], [{ known: 1 }]])
})
