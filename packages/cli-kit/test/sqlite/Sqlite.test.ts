/** SQLite in a bundled program: libsql and the SQLite of Node behave in the same way. */
import { nodeWithSqlite } from "@plaza/testing/NodeWithSqlite"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { stderr } from "node:process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, describe, expect, it } from "vitest"
import { nameOf } from "../../src/sqlite/ResultCodes.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../../../..", import.meta.url))
const behaviour = fileURLToPath(new URL("behaviour.ts", import.meta.url))

const folder = mkdtempSync(Path.join(tmpdir(), "plaza-sqlite-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const expected = {
  "values of parameters and columns": [{
    i: 5,
    it: "real",
    b: 5,
    bt: "integer",
    t: "añ😀",
    n: null,
    e: "",
    j: 7,
    r: 1.5,
    x: { bytes: [1, 2] }
  }],
  "parameters one by one": [{ a: "x", b: 2 }],
  "a blob": [{ x: { bytes: [97, 98] }, t: "blob" }],
  "numbers that are no integers": [{ inf: "Infinity", nan: null, zero: "-0" }],
  "a number in a column without a type": [{ id: "integer", value: "real" }],
  "an integer beyond 2 to the 53rd": {
    all: [{ id: 2 ** 53, value: -(2 ** 63) }],
    get: { id: 2 ** 53, value: -(2 ** 63) },
    first: { done: false, value: { id: 2 ** 53, value: -(2 ** 63) } },
    safe: [{ id: "9007199254740993n", value: "-9223372036854775808n" }],
    safeFirst: { done: false, value: { id: "9007199254740993n", value: "-9223372036854775808n" } },
    unsafe: [{ id: 2 ** 53, value: -(2 ** 63) }]
  },
  "a write that returns such an integer": { returned: [{ id: 2 ** 53, name: "a" }], written: [{ n: 1 }] },
  "an integer that SQLite does not have": true,
  "rows as arrays, and as objects again": [[[1, 2, 3]], [{ a: 2, b: 3 }]],
  "one row and none": { one: { name: "a" }, again: { name: "b" } },
  "rows one after the other": [{ done: false, value: { name: "a" } }, { done: false, value: { name: "b" } }, { done: true }],
  "rows in a loop": ["a", "b"],
  "which statements return rows": [true, true, false, true, true, false, false],
  "the result of a write": { changes: 2, lastInsertRowid: 42 },
  "rows of a statement that writes": [[], null, [{ name: "b" }]],
  "pragmas": [[{ user_version: 7 }], [{ foreign_keys: 1 }], [{ recursive_triggers: 0 }]],
  "the first of several statements": [{ a: 1 }],
  "a statement after a change of its table": [{ id: 1, name: "a" }],
  "functions": [{ v: "a" }, { v: "b" }],
  "failures": [
    { name: "SqliteError", message: "near \"SELEC\": syntax error", code: "SQLITE_ERROR", rawCode: 1 },
    { name: "SqliteError", message: "no such table: missing", code: "SQLITE_ERROR", rawCode: 1 },
    { name: "SqliteError", message: "near \";\": syntax error", code: "SQLITE_ERROR", rawCode: 1 },
    { name: "SqliteError", message: "UNIQUE constraint failed: items.name", code: "SQLITE_CONSTRAINT_UNIQUE", rawCode: 2067 },
    { name: "SqliteError", message: "UNIQUE constraint failed: items.id", code: "SQLITE_CONSTRAINT_PRIMARYKEY", rawCode: 1555 },
    { name: "SqliteError", message: "NOT NULL constraint failed: items.name", code: "SQLITE_CONSTRAINT_NOTNULL", rawCode: 1299 },
    { name: "SqliteError", message: "FOREIGN KEY constraint failed", code: "SQLITE_CONSTRAINT_FOREIGNKEY", rawCode: 787 },
    { name: "SqliteError", message: "CHECK constraint failed: n > 0", code: "SQLITE_CONSTRAINT_CHECK", rawCode: 275 },
    { name: "SqliteError", message: "string or blob too big", code: "SQLITE_TOOBIG", rawCode: 18 },
    { name: "SqliteError", message: "datatype mismatch", code: "SQLITE_MISMATCH", rawCode: 20 }
  ],
  "a double-quoted text": "SQLITE_ERROR",
  "transactions": { states: [false, true, true, true, false, true, false, false, true, true, true, true, true, false], rows: [{ n: 1 }] },
  "a statement after its failure": [{
    name: "SqliteError",
    message: "UNIQUE constraint failed: items.name",
    code: "SQLITE_CONSTRAINT_UNIQUE",
    rawCode: 2067
  }, 1],
  "a lock of another connection": {
    statement: { name: "SqliteError", message: "database is locked", code: "SQLITE_BUSY", rawCode: 5 },
    text: { name: "SqliteError", message: "database is locked", code: "SQLITE_BUSY", rawCode: 5 },
    rows: [{ id: 2 }]
  },
  "a file that is read-only by its address": [[{ n: 0 }], {
    name: "SqliteError",
    message: "attempt to write a readonly database",
    code: "SQLITE_READONLY",
    rawCode: 8
  }],
  "a file that is immutable by its address": [{ id: 0, version: 0 }],
  "a file that is no database": { name: "SqliteError", message: "file is not a database", code: "SQLITE_NOTADB", rawCode: 26 },
  "a folder that does not exist": true,
  "a second close": null,
  "a file of the other driver": [{ at: 2 ** 40, type: "integer", text: "añ" }]
}

const drivers = [
  { driver: "libsql", node: process.execPath },
  ...nodeWithSqlite === undefined ? [] : [{ driver: "node:sqlite", node: nodeWithSqlite }]
]
if (nodeWithSqlite === undefined) stderr.write("not tested: node:sqlite, which requires Node 22.16\n")

describe.each(drivers)("$driver", ({ driver, node }) => {
  it("has the values, rows, errors and transactions that the programs expect, and reads files of the other driver", async () => {
    const { stdout } = await run(node, ["--no-warnings", behaviour, driver, folder], { cwd: root })
    expect(JSON.parse(stdout)).toEqual({ ...expected, "rows of both drivers": drivers.findIndex((each) => each.driver === driver) + 1 })
  })
})

it("result codes have the names of libsql", () => {
  expect([0x01, 0x05, 0x105, 0x204, 0x206, 0x408, 0x90a, 0xd0a, 0x20e, 0x813, 0xc13, 0x1a, 0x1c, 0x705].map(nameOf)).toEqual([
    "SQLITE_ERROR",
    "SQLITE_BUSY",
    "SQLITE_BUSY_RECOVERY",
    "SQLITE_ABORT_ROLLBACK",
    "SQLITE_LOCKED_VTAB",
    "SQLITE_READONLY_DBMOVED",
    "SQLITE_IOERR_RDLOCK",
    "SQLITE_IOERR_ACCESS",
    "SQLITE_CANTOPEN_ISDIR",
    "SQLITE_CONSTRAINT_UNIQUE",
    "SQLITE_CONSTRAINT_DATATYPE",
    "SQLITE_NOTADB",
    "SQLITE_28",
    "SQLITE_BUSY"
  ])
})
