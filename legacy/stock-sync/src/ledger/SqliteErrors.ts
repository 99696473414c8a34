/** Messages for operators from the result codes of SQLite. */
import type { SqlError } from "@effect/sql/SqlError"
import type { ParseError } from "effect/ParseResult"
import { invalidRow, LedgerFault } from "./LedgerError.ts"

/** SQLITE_BUSY. */
export const busyCode = 5

// By primary result code.
const messages: Readonly<Record<number, string>> = {
  [busyCode]: "is being written by another program, and has been for too long",
  6: "is being written by another program, and has been for too long",
  8: "can't be written: let this user write the file and its folder",
  10: "can't be read or written because of a fault of the disk: look at the disk",
  11: "is damaged: restore it from a copy, or move it away to begin a new one, which sends every product once",
  13: "can't be written because the disk is full, its own or the one for temporary files: make room",
  14: "can't be opened: let this user read and write the file and its folder",
  26: "is not a ledger of plaza-stock-sync: name another file with --ledger or STOCK_SYNC_LEDGER"
}

/** The primary result code; undefined if the failure has none. */
export const codeOf = ({ cause }: SqlError): number | undefined =>
  // The lower eight bits of an extended result code are the primary one.
  typeof cause === "object" && cause !== null && "errcode" in cause && typeof cause.errcode === "number"
    ? cause.errcode & 0xff
    : undefined

/** The fault of the ledger at this path, in one sentence. */
export const faultOf = (path: string) => (error: SqlError | ParseError): LedgerFault => {
  if (error._tag === "ParseError") return invalidRow(path, error)
  const code = codeOf(error)
  const known = code === undefined ? undefined : messages[code]
  const reason = error.cause instanceof Error ? error.cause.message : error.message ?? "unknown reason"
  return new LedgerFault({ path, message: `the ledger ${path} ${known ?? `can't be used (${reason})`}` })
}
