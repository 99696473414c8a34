/** The result of a query as a source, for all databases. The query must be one SELECT and can't change the database. */
import { decodeFields } from "@plaza/tabular/Fields"
import { lineUpTo, quoted } from "@plaza/tabular/Quoted"
import { listOf, nearest } from "@plaza/tabular/Record"
import * as SourceError from "@plaza/tabular/SourceError"
import * as Stock from "@plaza/tabular/Stock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import { Wording, type Words } from "../../Wording.ts"
import * as Rows from "../Rows.ts"
import { failIfSilent, polled, type Source, type SourceFailure, unreachable } from "../Source.ts"
import * as SourceUri from "../SourceUri.ts"

export interface QueryOptions extends Rows.SchemaOptions {
  readonly source: string
  readonly query?: string | undefined
  readonly poll: Duration.Duration
  /** How long the database may be silent. */
  readonly timeout: Duration.Duration
}

/** The query itself is wrong: it is not one statement that returns rows, or its columns are missing or ambiguous. */
export class InvalidQuery extends Data.TaggedError("InvalidQuery")<{ readonly message: string }> {}

export const moreThanOne = new InvalidQuery({ message: "the query holds more than one statement: leave one SELECT in it" })

export const noSelect = new InvalidQuery({ message: "the query is not a SELECT: only a statement that returns rows is accepted" })

/** The database or its driver failed. The cause is their error. */
export class QueryError extends Data.TaggedError("QueryError")<{ readonly cause: unknown }> {}

export const failed = (cause: unknown): QueryError => new QueryError({ cause })

/** Fails if the result lacks a needed column or has it twice. The drivers return only the last of several. */
export const checkColumns = (
  { idColumn, stockColumn }: Stock.Columns,
  names: ReadonlyArray<string>
): Effect.Effect<void, InvalidQuery> =>
  Effect.flatMap(Wording, ({ option }) => {
    const needed = [
      { column: idColumn, select: option("id-column") },
      ...Stock.termsOf(stockColumn).map(({ column }) => ({ column, select: option("stock-column") }))
    ]
    const times = (column: string) => names.filter((name) => name === column).length
    const wrong = needed.find(({ column }) => times(column) !== 1)
    if (wrong === undefined) return Effect.void
    const { column, select } = wrong
    if (times(column) > 1) {
      const message = `the column ${quoted(column)} occurs ${times(column)} times${
        listOf(names)
      }. Keep one of them, or rename it in the query`
      return Effect.fail(new InvalidQuery({ message }))
    }
    const near = nearest(column, names)
    const remedy = `${near === undefined ? "Name one so" : `Did you mean ${quoted(near)}? Rename it`} in the query, with AS ${
      JSON.stringify(column)
    }`
    const message = `there is no column ${quoted(column)}${listOf(names)}. ${remedy}, or select ${
      near === undefined ? "another" : "it"
    } with ${select}`
    return Effect.fail(new InvalidQuery({ message }))
  })

/** Runs the query once for each stream. When the stream ends, so has the query. */
export type Run = (query: string) => Stream.Stream<unknown, InvalidQuery | QueryError>

/** The name of our sessions in a server's list, unless the address names another one. */
export const applicationName = "plaza-stock-sync"

/** How long the end of a read waits for the server to end the query. After that the connection is closed. */
const endWithin = Duration.seconds(3)

/** An interval between two looks whether the server has ended a query. */
export const lookAgainAfter = Duration.millis(200)

/** The query of an earlier read did not end in spite of its cancellation. A second one would load the server once more. */
const stillRuns = failed(new Error("the query of an earlier read still runs at the server, although it was cancelled"))

/** A connection for one read, to a server that goes on with a query without its client. */
export interface Session {
  readonly connect: Effect.Effect<void, QueryError>
  /** Ends the queries of the session with this mark at the server. Returns how many there were. */
  readonly endEarlier: (mark: string) => Effect.Effect<number, QueryError>
  /** The rows of the query in a read-only transaction. The list of the server's sessions shows the mark beside the query. */
  readonly rows: (query: string) => Effect.Effect<Stream.Stream<unknown, InvalidQuery | QueryError>, InvalidQuery | QueryError>
  /** Ends the query at the server and closes the connection. */
  readonly end: Effect.Effect<void>
  /** Closes the connection at once. */
  readonly destroy: Effect.Effect<void>
  /** Whether the server may still compute the query. */
  readonly mayRun: () => boolean
}

