/**
 * SQLite in a bundled program, which `scripts/bundle.mjs` puts in the place of better-sqlite3: that of Node, or the package libsql on a
 * Node without it. Both are loaded with the first database that is opened.
 */
import { writeSync } from "node:fs"
import { createRequire } from "node:module"
import * as Path from "node:path"
import * as NodeSqlite from "./NodeSqlite.js"

/** Whether `node:sqlite` has all that `NodeSqlite` uses: from Node 22.16 and 24 on. */
const isSupported = (): boolean => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  return major >= 24 || (major === 22 && minor >= 16)
}

/** The SQLite of Node, without the warning that it is experimental; undefined if this Node was built without it. */
const builtin = (): NodeSqlite.Constructor | undefined => {
  if (!isSupported()) return undefined
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => {}
  try {
    // The cast is true for these versions of Node; the types are those of Node 20, which lacks the module.
    const module = process.getBuiltinModule("node:sqlite") as NodeSqlite.NodeModule | undefined
    return module === undefined ? undefined : NodeSqlite.make(module)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Ends the program: each command that opens a database requires one. */
const endWithout = (cause: unknown): never => {
  const [reason = ""] = String(cause instanceof Error ? cause.message : cause).split("\n")
  const name = Path.parse(process.argv[1] ?? "").name
  const message = `SQLite is not available on Node ${process.versions.node} (${reason}): use Node 22.16 or later, which contains it, ` +
    `or install the program again with its optional dependency libsql`
  const text = process.argv.includes("--json")
    ? JSON.stringify({ error: { tag: "SqliteMissing", code: null, status: null, message, details: {} } })
    : `${name}: ${message}`
  writeSync(process.stderr.fd, `${text}\n`)
  process.exit(1)
}

const libsql = (): NodeSqlite.Constructor => {
  try {
    // True for what the programs use: `test/sqlite` runs the same suite on both.
    return createRequire(import.meta.url)("libsql") as NodeSqlite.Constructor
  } catch (cause) {
    return endWithout(cause)
  }
}

let driver: NodeSqlite.Constructor | undefined

/** Opens a database, as `new Database` of better-sqlite3. */
export default function Database(path: string, options?: NodeSqlite.Options): NodeSqlite.Database {
  driver ??= builtin() ?? libsql()
  return new driver(path, options)
}
