/**
 * Asks a MySQL or a MariaDB: one connection for each reading, which can change nothing, and rows as they come. Loading this module loads its driver. Knows nothing of
 * what the rows mean.
 *
 * @since 0.1.0
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as MysqlClient from "@effect/sql-mysql2/MysqlClient"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Query from "./Query.js"

// The driver gives as many rows at once as a packet of the network holds, which may be many thousands.
const batch = 1_000

/** @since 0.1.0 @category constructors */
export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(
      Effect.gen(function*() {
        const sql = yield* MysqlClient.make({
          maxConnections: 1,
          poolConfig: {
            uri: options.source,
            // Everything as the database writes it, so that no digit is lost on the way.
            typeCast: (field) => {
              const text = field.string()
              return text !== null && field.type === "NEWDECIMAL" ? Query.plain(text) : text
            }
          }
        })
        const connection = yield* sql.reserve
        yield* connection.executeUnprepared("SET SESSION TRANSACTION READ ONLY", [], undefined)
        return Stream.rechunk(connection.executeStream(query, [], undefined), batch)
      }).pipe(Effect.provide(Reactivity.layer))
    ))
