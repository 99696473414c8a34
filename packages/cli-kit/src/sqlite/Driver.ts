/**
 * SQLite in a bundled program, which `scripts/bundle.mjs` puts in the place of better-sqlite3: that of Node, or the package libsql on a
 * Node without it. Both are loaded with the first database that is opened.
 */
import { writeSync } from "node:fs"
import Module, { createRequire } from "node:module"
import * as Path from "node:path"
import * as NodeSqlite from "./NodeSqlite.ts"

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
    `or install libsql: again with the program, whose optional dependency it is, or by npm install --prefix FOLDER libsql, FOLDER being that of ` +
    `the program`
  const text = process.argv.includes("--json")
    ? JSON.stringify({ error: { tag: "SqliteMissing", code: null, status: null, message, details: {} } })
    : `${name}: ${message}`
  writeSync(process.stderr.fd, `${text}\n`)
  // As for a setting that has to be changed. 1 can mean that a few rows were rejected.
  process.exit(2)
}

/**
 * Tells libsql on Linux which of its native packages to load, as its dependencies would, but in a quarter of the time: they write a report
 * about the whole process and load modules of Node. Package managers install the native package of one C library. With both or none of
 * them, libsql finds out by itself.
 */
const tellTarget = (require: NodeJS.Require): void => {
  const resolve = (name: string): string | undefined => {
    try {
      return require.resolve(name)
    } catch {
      return undefined
    }
  }
  const target = (library: "gnu" | "musl") => `linux-${process.arch}-${library}`
  const hasGnu = resolve(`@libsql/${target("gnu")}`) !== undefined
  if (hasGnu === (resolve(`@libsql/${target("musl")}`) !== undefined)) return
  const answers = {
    "@neon-rs/load": { currentTarget: () => target(hasGnu ? "gnu" : "musl") },
    "detect-libc": { familySync: () => hasGnu ? "glibc" : "musl", GLIBC: "glibc", MUSL: "musl" }
  }
  for (const [name, exports] of Object.entries(answers)) {
    const path = resolve(name)
    if (path !== undefined) require.cache[path] = Object.assign(new Module(path), { exports, loaded: true })
  }
}

const libsql = (): NodeSqlite.Constructor => {
  try {
    const path = createRequire(import.meta.url).resolve("libsql")
    const require = createRequire(path)
    if (process.platform === "linux") tellTarget(require)
    // True for what the programs use: `test/sqlite` runs the same suite on both.
    return require(path) as NodeSqlite.Constructor
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
