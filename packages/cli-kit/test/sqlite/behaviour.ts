/**
 * What the programs expect of a driver of SQLite, as one JSON object of results: `node behaviour.ts DRIVER FOLDER`. A program
 * of its own, because one of the drivers requires another Node than that of the tests.
 */
import { createRequire } from "node:module"
import * as Path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type Constructor, type Database, make, type NodeModule } from "../../src/sqlite/NodeSqlite.ts"

const [, , driver, folder = ""] = process.argv
const require = createRequire(import.meta.url)
// The casts are true: the test that compares the results of both shows it.
const Sqlite = driver === "libsql" ? require("libsql") as Constructor : make(require("node:sqlite") as NodeModule)

const memory = () => {
  const database = new Sqlite(":memory:")
  database.exec("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, value)")
  return database
}

const file = (name: string) => Path.join(folder, `${driver}-${name}.db`)
const fileWithTable = (name: string): Database => {
  const database = new Sqlite(file(name))
  database.exec("CREATE TABLE items (id INTEGER)")
  return database
}

const failure = (act: () => unknown) => {
  try {
    return act()
  } catch (error) {
    return error instanceof Error
      ? {
        name: error.name,
        message: error.message,
        ...("code" in error ? { code: error.code } : {}),
        ..."rawCode" in error ? { rawCode: error.rawCode } : {}
      }
      : error
  }
}

const next = (rows: Iterator<unknown, unknown>) => {
  const { done = false, value } = rows.next()
  return { done, value }
}

