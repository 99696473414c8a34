/** Messages for operators from the failures of a database. */
import type { SqlError } from "effect/sql/SqlError"
import { LedgerFault } from "../LedgerError.ts"
import type { Failure } from "../Operation.ts"

/** SQLITE_BUSY. */
export const busyCode = 5

// By primary result code.
const ofSqlite: Readonly<Record<number, string>> = {
  [busyCode]: "is being written by another program, and has been for too long",
  6: "is being written by another program, and has been for too long",
  8: "can't be written: let this user write the file and its folder",
  10: "can't be read or written because of a fault of the disk: look at the disk",
  11: "is damaged: restore it from a copy, or move it away to begin a new one, which sends every product once",
  13: "can't be written because the disk is full, its own or the one for temporary files: make room",
  14: "can't be opened: let this user read and write the file and its folder",
  26: "is not a ledger of plaza-stock-sync: name another file with --ledger or STOCK_SYNC_LEDGER"
}

/** How messages name a database of Postgres. */
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
const ofPostgres = ({ grant, setting }: Naming): ReadonlyArray<readonly [code: RegExp, message: string]> => [
  [/^28000$/, `admits no such user, or none from this machine or without TLS: correct ${setting}, or the server's pg_hba.conf`],
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
  [
    /^CERT_|SELF_SIGNED|ISSUER|^UNABLE_TO_VERIFY|^ERR_TLS_CERT/,
    `has a certificate that is not trusted for this host: correct the host in ${setting}, or set NODE_EXTRA_CA_CERTS to a file with the ` +
    "certificate of its issuer"
  ],
  [/^(ECONN|EHOST|ENET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)/, "can't be reached: look at the address and the server"]
]

/** A property of the failure that the database or the system reported. */
const property = ({ reason: { cause } }: SqlError, name: string): unknown =>
  typeof cause === "object" && cause !== null ? Object.entries(cause).find(([key]) => key === name)?.[1] : undefined

/** The primary result code of SQLite; undefined if the failure has none. */
export const sqliteCodeOf = (error: SqlError): number | undefined => {
  const code = property(error, "errcode")
  // The lower eight bits of an extended result code are the primary one.
  return typeof code === "number" ? code & 0xff : undefined
}

const reasonOf = ({ message, reason: { cause } }: SqlError): string => cause instanceof Error ? cause.message : message

/** What is wrong with a database of Postgres, and what to do, in one sentence. */
export const postgresMessage = (naming: Naming, error: SqlError): string => {
  const code = property(error, "code")
  const known = typeof code === "string" ? ofPostgres(naming).find(([pattern]) => pattern.test(code))?.[1] : undefined
  const message = known ?? (error.reason._tag === "ConnectionError"
    ? /time|silent/i.test(reasonOf(error)) ? timedOut : cutOff
    : `can't be used (${reasonOf(error)})`)
  return `${naming.subject} ${message}`
}

const ofOneStore = (path: string): string => `the ledger ${path} was taken over by another plaza-stock-sync: let only one of them run`

/** The fault of a ledger at this path. */
const faultOf = (path: string, ofSql: (error: SqlError) => string, takenOver = ofOneStore(path)) => (failure: Failure): LedgerFault => {
  switch (failure._tag) {
    case "SqlError":
      return new LedgerFault({ path, message: ofSql(failure) })
    case "TakenOver":
      return new LedgerFault({ path, message: takenOver, isTakenOver: true })
    case "SchemaError":
      return new LedgerFault({
        path,
        message: `the ledger ${path} contains a row that can't be read (${failure.issue._tag}): restore the ledger from a copy`
      })
  }
}

export const ofFile = (path: string) =>
  faultOf(path, (error) => {
    const code = sqliteCodeOf(error)
    return `the ledger ${path} ${(code === undefined ? undefined : ofSqlite[code]) ?? `can't be used (${reasonOf(error)})`}`
  })

export const ofServer = (path: string) =>
  faultOf(path, (error) =>
    postgresMessage({
      subject: `the ledger ${path}`,
      setting: "--ledger or STOCK_SYNC_LEDGER",
      grant: "let it create a schema, and tables and temporary tables in it"
    }, error))

/** The fault of the ledger of an account of a fleet. `naming` gives the names of its database in messages. */
export const ofAccount = (path: string, naming: Naming, takenOver: string) =>
  faultOf(path, (error) => postgresMessage(naming, error), takenOver)
