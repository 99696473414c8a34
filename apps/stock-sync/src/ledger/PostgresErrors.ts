/**
 * Messages for operators from the failures of Postgres.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import { LedgerFault } from "./Ledger.js"

// By the code that the server gives, or that the system gives where no server was reached.
const advice: ReadonlyArray<readonly [code: RegExp, what: string]> = [
  [/^28/, "refuses the user or the password: correct them in --ledger or STOCK_SYNC_LEDGER"],
  [/^3D000$/, "is not there: make the database, or name another one with --ledger or STOCK_SYNC_LEDGER"],
  [/^42501$/, "doesn't let this user do what is needed: let it create a schema, and tables and temporary tables in it"],
  [/^25006$/, "may only be read here"],
  [/^53100$/, "can't be written because the server's disk is full: make room"],
  [/^53300$/, "has no connection left: let it have more, or end some"],
  [/^(55P03|40P01|40001)$/, "is being changed by another program"],
  [/^(57P0|08|EPIPE|ECONNRESET)/, "was cut off by the server"],
  [/^XX00[12]$/, "is damaged: restore the database from a backup"],
  [/^(ECONN|EHOST|ENET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)/, "can't be reached: look at the address and the server"]
]

const codeOf = (cause: unknown): string | undefined =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : undefined

// What was said where a connection was lost and no code came with it.
const lost = /not queryable|terminated|timed? ?out/i

/**
 * Tells in one sentence what is wrong with the ledger at an address. The address has no password in it.
 *
 * @since 0.1.0
 * @category reading
 */
export const faultOf = (path: string) => (error: SqlError): LedgerFault => {
  const code = codeOf(error.cause)
  const told = error.cause instanceof Error ? error.cause.message : error.message ?? "unknown reason"
  const known = code === undefined ? undefined : advice.find(([pattern]) => pattern.test(code))?.[1]
  const what = known ?? (lost.test(told) ? "was cut off" : `can't be used (${told})`)
  return new LedgerFault({ path, message: `the ledger ${path} ${what}` })
}
