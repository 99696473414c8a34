/**
 * Messages for operators from the error codes of SQLite.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import { LedgerFault } from "./Ledger.js"

/** @since 0.1.0 @category constants */
export const sqliteBusy = 5

// SQLite's primary result codes.
const advice: Readonly<Record<number, string>> = {
  [sqliteBusy]: "is being written by another program, and has been for too long",
  6: "is being written by another program, and has been for too long",
  8: "can't be written: let this user write the file and its folder",
  10: "can't be read or written because of a fault of the disk: look at the disk",
  11: "is damaged: restore it from a copy, or move it away to begin a new one, which sends every product once",
  13: "can't be written because the disk is full, its own or the one for temporary files: make room",
  14: "can't be opened: let this user read and write the file and its folder",
  26: "is not a ledger of plaza-stock-sync: name another file with --ledger or STOCK_SYNC_LEDGER"
}

/**
 * The primary result code of a database error, undefined where the database gave none.
 *
 * @since 0.1.0
 * @category reading
 */
export const codeOf = (error: SqlError): number | undefined => {
  const { cause } = error
  // The upper bits only refine the lower eight.
  return typeof cause === "object" && cause !== null && "rawCode" in cause && typeof cause.rawCode === "number"
    ? cause.rawCode & 0xff
    : undefined
}

/**
 * Tells in one sentence what is wrong with the file at a path.
 *
 * @since 0.1.0
 * @category reading
 */
export const faultOf = (path: string) => (error: SqlError): LedgerFault => {
  const code = codeOf(error)
  const known = code === undefined ? undefined : advice[code]
  const told = error.cause instanceof Error ? error.cause.message : error.message ?? "unknown reason"
  return new LedgerFault({ path, message: `the ledger ${path} ${known ?? `can't be used (${told})`}` })
}
