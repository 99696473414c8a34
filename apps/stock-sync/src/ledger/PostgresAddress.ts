/**
 * Parses the address of a Postgres ledger. Each ledger has its own schema, so one database can keep many accounts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { LedgerFault } from "./Ledger.js"

/** @since 0.1.0 @category models */
export interface Place {
  /** For the driver, with the password. */
  readonly url: string
  readonly schema: string
  /** For messages: neither user nor password. */
  readonly path: string
}

const usual = "plaza_stock_sync"
// What needs no quotes, and is no prefix of the server's own.
const plain = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/

/** @since 0.1.0 @category parsing */
export const of = (address: string): Effect.Effect<Place, LedgerFault> =>
  Effect.gen(function*() {
    if (!URL.canParse(address)) {
      return yield* new LedgerFault({
        path: "postgres",
        message:
          "the address of the ledger can't be read: write postgres://user:password@host:port/database in --ledger or STOCK_SYNC_LEDGER"
      })
    }
    const url = new URL(address)
    const schema = url.searchParams.get("schema") ?? usual
    url.searchParams.delete("schema")
    const path = `${url.protocol}//${url.host}${url.pathname}${schema === usual ? "" : `?schema=${schema}`}`
    if (!plain.test(schema)) {
      return yield* new LedgerFault({
        path,
        message:
          `the ledger ${path} can't have this schema: it is a name of at most 63 small letters, digits and underscores that doesn't ` +
          "begin with a digit or with pg_"
      })
    }
    return { url: url.href, schema, path }
  })
