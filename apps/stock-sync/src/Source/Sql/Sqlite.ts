/**
 * Asks an SQLite file, which it opens for reading only. By the driver itself, since Effect's client has no stream of rows for it.
 * Loading this module loads the native database. Knows nothing of what the rows mean.
 *
 * @since 0.1.0
 */
import { SqlError } from "@effect/sql/SqlError"
import Database from "better-sqlite3"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Query from "./Query.js"

// Rows between two moments in which something else may happen in the process.
const batch = 500

/** @since 0.1.0 @category constructors */
export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(Effect.gen(function*() {
      const database = yield* Effect.acquireRelease(
        attempt(() => new Database(pathOf(options.source), { readonly: true, fileMustExist: true })),
        (open) => Effect.sync(() => open.close())
      )
      const rows = yield* attempt(() => database.prepare(query).safeIntegers().iterate())
      return Stream.repeatEffectChunkOption(
        attempt(() => {
          const taken: Array<unknown> = []
          while (taken.length < batch) {
            const next = rows.next()
            if (next.done === true) break
            taken.push(next.value)
          }
          return Chunk.unsafeFromArray(taken)
        }).pipe(
          Effect.mapError(Option.some),
          Effect.filterOrFail(Chunk.isNonEmpty, () => Option.none())
        )
      )
    })))

const attempt = <A>(act: () => A): Effect.Effect<A, SqlError> => Effect.try({ try: act, catch: (cause) => new SqlError({ cause, message: "SQLite failed" }) })

/** Both `sqlite:stock.db` and the form with slashes, `sqlite:///var/stock.db`. */
const pathOf = (source: string): string => source.replace(/^sqlite:(\/\/)?/i, "")