const results = {
  "values of parameters and columns": () =>
    memory().prepare("SELECT ? AS i, typeof(?) AS it, ? AS b, typeof(?) AS bt, ? AS t, ? AS n, ? AS e, 7 AS j, 1.5 AS r, x'0102' AS x")
      .all([5, 5, 5n, 5n, "añ😀", null, ""]),
  "parameters one by one": () => memory().prepare("SELECT ? AS a, ? AS b").all("x", 2),
  "a blob": () => memory().prepare("SELECT ? AS x, typeof(?) AS t").all([Buffer.from("ab"), new Uint8Array([1])]),
  "numbers that are no integers": () => memory().prepare("SELECT ? AS inf, ? AS nan, ? AS zero").all([Infinity, NaN, -0]),
  "a number in a column without a type": () => {
    const database = memory()
    database.prepare("INSERT INTO items VALUES (?, ?, ?)").run([1, "a", 5])
    return database.prepare("SELECT typeof(id) AS id, typeof(value) AS value FROM items").all()
  },
  "an integer beyond 2 to the 53rd": () => {
    const database = memory()
    database.prepare("INSERT INTO items VALUES (?, ?, ?)").run([9007199254740993n, "a", -9223372036854775808n])
    const select = database.prepare("SELECT id, value FROM items")
    return {
      all: select.all(),
      get: select.get(),
      first: next(select.iterate()),
      safe: select.safeIntegers().all(),
      safeFirst: next(select.iterate()),
      unsafe: select.safeIntegers(false).all()
    }
  },
  "a write that returns such an integer": () => {
    const database = memory()
    const returned = database.prepare("INSERT INTO items VALUES (?, ?, ?) RETURNING id, name").all([9007199254740993n, "a", null])
    return { returned, written: database.prepare("SELECT count(*) AS n FROM items").all() }
  },
  "an integer that SQLite does not have": () => failure(() => memory().prepare("SELECT ? AS a").all([2n ** 64n])) instanceof Object,
  "rows as arrays, and as objects again": () => {
    const select = memory().prepare("SELECT 1 AS a, 2 AS a, 3 AS b")
    return [select.raw().all(), select.raw(false).all()]
  },
  "one row and none": () => {
    const database = memory()
    database.exec("INSERT INTO items VALUES (1, 'a', NULL), (2, 'b', NULL)")
    const select = database.prepare("SELECT name FROM items WHERE id >= ? ORDER BY id")
    return { one: select.get(1), again: select.get([2]), none: select.get(3) }
  },
  "rows one after the other": () => {
    const database = memory()
    database.exec("INSERT INTO items VALUES (1, 'a', NULL), (2, 'b', NULL)")
    const rows = database.prepare("SELECT name FROM items WHERE id > ? ORDER BY id").iterate([0])
    return [next(rows), next(rows), next(rows)]
  },
  "rows in a loop": () => {
    const names = []
    for (const row of memory().prepare("SELECT 'a' AS name UNION ALL SELECT 'b'").iterate()) names.push(row["name"])
    return names
  },
  "which statements return rows": () => {
    const database = memory()
    return [
      "SELECT 1",
      "WITH a AS (SELECT 1) SELECT * FROM a",
      "INSERT INTO items VALUES (1, 'a', NULL)",
      "INSERT INTO items VALUES (1, 'a', NULL) RETURNING id",
      "PRAGMA user_version",
      "PRAGMA user_version = 1",
      "BEGIN"
    ].map((text) => database.prepare(text).reader)
  },
  "the result of a write": () => {
    const database = memory()
    const { changes, lastInsertRowid } = database.prepare("INSERT INTO items VALUES (41, 'a', NULL), (42, 'b', NULL)").run()
    return { changes, lastInsertRowid }
  },
  "rows of a statement that writes": () => {
    const database = memory()
    const insert = database.prepare("INSERT INTO items VALUES (1, 'a', NULL)")
    return [insert.all(), database.prepare("UPDATE items SET name = 'b'").get(), database.prepare("SELECT name FROM items").all()]
  },
  "pragmas": () => {
    const database = memory()
    database.exec("PRAGMA user_version = 7")
    return [database.pragma("user_version"), database.pragma("foreign_keys"), database.pragma("recursive_triggers")]
  },
  "the first of several statements": () => memory().prepare("SELECT 1 AS a; SELECT 2 AS a").all(),
  "a statement after a change of its table": () => {
    const database = memory()
    const select = database.prepare("SELECT id, name FROM items")
    database.exec("ALTER TABLE items ADD COLUMN later; INSERT INTO items VALUES (1, 'a', NULL, NULL)")
    return select.all()
  },
  "functions": () => memory().prepare("SELECT value AS v FROM json_each(?) ORDER BY value").all([`["b", "a"]`]),
  "failures": () => {
    const database = memory()
    database.exec("INSERT INTO items VALUES (1, 'a', NULL); CREATE TABLE parts (item INTEGER REFERENCES items, n INTEGER CHECK (n > 0))")
    const run = (text: string) => failure(() => database.prepare(text).all())
    return [
      "SELEC 1",
      "SELECT * FROM missing",
      "SELECT * FROM (SELECT 1;)",
      "INSERT INTO items VALUES (2, 'a', NULL)",
      "INSERT INTO items VALUES (1, 'b', NULL)",
      "INSERT INTO items VALUES (2, NULL, NULL)",
      "INSERT INTO parts VALUES (9, 1)",
      "INSERT INTO parts VALUES (1, 0)",
      "SELECT zeroblob(2000000000)",
      "INSERT INTO items VALUES ('x', 'b', NULL)"
    ].map(run)
  },
  "a double-quoted text": () => {
    const found = failure(() => memory().prepare(`SELECT "text" AS a`).all())
    return found instanceof Object && "code" in found ? found.code : found
  },
  "transactions": () => {
    const database = memory()
    const states = [database.inTransaction]
    const run = (text: string) => {
      failure(() => database.prepare(text).run())
      states.push(database.inTransaction)
    }
    for (const text of ["BEGIN", "INSERT INTO items VALUES (1, 'a', NULL)", "INSERT INTO items VALUES (2, 'a', NULL)", "COMMIT"]) run(text)
    for (const text of ["BEGIN", "INSERT OR ROLLBACK INTO items VALUES (1, 'a', NULL)", "ROLLBACK"]) run(text)
    for (const text of ["BEGIN", "SAVEPOINT s", "DELETE FROM items", "ROLLBACK TO s", "RELEASE s", "COMMIT"]) run(text)
    return { states, rows: database.prepare("SELECT count(*) AS n FROM items").all() }
  },
  "a statement after its failure": () => {
    const database = memory()
    const insert = database.prepare("INSERT INTO items VALUES (?, ?, NULL)")
    insert.run([1, "a"])
    return [failure(() => insert.run([2, "a"])), insert.run([2, "b"]).changes]
  },
  "a lock of another connection": () => {
    const [one, other] = [fileWithTable("lock"), new Sqlite(file("lock"))]
    one.exec("BEGIN EXCLUSIVE")
    const statement = failure(() => other.prepare("BEGIN EXCLUSIVE").run())
    const text = failure(() => other.exec("INSERT INTO items VALUES (1)"))
    one.exec("COMMIT")
    // Not on the connection that failed, which with libsql does not commit any more.
    new Sqlite(file("lock")).exec("INSERT INTO items VALUES (2)")
    return { statement, text, rows: one.prepare("SELECT id FROM items").all() }
  },
  "a file that is read-only by its address": () => {
    fileWithTable("readOnly").close()
    const database = new Sqlite(`${pathToFileURL(file("readOnly")).href}?mode=ro`)
    return [database.prepare("SELECT count(*) AS n FROM items").all(), failure(() => database.exec("INSERT INTO items VALUES (1)"))]
  },
  "a file that is immutable by its address": () => {
    fileWithTable("immutable").close()
    return new Sqlite(`${pathToFileURL(file("immutable")).href}?immutable=1`, { readonly: true })
      .prepare("SELECT application_id AS id, user_version AS version FROM pragma_application_id, pragma_user_version").all()
  },
  "a file that is no database": () =>
    failure(() => new Sqlite(fileURLToPath(import.meta.url)).prepare("SELECT * FROM sqlite_master").all()),
  "a folder that does not exist": () => failure(() => new Sqlite(Path.join(folder, "missing", "a.db"))) instanceof Object,
  "a second close": () => {
    const database = memory()
    database.close()
    return failure(() => database.close())
  },
  // Both drivers add a row to the same file. It stays in its log.
  "a file of the other driver": () => {
    const database = new Sqlite(Path.join(folder, "shared.db"))
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS runs (at INTEGER, text TEXT)")
    database.prepare("INSERT INTO runs VALUES (?, ?)").run([2 ** 40, "añ"])
    return database.prepare("SELECT DISTINCT at, typeof(at) AS type, text FROM runs").all()
  },
  "rows of both drivers": () => new Sqlite(Path.join(folder, "shared.db")).prepare("SELECT count(*) AS n FROM runs").get()?.["n"]
}

const encode = (key: string, value: unknown): unknown => {
  // libsql adds it to a row.
  if (key === "_metadata") return undefined
  if (typeof value === "bigint") return `${value}n`
  if (typeof value === "number" && !Number.isFinite(value)) return String(value)
  if (Object.is(value, -0)) return "-0"
  return value instanceof ArrayBuffer ? { bytes: [...new Uint8Array(value)] } : value
}

process.stdout.write(
  JSON.stringify(Object.fromEntries(Object.entries(results).map(([name, result]) => [name, failure(result) ?? null])), encode)
)
