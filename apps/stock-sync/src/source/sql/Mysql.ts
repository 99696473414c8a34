/**
 * Streams the rows of a query from MySQL or MariaDB, over one read-only connection for each read. A read that ends early kills its query
 * at the server, which would otherwise go on without its client. Uses the driver `mysql2`
 * (docs/decisions/017-database-sources-by-drivers.md).
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { type Connection, createConnection } from "mysql2"
import type { Socket } from "node:net"
import * as Query from "./Query.ts"

// Rows buffered in this process. Without a limit the driver buffers as many as a packet contains.
const batch = 1_000

export const make = (options: Query.QueryOptions) =>
  Query.makeInSessions(options, (mark) => Effect.try({ try: () => new Session(options, mark), catch: Query.failed }))

// A statement is limited as a whole, and a large result takes minutes.
const longestQuery = Duration.minutes(15)

/**
 * Limits at the server, for a worker that can't kill its query: one that was killed itself, or whose network is gone. They replace no
 * shorter limit of the database.
 */
const limits = (timeout: Duration.Duration): ReadonlyArray<string> => {
  const limit = (name: string, value: number) =>
    `SET SESSION ${name} = IF(@@SESSION.${name} BETWEEN 1 AND ${value}, @@SESSION.${name}, ${value})`
  const seconds = Math.ceil(Duration.toSeconds(Duration.max(longestQuery, Duration.times(timeout, 2))))
  return [
    // MySQL, in milliseconds, up to 49 days.
    limit("max_execution_time", Math.min(seconds * 1_000, 4_294_967_295)),
    // MariaDB, in seconds, up to a year.
    limit("max_statement_time", Math.min(seconds, 31_536_000)),
    // Of a table, for which others wait behind the query. By default a day or a year.
    limit("lock_wait_timeout", Math.min(Math.ceil(Duration.toSeconds(timeout)) + 5, 31_536_000))
  ]
}

const connect = ({ source, timeout }: Query.QueryOptions): Connection => {
  const connection = createConnection({
    uri: source,
    connectTimeout: Duration.toMillis(timeout),
    connectAttributes: { program_name: Query.applicationName },
    // As the text of the database, so that no digit is lost.
    typeCast: (field) => {
      const text = field.string()
      return text !== null && field.type === "NEWDECIMAL" ? Query.plain(text) : text
    }
  })
  // The query reports the error; without a listener it would also end the process.
  return connection.on("error", () => undefined)
}

// The driver has them, and its types lack them.
const driverOf = (connection: Connection) => connection as Connection & { readonly stream: Socket; readonly authorized: boolean }

const destroy = (connection: Connection) => Effect.sync(() => void driverOf(connection).stream.destroy())

/** Waits until the server has closed the connection. */
const closed = (connection: Connection) =>
  Effect.callback<void>((resume) => {
    const { stream } = driverOf(connection)
    if (stream.destroyed) return resume(Effect.void)
    stream.once("close", () => resume(Effect.void))
    // The end of the connection comes after what was not read.
    stream.resume()
  })

const close = (connection: Connection) =>
  Effect.suspend(() => {
    connection.end(() => undefined)
    return closed(connection)
  })

/** A connection, which knows whether its query runs. */
class Session implements Query.Session {
  /** The driver connects with the first statement. */
  readonly connect = Effect.void
  private readonly connection: Connection
  private readonly options: Query.QueryOptions
  private readonly mark: string
  private isRunning = false

  constructor(options: Query.QueryOptions, mark: string) {
    this.options = options
    this.mark = mark
    this.connection = connect(options)
  }

  rows(query: string) {
    return Effect.gen({ self: this }, function*() {
      const { connection } = this
      const run = (statement: string) => ask(connection, statement)
      // A server has one of these limits. One that has neither reads without it.
      for (const limit of limits(this.options.timeout)) yield* Effect.ignore(run(limit))
      yield* run("SET SESSION TRANSACTION READ ONLY")
      // The mode of the session applies to its next transaction. A function can't change the mode of the current one.
      yield* run("START TRANSACTION READ ONLY")
      const marked = `/* ${Query.applicationName} ${this.mark} */ ${query}`
      this.isRunning = true
      // The server goes on with a query whose connection is lost, and has ended one for which it reports an error.
      const ending = (cause: unknown) => {
        this.isRunning = Predicate.hasProperty(cause, "fatal") && cause.fatal === true
      }
      yield* columnsOf(connection, marked).pipe(
        Effect.flatMap((columns) => Query.checkColumns(this.options, columns)),
        Effect.tapError((error) => Effect.sync(() => ending(error.cause)))
      )
      const rows = connection.query(marked).stream({ highWaterMark: batch })
      let fault: Error | undefined
      // The driver reports a lost connection to the connection only.
      connection.on("error", (error: Error) => rows.destroy(error))
      rows.on("error", (error) => {
        ending(error)
        fault = error
      })
      // The driver ends the stream normally after a fault: a partial result would look complete.
      const ended = Stream.suspend(() => {
        if (fault !== undefined || !rows.readableEnded) return Stream.fail(Query.failed(fault ?? new Error("the connection was lost")))
        this.isRunning = false
        return Stream.empty
      })
      return Stream.concat(NodeStream.fromReadable({ evaluate: () => rows, onError: Query.failed, chunkSize: batch }), ended)
    })
  }

