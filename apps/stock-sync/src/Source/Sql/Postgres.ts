/**
 * Asks a Postgres: one connection for each reading, rows by a cursor. Loading this module loads its driver. Knows nothing of what the
 * rows mean.
 *
 * @since 0.1.0
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Query from "./Query.js"

// The number that Postgres has for its type `numeric`.
const numeric = 1700

/** @since 0.1.0 @category constructors */
export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(
      Effect.map(
        PgClient.make({
          url: Redacted.make(options.source),
          maxConnections: 1,
          connectTimeout: options.patience,
          // Everything as Postgres writes it, so that no digit is lost on the way.
          types: { getTypeParser: (type: number) => (type === numeric ? Query.plain : (text: string) => text) }
        }),
        (sql) => sql.unsafe(query).stream
      ).pipe(Effect.provide(Reactivity.layer))
    ))
