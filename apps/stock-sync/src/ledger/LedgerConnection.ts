/**
 * Runs the ledger's statements one after another, so that none of them joins another's transaction, and maps database
 * failures to ledger errors.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { LedgerFault } from "./Ledger.js"

/** @since 0.1.0 @category models */
export interface LedgerConnection {
  readonly sql: SqlClient.SqlClient
  /** Where the ledger is, for messages. */
  readonly path: string
  /** Runs statements with nothing between them. After one that failed none is run any more. */
  readonly run: <A, R>(statements: Effect.Effect<A, SqlError, R>) => Effect.Effect<A, LedgerFault, R>
}

/** @since 0.1.0 @category constructors */
export const make = (sql: SqlClient.SqlClient, path: string, faultOf: (error: SqlError) => LedgerFault): LedgerConnection => {
  const alone = Effect.unsafeMakeSemaphore(1)
  let broken: LedgerFault | undefined
  const fault = (error: SqlError) => {
    broken = faultOf(error)
    return broken
  }
  return {
    sql,
    path,
    run: (statements) =>
      // A file that is locked holds up the whole process until it is given up; everybody who waits behind it would do so again.
      Effect.suspend(() => broken === undefined ? Effect.void : broken).pipe(
        Effect.zipRight(Effect.mapError(
          // A commit that fails, as on a full disk, dies; it is no less a failure for that.
          Effect.catchSomeDefect(statements, (defect) => defect instanceof SqlError ? Option.some(Effect.fail(defect)) : Option.none()),
          fault
        )),
        alone.withPermits(1)
      )
  }
}

// No database keeps these characters as they are. A broken file or a foreign response may have them.
const unkeepable = /\0|\p{Surrogate}/gu

/** Whether a text can be kept and found again. */
export const isKeepable = (text: string): boolean => text.search(unkeepable) < 0

/** A text for people to read, with a replacement for each character that can't be kept. */
export const keepable = (text: string): string => text.replace(unkeepable, "\uFFFD")

/**
 * A list of ids as the rows of a subquery, without those that the ledger can't have. One parameter, whatever its length, so that the statement stays the same.
 *
 * @since 0.1.0
 * @category statements
 */
export const texts = (sql: SqlClient.SqlClient, list: Iterable<string>): Fragment => {
  const json = JSON.stringify([...list].filter(isKeepable))
  return sql.onDialectOrElse({
    pg: () => sql`SELECT value FROM json_array_elements_text(${json}::json) AS one (value)`,
    orElse: () => sql`SELECT value FROM json_each(${json})`
  })
}
