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
import { pathToFileURL } from "node:url"
import * as Query from "./Query.js"

// Rows between two moments in which something else may happen in the process.
const batch = 500

/** @since 0.1.0 @category constructors */
export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(Effect.gen(function*() {
      const database = yield* Effect.acquireRelease(
        Effect.try({ try: () => new Database(readOnly(options.source)), catch: () => new SqlError({ cause: unopened, message: unopened.message }) }),
        (open) => Effect.sync(() => open.close())
      )
      // The moment in which another process changes the file is waited out.
      yield* attempt(() => database.pragma("busy_timeout = 5000"))
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

// The driver's own words are a number.
const unopened = Object.assign(new Error("it can't be opened: it is not there, or this user may not read it"), { code: "SQLITE_CANTOPEN" })

/**
 * The file by the one name that says what may be done with it: the driver knows the options of better-sqlite3 for that and heeds none
 * of them. Both `sqlite:stock.db` and the form with slashes, `sqlite:///var/stock.db`.
 */
const readOnly = (source: string): string => `${pathToFileURL(source.replace(/^sqlite:(\/\/)?/i, "")).href}?mode=ro`