  endEarlier(mark: string) {
    return kill(this.connection, mark)
  }

  get end(): Effect.Effect<void> {
    // Before that, the server ends with the socket.
    if (!driverOf(this.connection).authorized) return Effect.sync(() => void (this.isRunning = false))
    return this.isRunning ? this.kill : close(this.connection)
  }

  get destroy() {
    return destroy(this.connection)
  }

  mayRun(): boolean {
    return this.isRunning
  }

  /** Needs a second connection. One that fails is tried again, for example because the server accepts no more. */
  private get kill() {
    return Effect.acquireUseRelease(
      Effect.sync(() => connect(this.options)),
      (other) =>
        kill(other, this.mark).pipe(
          // None is a query that the server had not begun, or whose rows were all on their way.
          Effect.flatMap((count) => count === 0 ? destroy(this.connection) : closed(this.connection)),
          // The server closes the connection shortly before the thread ends.
          Effect.andThen(Effect.repeat(kill(other, this.mark), { until: (count) => count === 0 })),
          Effect.andThen(Effect.sync(() => void (this.isRunning = false))),
          Effect.andThen(close(other))
        ),
      destroy
    ).pipe(
      // Until the time for it is over.
      Effect.retry(Schedule.spaced(Query.lookAgainAfter)),
      Effect.orDie
    )
  }
}

/** Kills the threads with the query of a mark. Returns how many there were. */
const kill = (connection: Connection, mark: string): Effect.Effect<number, Query.QueryError> =>
  Effect.gen(function*() {
    // Without further privileges, these are the threads of the same user, whom the server allows to kill them.
    const threads = (yield* ask(connection, "SHOW FULL PROCESSLIST")).filter(({ Info }) => Info?.includes(mark) === true)
    // One that ended meanwhile can't be killed.
    for (const { Id } of threads) yield* Effect.ignore(ask(connection, `KILL ${Id}`))
    return threads.length
  })

type TextRow = Readonly<Record<string, string | null>>

const ask = (connection: Connection, statement: string): Effect.Effect<ReadonlyArray<TextRow>, Query.QueryError> =>
  Effect.callback((resume) => {
    connection.query(statement, (error, rows) => {
      // By `typeCast` each value is a text. A statement without rows has a summary instead.
      resume(error === null ? Effect.succeed(Array.isArray(rows) ? rows as ReadonlyArray<TextRow> : []) : Effect.fail(Query.failed(error)))
    })
  })

/**
 * The names of the columns of the result. Fails unless the query is one statement that returns rows. Preparing accepts one statement only, whatever the connection allows, and
 * returns the columns of the result; procedures, `COMMIT`, `SET`, `DO` and `SELECT ... INTO OUTFILE` have none.
 */
const columnsOf = (connection: Connection, query: string) =>
  Effect.callback<ReadonlyArray<string>, Query.InvalidQuery | Query.QueryError>((resume) => {
    connection.prepare(query, (error, statement) => {
      if (error !== null) return resume(Effect.fail(explained(query, error)))
      statement.close()
      // The driver's type lacks the columns of the result.
      const columns: ReadonlyArray<unknown> = Predicate.hasProperty(statement, "columns") && Array.isArray(statement.columns)
        ? statement.columns
        : []
      const names = columns.map((column) => Predicate.hasProperty(column, "name") ? String(column.name) : "")
      resume(names.length > 0 ? Effect.succeed(names) : Effect.fail(Query.noSelect))
    })
  })

// The database reports a second statement as a syntax error after the semicolon. Every query can be prepared, some other statements can't.
const explained = (query: string, error: Error): Query.InvalidQuery | Query.QueryError => {
  const code = Predicate.hasProperty(error, "code") ? error.code : undefined
  if (code === "ER_UNSUPPORTED_PS") return Query.noSelect
  return code === "ER_PARSE_ERROR" && /;\s*\S/.test(query)
    ? new Query.InvalidQuery({
      message: `the query holds more than one statement, or a mistake: leave one SELECT in it (${Query.told(error.message)})`
    })
    : Query.failed(error)
}
