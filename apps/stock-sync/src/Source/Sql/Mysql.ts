/**
 * Asks a MySQL or a MariaDB: one connection for each reading, which can change nothing, and rows as they come. By the driver itself:
 * Effect's client waits for the rest of an answer that nobody reads to its end, for ever. Loading this module loads the driver. Knows
 * nothing of what the rows mean.
 *
 * @since 0.1.0
 */
import { SqlError } from "@effect/sql/SqlError"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { createConnection } from "mysql2"
import * as Query from "./Query.js"

// Rows that wait in this process, which would otherwise be as many as a packet of the network holds.
const batch = 1_000

/** @since 0.1.0 @category constructors */
export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(
      Effect.gen(function*() {
        const connection = yield* Effect.acquireRelease(
          Effect.try({
            try: () =>
              createConnection({
                uri: options.source,
                connectTimeout: Duration.toMillis(options.patience),
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
        // Told by the query that it happens to; without a listener it would end the process as well.
        connection.on("error", () => undefined)
        yield* Effect.async<void, SqlError>((resume) => {
          connection.query("SET SESSION TRANSACTION READ ONLY", (error) => resume(error === null ? Effect.void : Effect.fail(failed(error))))
        })
        const rows = connection.query(query).stream({ highWaterMark: batch })
        let fault: Error | undefined
        rows.on("error", (error) => (fault = error))
        // The driver says "end" behind a fault as well, so that what was given until then looks like everything.
        const ended = Stream.suspend(() =>
          fault === undefined && rows.readableEnded ? Stream.empty : Stream.fail(failed(fault ?? new Error("the connection was lost"))))
        return Stream.concat(Stream.rechunk(NodeStream.fromReadable(() => rows, failed), batch), ended)
      })
    ))

const failed = (cause: unknown): SqlError => new SqlError({ cause, message: "MySQL failed" })
