/** Messages for operators from the failures of Postgres. */
import type { SqlError } from "@effect/sql/SqlError"
import type { ParseError } from "effect/ParseResult"
import { invalidRow, LedgerFault } from "./LedgerError.ts"

/** How messages name a database. */
export interface Naming {
  /** Such as `the ledger postgres://host/database`. It has no password in it. */
  readonly subject: string
  /** Where its address is set. */
  readonly setting: string
  /** What to do for a user without the necessary rights. */
  readonly grant: string
}

const cutOff = "was cut off: look whether the server runs, and at the network to it"
const timedOut = "did not respond in time: look at the address, the server and its load"

// By SQLSTATE, or by the system's error code if no server was reached.
const messages = ({ grant, setting }: Naming): ReadonlyArray<readonly [code: RegExp, message: string]> => [
  [/^28/, `refuses the user or the password: correct them in ${setting}`],
  [/^3D000$/, `is not there: make the database, or name another one with ${setting}`],
  [/^42501$/, `doesn't let this user do what is needed: ${grant}`],
  [/^25006$/, `may only be read here: name a server that accepts writes with ${setting}`],
  [/^53100$/, "can't be written because the server's disk is full: make room"],
  [/^53300$/, "has no connection left: let it have more, or end some"],
  [/^(55P03|40P01|40001)$/, "is being changed by another program: try again"],
  [/^57014$/, timedOut],
  [/^(57P0|08|EPIPE|ECONNRESET)/, cutOff],
  [/^XX00[12]$/, "is damaged: restore the database from a backup"],
  [/^(ECONN|EHOST|ENET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)/, "can't be reached: look at the address and the server"]
]

// The driver's messages for a connection that is lost or too slow, which come without a code.
const uncoded: ReadonlyArray<readonly [reason: RegExp, message: string]> = [
  [/timed? ?out/i, timedOut],
  [/not queryable|terminated/i, cutOff]
]

/** The SQLSTATE or the system's error code. */
export const codeOf = (cause: unknown): string | undefined =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" ? cause.code : undefined

/** What is wrong with a database, and what to do, in one sentence. */
export const messageOf = (naming: Naming, { cause, message }: SqlError): string => {
  const code = codeOf(cause)
  const reason = cause instanceof Error ? cause.message : message ?? "unknown reason"
  const [, known = `can't be used (${reason})`] = (code === undefined
    ? undefined
    : messages(naming).find(([pattern]) => pattern.test(code))) ?? uncoded.find(([pattern]) => pattern.test(reason)) ?? []
  return `${naming.subject} ${known}`
}

const ofLedger = (path: string): Naming => ({
  subject: `the ledger ${path}`,
  setting: "--ledger or STOCK_SYNC_LEDGER",
  grant: "let it create a schema, and tables and temporary tables in it"
})

/** The fault of the ledger at this path. */
export const faultOf = (path: string, naming = ofLedger(path)) => (error: SqlError | ParseError): LedgerFault =>
  error._tag === "ParseError" ? invalidRow(path, error) : new LedgerFault({ path, message: messageOf(naming, error) })
