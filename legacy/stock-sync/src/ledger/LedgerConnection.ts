/**
 * Runs the ledger's statements one after another, so that no statement joins the transaction of another fiber, and maps database
 * failures to `LedgerFault`.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Permits from "../sync/Permits.ts"
import type { LedgerFault } from "./LedgerError.ts"

export interface LedgerConnection {
  readonly sql: SqlClient.SqlClient
  /** The file or address, for messages. */
  readonly path: string
  /** Runs statements without others between them. After a failure every later call fails with the same fault. */
  readonly run: <A, R>(statements: Effect.Effect<A, SqlError | ParseError, R>) => Effect.Effect<A, LedgerFault, R>
  /** Whether the tables hold other ledgers too. Their keys begin with the account, and their statistics are not this ledger's to update. */
  readonly isShared: boolean
}

export const make = (
  sql: SqlClient.SqlClient,
  path: string,
  faultOf: (error: SqlError | ParseError) => LedgerFault,
  isShared = false
): LedgerConnection => {
  const mutex = Permits.unsafeMake(1)
  let fault: LedgerFault | undefined
  return {
    sql,
    path,
    isShared,
    run: (statements) =>
      // A locked file blocks each statement until its timeout. Failing at once keeps the waiting fibers from repeating that.
      Effect.suspend(() => fault === undefined ? Effect.void : fault).pipe(
        Effect.zipRight(
          // A commit that fails, as on a full disk, is a defect of the client.
          Effect.catchSomeDefect(statements, (defect) => defect instanceof SqlError ? Option.some(Effect.fail(defect)) : Option.none())
            .pipe(
              Effect.mapError((error) => fault = faultOf(error))
            )
        ),
        mutex.withPermit
      )
  }
}

/** The columns of the unique key that a ledger of its own has on this column, for a conflict target. */
export const keyColumns = (isShared: boolean, column: string): string => isShared ? `account, ${column}` : column

// No database stores these characters unchanged. A broken file or an unexpected response may contain them.
const unstorable = /\0|\p{Surrogate}/gu

/** Whether a text can be stored and found again. */
export const isStorable = (text: string): boolean => text.search(unstorable) < 0

/** A text for people to read, with a replacement for each character that can't be stored. */
export const toStorable = (text: string): string => text.replace(unstorable, "\uFFFD")

/** Ids as the rows of a subquery, without those that no ledger can hold. One parameter for any number of ids keeps the statement the same. */
export const idRows = (sql: SqlClient.SqlClient, ids: Iterable<string>): Fragment => {
  const json = JSON.stringify([...ids].filter(isStorable))
  return sql.onDialectOrElse({
    pg: () => sql`SELECT value FROM json_array_elements_text(${json}::json) AS id_row (value)`,
    orElse: () => sql`SELECT value FROM json_each(${json})`
  })
}