/** A source that opens a session for each read. A query that the server has not ended is ended by the next session first. */
export const makeInSessions = (options: QueryOptions, open: (mark: string) => Effect.Effect<Session, QueryError>) => {
  /** The mark of a read whose query the server did not end. */
  let unended: string | undefined
  const endEarlier = (session: Session, mark: string) =>
    session.endEarlier(mark).pipe(
      Effect.flatMap((count) => count === 0 ? Effect.void : Effect.fail(stillRuns)),
      Effect.retry({
        while: (error) => error === stillRuns,
        schedule: Schedule.upTo(Schedule.spaced(lookAgainAfter), { duration: endWithin })
      })
    )
  return make(options, (query) =>
    Stream.unwrap(Effect.gen(function*() {
      const mark = randomBytes(8).toString("hex")
      // Whatever the server does, the query and the connection end soon.
      const session = yield* Effect.acquireRelease(open(mark), (opened) =>
        Effect.timeoutOption(opened.end, endWithin).pipe(
          Effect.ensuring(opened.destroy),
          Effect.ensuring(Effect.sync(() => opened.mayRun() ? unended = mark : undefined))
        ))
      yield* session.connect
      if (unended !== undefined) yield* endEarlier(session, unended)
      unended = undefined
      return yield* session.rows(query)
    })))
}

/** A number of a decimal type without the zeros that the type adds. The text "1.000" would be rejected, because it may be a thousand. */
export const plain = (decimal: string): string => decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal

/** A source of the rows that a query returns. */
export const make = Effect.fnUntraced(function*(options: QueryOptions, run: Run) {
  const name = SourceUri.shown(options.source)
  const { query } = options
  const wording = yield* Wording
  if (query === undefined) {
    return yield* new SourceError.SourceError({
      source: name,
      line: undefined,
      message: `${name}: a database needs a query: give one with ${wording.place("query")}`
    })
  }
  const rows = Stream.unwrap(Effect.map(Rows.decoder(name, options), ({ consistent, schema }) => {
    let number = 0
    return run(query).pipe(
      Stream.mapError((error) => failureOf(name, error, wording)),
      failIfSilent(name, options.timeout),
      Stream.map((row) => decodeFields(schema, ++number, row)),
      Stream.orElseIfEmpty(() =>
        Stream.fail(SourceError.content(name, "the query returns no row, which is more likely a mistake in it than an empty shop"))
      ),
      consistent
    )
  }))
  const source: Source["Service"] = {
    name,
    changes: polled(options.poll),
    open: () => Effect.succeedSome({ version: Option.none(), unit: "row", excluded: new Set<string>(), rows })
  }
  return source
})

// Classes of SQLSTATE and codes of SQLite that a retry does not change: wrong user, database or query.
const permanent = /^(0A|25|28|2D|3D|42|SQLITE_(CANTOPEN|ERROR|NOTADB|READONLY)$)/

/** A message of a database, as long as the object and the place that it names. */
export const told = lineUpTo(500)

/** Has the database's message. */
const failureOf = (name: string, error: InvalidQuery | QueryError, { named }: Words): SourceFailure => {
  if (error._tag === "InvalidQuery") return SourceError.content(name, error.message)
  const { cause } = error
  const state = stateOf(cause)
  const reason = cause instanceof Error && cause.message.trim() !== "" ? told(cause.message) : state ?? "the database failed"
  return permanent.test(state ?? "")
    ? SourceError.content(name, `the database refuses: ${reason}. Correct ${named("query")} or ${named("source")}`)
    : unreachable(name, reason)
}

/** The SQLSTATE of Postgres and MySQL, or the code of SQLite or the system. */
const stateOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "sqlState") && typeof cause.sqlState === "string"
    ? cause.sqlState
    : Predicate.hasProperty(cause, "code") && typeof cause.code === "string"
    ? cause.code
    : undefined
