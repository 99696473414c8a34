/**
 * Streams the rows of a query from MySQL or MariaDB, over one read-only connection for each read. Uses the driver itself, because
 * Effect's client waits for ever for the rest of a result that is not read to its end.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type Connection, createConnection } from "mysql2"
import * as Query from "./Query.js"

// Rows buffered in this process. Without a limit the driver buffers as many as a packet contains.
const batch = 1_000

export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(
      Effect.gen(function*() {
        const connection = yield* Effect.acquireRelease(
          Effect.try({
            try: () =>
              createConnection({
                uri: options.source,
                connectTimeout: Duration.toMillis(options.timeout),
                // As the text of the database, so that no digit is lost.
                typeCast: (field) => {
                  const text = field.string()
                  return text !== null && field.type === "NEWDECIMAL" ? Query.plain(text) : text
                }
              }),
            catch: failed
          }),
          (open) => Effect.sync(() => open.destroy())
        )
        // The query reports the error; without a listener it would also end the process.
        connection.on("error", () => undefined)
        yield* run(connection, "SET SESSION TRANSACTION READ ONLY")
        // The mode of the session applies to its next transaction. A function can't change the mode of the current one.
        yield* run(connection, "START TRANSACTION READ ONLY")
        const columns = yield* columnsOf(connection, query)
        yield* Effect.mapError(Query.checkColumns(options, columns), failed)
        const rows = connection.query(query).stream({ highWaterMark: batch })
        let fault: Error | undefined
        rows.on("error", (error) => (fault = error))
        // The driver ends the stream normally after a fault: a partial result would look complete.
        const ended = Stream.suspend(() =>
          fault === undefined && rows.readableEnded ? Stream.empty : Stream.fail(failed(fault ?? new Error("the connection was lost")))
        )
        return Stream.concat(Stream.rechunk(NodeStream.fromReadable(() => rows, failed), batch), ended)
      })
    ))

const failed = (cause: unknown): SqlError => new SqlError({ cause, message: "MySQL failed" })

const run = (connection: Connection, statement: string): Effect.Effect<void, SqlError> =>
  Effect.async((resume) => {
    connection.query(statement, (error) => resume(error === null ? Effect.void : Effect.fail(failed(error))))
  })

/**
 * The names of the columns of the result. Fails unless the query is one statement that returns rows. Preparing accepts one statement only, whatever the connection allows, and
 * returns the columns of the result; procedures, `COMMIT`, `SET`, `DO` and `SELECT ... INTO OUTFILE` have none.
 */
const columnsOf = (connection: Connection, query: string): Effect.Effect<ReadonlyArray<string>, SqlError> =>
  Effect.async<ReadonlyArray<string>, SqlError>((resume) => {
    connection.prepare(query, (error, statement) => {
      if (error !== null) return resume(Effect.fail(failed(explained(query, error))))
      statement.close()
      // The driver's type lacks the columns of the result.
      const columns: ReadonlyArray<unknown> = Predicate.hasProperty(statement, "columns") && Array.isArray(statement.columns)
        ? statement.columns
        : []
      const names = columns.map((column) => Predicate.hasProperty(column, "name") ? String(column.name) : "")
      resume(names.length > 0 ? Effect.succeed(names) : Effect.fail(failed(Query.noSelect)))
    })
  })

// The database reports a second statement as a syntax error after the semicolon. Every query can be prepared, some other statements can't.
const explained = (query: string, error: Error): Error =>
  Predicate.hasProperty(error, "code") && error.code === "ER_UNSUPPORTED_PS" ?
    Query.noSelect :
    Predicate.hasProperty(error, "code") && error.code === "ER_PARSE_ERROR" && /;\s*\S/.test(query)
    ? new Query.NotOneSelect({
      message: `the query holds more than one statement, or a mistake: leave one SELECT in it (${error.message})`
    })
    : error
