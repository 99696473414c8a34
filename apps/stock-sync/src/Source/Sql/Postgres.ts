/**
 * Asks a Postgres: one connection for each reading, in a transaction that can change nothing. By a cursor of the language, because the
 * one of the driver never ends behind a query that fails. Loading this module loads the driver. Knows nothing of what the rows mean.
 *
 * @since 0.1.0
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Query from "./Query.js"

// The number that Postgres has for its type `numeric`.
const numeric = 1700
// Rows a fetch: enough that the way there and back vanishes.
const batch = 1_000

/** @since 0.1.0 @category constructors */
export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(
      Effect.gen(function*() {
        const sql = yield* PgClient.make({
          url: Redacted.make(options.source),
          maxConnections: 1,
          connectTimeout: options.patience,
          // Everything as Postgres writes it, so that no digit is lost on the way.
          types: { getTypeParser: (type: number) => (type === numeric ? Query.plain : (text: string) => text) }
        })
        const connection = yield* sql.reserve
        const run = (statement: string) => connection.execute(statement, [], undefined)
        yield* run("BEGIN TRANSACTION READ ONLY")
        yield* run(`DECLARE stock NO SCROLL CURSOR FOR ${query}`)
        return Stream.repeatEffectChunkOption(
          run(`FETCH ${batch} FROM stock`).pipe(
            Effect.mapBoth({ onFailure: Option.some, onSuccess: Chunk.unsafeFromArray }),
            Effect.filterOrFail(Chunk.isNonEmpty, () => Option.none())
          )
        )
      }).pipe(Effect.provide(Reactivity.layer))
    ))
