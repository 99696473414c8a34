/**
 * The answer to a query as a source: read row by row, and asked again from time to time. Knows nothing of the databases.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import { readFields } from "@plaza/rows/Fields"
import * as Refused from "@plaza/rows/Refused"
import type { Columns } from "@plaza/rows/Stock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type Source, type SourceFailure, SourceUnreachable } from "../../Source.js"
import * as Address from "../Address.js"
import * as Poll from "../Poll.js"
import * as Rows from "../Rows.js"

/** @since 0.1.0 @category models */
export interface QueryOptions extends Columns {
  readonly source: string
  readonly query?: string | undefined
  readonly poll: Duration.Duration
  /** For how long the database may be silent. */
  readonly patience: Duration.Duration
}

/**
 * What a database does: gives the answer to a query, which it begins anew for each stream.
 *
 * @since 0.1.0
 * @category models
 */
export type Ask = (query: string) => Stream.Stream<unknown, SqlError>

/**
 * A number of a decimal type as it is written without the zeros that the type adds. Text would be read otherwise: "1.000" there may be
 * a thousand.
 *
 * @since 0.1.0
 * @category parsing
 */
export const plain = (decimal: string): string => decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal

/**
 * A source of a database's answers.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: QueryOptions, ask: Ask): Effect.Effect<Source["Type"], Refused.SourceRefused> => {
  const name = Address.shown(options.source)
  const { query } = options
  const shape = Rows.shape(options)
  if (query === undefined) {
    return Effect.fail(
      new Refused.SourceRefused({ source: name, line: undefined, message: `${name}: a database needs a question: give it with --query or STOCK_SYNC_QUERY` })
    )
  }
  const rows = Stream.suspend(() => {
    let number = 0
    return ask(query).pipe(
      Stream.mapError((error) => failure(name, error)),
      Stream.timeoutFail(
        () => new SourceUnreachable({ source: name, message: `${name}: no answer for too long; nothing of it was taken` }),
        options.patience
      ),
      Stream.map((row) => readFields(shape, ++number, row)),
      Stream.concat(Stream.suspend(() =>
        number > 0 ? Stream.empty : Stream.fail(Refused.content(name, "the query gives no row, which is more likely a mistake in it than an empty shop"))
      ))
    )
  })
  return Effect.succeed({
    name,
    changes: Poll.every(options.poll),
    open: () => Effect.succeedSome({ version: Option.none(), rows })
  })
}

// Classes of SQLSTATE, and codes of SQLite, by which asking again is no use: who asks, which database, and the query itself.
const mistaken = /^(25|28|3D|42|SQLITE_(CANTOPEN|ERROR|NOTADB|READONLY)$)/

/** What the database says of it, in its own words, which hold no password. */
const failure = (name: string, { cause, message }: SqlError): SourceFailure => {
  const told = cause instanceof Error && cause.message !== "" ? cause.message : stateOf(cause) ?? message
  return mistaken.test(stateOf(cause) ?? "")
    ? Refused.content(name, `the database refuses: ${told}. Correct --query or --source (STOCK_SYNC_QUERY, STOCK_SYNC_SOURCE)`)
    : new SourceUnreachable({ source: name, message: `${name}: ${told}; nothing of it was taken` })
}

/** Where Postgres and MySQL put the standard's code, or the system its own. */
const stateOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "sqlState") && typeof cause.sqlState === "string"
    ? cause.sqlState
    : Predicate.hasProperty(cause, "code") && typeof cause.code === "string"
    ? cause.code
    : undefined
