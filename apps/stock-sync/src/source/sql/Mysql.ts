/**
 * Reads the rows of a query from a MySQL or a MariaDB: one read-only connection for each reading, and rows as they come. Uses the driver
 * itself, because Effect's client waits for ever for the rest of a result that nobody reads to its end.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type Connection, createConnection } from "mysql2"
import * as Query from "./Query.js"

// Rows that wait in this process. Without a number it would be as many as a packet of the network holds.
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
                // Everything as the database writes it, so that no digit is lost on the way.
                typeCast: (field) => {
                  const text = field.string()
                  return text !== null && field.type === "NEWDECIMAL" ? Query.plain(text) : text
                }
              }),
            catch: failed
          }),
          (open) => Effect.sync(() => open.destroy())
        )
        // The query reports it; without a listener it would end the process as well.
        connection.on("error", () => undefined)
        yield* run(connection, "SET SESSION TRANSACTION READ ONLY")
        // The session's mode holds for the next transaction. Within this one no function can change it.
        yield* run(connection, "START TRANSACTION READ ONLY")
        yield* oneSelect(connection, query)
        const rows = connection.query(query).stream({ highWaterMark: batch })
        let fault: Error | undefined
        rows.on("error", (error) => (fault = error))
        // The driver ends the stream after a fault as well, so that the rows until then would look like all of them.
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
 * Fails unless the query is one statement that returns rows. Preparing refuses several statements, whatever the connection allows, and
 * tells the columns of the result; procedures, `COMMIT`, `SET`, `DO` and `SELECT ... INTO OUTFILE` have none.
 */
const oneSelect = (connection: Connection, query: string): Effect.Effect<void, SqlError> =>
  Effect.async<void, SqlError>((resume) => {
    connection.prepare(query, (error, statement) => {
      if (error !== null) return resume(Effect.fail(failed(explained(query, error))))
      statement.close()
      // The driver's type leaves out the columns of the result.
      const columns = Predicate.hasProperty(statement, "columns") && Array.isArray(statement.columns) ? statement.columns.length : 0
      resume(columns > 0 ? Effect.void : Effect.fail(failed(Query.noSelect)))
    })
  })

// The database reports a second statement as a syntax error behind the semicolon. All queries can be prepared, some other statements can't.
const explained = (query: string, error: Error): Error =>
  Predicate.hasProperty(error, "code") && error.code === "ER_UNSUPPORTED_PS" ?
    Query.noSelect :
    Predicate.hasProperty(error, "code") && error.code === "ER_PARSE_ERROR" && /;\s*\S/.test(query)
    ? new Query.NotOneSelect({
      message: `the query holds more than one statement, or a mistake: leave one SELECT in it (${error.message})`
    })
    : error
