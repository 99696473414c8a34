/**
 * The SQLite of Node: loads it, and names its result codes.
 *
 * @since 0.1.0
 */
import type * as NodeSqlite from "node:sqlite"

/** Node 22 prints a warning when it loads the module, which would be the first output of every program that uses it. */
const load = (): typeof NodeSqlite => {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule("node:sqlite")
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Opens databases. */
export const { DatabaseSync } = load()

// Source: https://sqlite.org/rescode.html, the primary result codes from 0 on.
const names =
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB"
    .split(" ")

/** The name of the result code of an error of SQLite, such as `SQLITE_FULL`; undefined for another error. */
export const resultCode = (error: object): string | undefined => {
  if (!("errcode" in error) || typeof error.errcode !== "number") return undefined
  // The lower eight bits of an extended result code are the primary one.
  const code = error.errcode & 0xff
  return `SQLITE_${names[code] ?? code}`
}
