/**
 * Asks a MySQL or a MariaDB: one connection for each reading, rows as they come. Loading this module loads its driver. Knows nothing of
 * what the rows mean.
 *
 * @since 0.1.0
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as MysqlClient from "@effect/sql-mysql2/MysqlClient"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Query from "./Query.js"

/** @since 0.1.0 @category constructors */
export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(
      Effect.map(
        MysqlClient.make({
          maxConnections: 1,
          poolConfig: {
            uri: options.source,
            // Everything as the database writes it, so that no digit is lost on the way.
            typeCast: (field) => {
              const text = field.string()
              return text !== null && field.type === "NEWDECIMAL" ? Query.plain(text) : text
            }
          }
        }),
        (sql) => sql.unsafe(query).stream
      ).pipe(Effect.provide(Reactivity.layer))
    ))
