/** Parses the address of a Postgres ledger. Each ledger has its own schema, so one database can hold the ledgers of many accounts. */
import * as Effect from "effect/Effect"
import { LedgerFault } from "../LedgerError.ts"

export interface PostgresAddress {
  /** For the driver, with the password. */
  readonly url: string
  readonly schema: string
  /** For messages, without user and password. */
  readonly path: string
}

const defaultSchema = "plaza_stock_sync"
// A name that needs no quotes and has no prefix of the server's own.
const validSchema = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/

export const parse = (address: string): Effect.Effect<PostgresAddress, LedgerFault> =>
  Effect.gen(function*() {
    if (!URL.canParse(address)) {
      return yield* new LedgerFault({
        path: "postgres",
        message:
          "the address of the ledger can't be read: write postgres://user:password@host:port/database in --ledger or STOCK_SYNC_LEDGER"
      })
    }
    const url = new URL(address)
    const schema = url.searchParams.get("schema") ?? defaultSchema
    url.searchParams.delete("schema")
    const path = `${url.protocol}//${url.host}${url.pathname}${schema === defaultSchema ? "" : `?schema=${schema}`}`
    if (!validSchema.test(schema)) {
      return yield* new LedgerFault({
        path,
        message:
          `the ledger ${path} can't have this schema: it is a name of at most 63 small letters, digits and underscores that doesn't ` +
          "begin with a digit or with pg_"
      })
    }
    return { url: url.href, schema, path }
  })
