/** Messages for operators from the failures of Postgres. */
import type { SqlError } from "@effect/sql/SqlError"
import type { ParseError } from "effect/ParseResult"
import { invalidRow, LedgerFault } from "./LedgerError.js"

// By SQLSTATE, or by the system's error code if no server was reached.
const messages = (setting: string): ReadonlyArray<readonly [code: RegExp, message: string]> => [
  [/^28/, `refuses the user or the password: correct them in ${setting}`],
  [/^3D000$/, `is not there: make the database, or name another one with ${setting}`],
  [/^42501$/, "doesn't let this user do what is needed: let it create a schema, and tables and temporary tables in it"],
  [/^25006$/, "may only be read here"],
  [/^53100$/, "can't be written because the server's disk is full: make room"],
  [/^53300$/, "has no connection left: let it have more, or end some"],
  [/^(55P03|40P01|40001)$/, "is being changed by another program"],
  [/^(57P0|08|EPIPE|ECONNRESET)/, "was cut off by the server"],
  [/^XX00[12]$/, "is damaged: restore the database from a backup"],
  [/^(ECONN|EHOST|ENET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)/, "can't be reached: look at the address and the server"]
]

/** The SQLSTATE or the system's error code. */
export const codeOf = (cause: unknown): string | undefined =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : undefined

// The driver's messages for a lost connection, which come without a code.
const connectionLost = /not queryable|terminated|timed? ?out/i

/** The fault of the ledger at this path, which a setting names, in one sentence. The path has no password in it. */
export const faultOf = (path: string, setting = "--ledger or STOCK_SYNC_LEDGER") => (error: SqlError | ParseError): LedgerFault => {
  if (error._tag === "ParseError") return invalidRow(path, error)
  const code = codeOf(error.cause)
  const reason = error.cause instanceof Error ? error.cause.message : error.message ?? "unknown reason"
  const known = code === undefined ? undefined : messages(setting).find(([pattern]) => pattern.test(code))?.[1]
  const message = known ?? (connectionLost.test(reason) ? "was cut off" : `can't be used (${reason})`)
  return new LedgerFault({ path, message: `the ledger ${path} ${message}` })
}
