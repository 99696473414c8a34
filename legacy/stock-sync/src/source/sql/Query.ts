/** The result of a query as a source, for all databases. The query must be one SELECT and can't change the database. */
import type { SqlError } from "@effect/sql/SqlError"
import { decodeFields } from "@plaza-legacy/tabular/Fields"
import { quoted } from "@plaza-legacy/tabular/Quoted"
import * as SourceError from "@plaza-legacy/tabular/SourceError"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { Wording } from "../../config/Wording.ts"
import * as PollInterval from "../PollInterval.ts"
import * as Rows from "../Rows.ts"
import { type Source, type SourceFailure, SourceUnreachable } from "../Source.ts"
import * as SourceUri from "../SourceUri.ts"

export interface QueryOptions extends Rows.SchemaOptions {
  readonly source: string
  readonly query?: string | undefined
  readonly poll: Duration.Duration
  /** How long the database may be silent. */
  readonly timeout: Duration.Duration
}

/** The query is not one statement, or not one that returns rows. */
export class NotOneSelect extends Data.TaggedError("NotOneSelect")<{ readonly message: string }> {}

export const moreThanOne = new NotOneSelect({ message: "the query holds more than one statement: leave one SELECT in it" })

export const noSelect = new NotOneSelect({ message: "the query is not a SELECT: only a statement that returns rows is accepted" })

/** The name of our sessions in a server's list, unless the address names another one. */
export const applicationName = "plaza-stock-sync"

/** How long the end of a read waits for the server to end the query. After that the connection is closed. */
export const endWithin = Duration.seconds(3)

/** An interval between two looks whether the server has ended a query. */
export const lookAgainAfter = Duration.millis(200)

/** The query of an earlier read did not end in spite of its cancellation. A second one would load the server once more. */
export const stillRuns = new Error("the query of an earlier read still runs at the server, although it was cancelled")

/** Looks again while an earlier query still runs. */
export const whileItRuns = {
  while: ({ cause }: SqlError) => cause === stillRuns,
  schedule: Schedule.intersect(Schedule.spaced(lookAgainAfter),
    Schedule.recurs(Math.ceil(Duration.toMillis(endWithin) / Duration.toMillis(lookAgainAfter))))
}

/** Two columns of the result have the name of one that is needed. */
export class DuplicateColumn extends Data.TaggedError("DuplicateColumn")<{ readonly message: string }> {}

/** Fails if the result has a needed column twice. The drivers return only the last of them. */
export const checkColumns = (
  { idColumn, stockColumn }: Pick<QueryOptions, "idColumn" | "stockColumn">,
  names: ReadonlyArray<string>
): Effect.Effect<void, DuplicateColumn> => {
  const times = (column: string) => names.filter((name) => name === column).length
  const duplicate = [idColumn, stockColumn].find((column) => times(column) > 1)
  return duplicate === undefined ? Effect.void : new DuplicateColumn({
    message: `the column ${quoted(duplicate)} occurs ${times(duplicate)} times; the columns are ${
      names.map(quoted).join(", ")
    }. Keep one of them, or rename it in the query`
  })
}

/** Runs the query once for each stream. When the stream ends, so has the query. */
export type Run = (query: string) => Stream.Stream<unknown, SqlError>

/** A number of a decimal type without the zeros that the type adds. The text "1.000" would be rejected, because it may be a thousand. */
export const plain = (decimal: string): string => decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal

/** A source of the rows that a query returns. */
export const make = (options: QueryOptions, run: Run): Effect.Effect<Source["Type"], SourceError.SourceError> =>
  Effect.gen(function*() {
    const name = SourceUri.shown(options.source)
    const { query } = options
    const wording = yield* Wording
    const schema = yield* Rows.schema(options)
    if (query === undefined) {
      return yield* new SourceError.SourceError({
        source: name,
        line: undefined,
        message: `${name}: a database needs a query: give one with ${wording.place("query")}`
      })
    }
    const rows = Stream.suspend(() => {
      let number = 0
      return run(query).pipe(
        Stream.mapError((error) => failure(name, error, wording)),
        Stream.timeoutFail(
          () =>
            new SourceUnreachable({
              source: name,
              message: `${name}: no response for ${Duration.format(options.timeout)}; no row of it was used`
            }),
          options.timeout
        ),
        Stream.map((row) => decodeFields(schema, ++number, row)),
        Stream.concat(
          Stream.suspend(() =>
            number > 0
              ? Stream.empty
              : Stream.fail(SourceError.content(name, "the query returns no row, which is more likely a mistake in it than an empty shop"))
          )
        )
      )
    })
    return {
      name,
      changes: PollInterval.every(options.poll),
      open: () => Effect.succeedSome({ version: Option.none(), unit: "row", excluded: new Set<string>(), rows })
    }
  })

// Classes of SQLSTATE and codes of SQLite that a retry does not change: wrong user, database or query.
const permanent = /^(0A|25|28|2D|3D|42|SQLITE_(CANTOPEN|ERROR|NOTADB|READONLY)$)/

/** Has the database's message, which contains no password. */
const failure = (name: string, { cause, message }: SqlError, { named }: Wording["Type"]): SourceFailure => {
  if (cause instanceof NotOneSelect || cause instanceof DuplicateColumn) return SourceError.content(name, cause.message)
  const reason = cause instanceof Error && cause.message !== "" ? cause.message : stateOf(cause) ?? message
  return permanent.test(stateOf(cause) ?? "")
    ? SourceError.content(name, `the database refuses: ${reason}. Correct ${named("query")} or ${named("source")}`)
    : new SourceUnreachable({ source: name, message: `${name}: ${reason}; no row of it was used` })
}

/** The SQLSTATE of Postgres and MySQL, or the code of SQLite or the system. */
const stateOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "sqlState") && typeof cause.sqlState === "string"
    ? cause.sqlState
    : Predicate.hasProperty(cause, "code") && typeof cause.code === "string"
    ? cause.code
    : undefined
