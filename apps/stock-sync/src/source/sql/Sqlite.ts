/**
 * Streams the rows of a query from an SQLite file, which is opened read-only. Uses the driver itself, because Effect's client does not
 * stream rows of SQLite.
 */
import { SqlError } from "@effect/sql/SqlError"
import Database from "better-sqlite3"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { pathToFileURL } from "node:url"
import * as Query from "./Query.js"

// Rows that are read before the fiber yields.
const batch = 500

export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(Effect.gen(function*() {
      const database = yield* Effect.acquireRelease(
        Effect.try({
          try: () => new Database(readOnly(options.source)),
          catch: () => new SqlError({ cause: unopened, message: unopened.message })
        }),
        (open) => Effect.sync(() => open.close())
      )
      // Another process may be writing the file.
      yield* attempt(() => database.pragma("busy_timeout = 5000"))
      yield* oneSelect(database, query)
      const rows = yield* attempt(() => database.prepare(query).safeIntegers().iterate())
      return Stream.repeatEffectChunkOption(
        attempt(() => {
          const chunk: Array<unknown> = []
          while (chunk.length < batch) {
            const next = rows.next()
            if (next.done === true) break
            chunk.push(next.value)
          }
          return Chunk.unsafeFromArray(chunk)
        }).pipe(
          Effect.mapError(Option.some),
          Effect.filterOrFail(Chunk.isNonEmpty, () => Option.none())
        )
      )
    })))

const attempt = <A>(act: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({ try: act, catch: (cause) => new SqlError({ cause, message: "SQLite failed" }) })

/**
 * Fails unless the query is one SELECT. A file that is opened read-only can still be copied (`VACUUM INTO`), and others can be created
 * beside it (`ATTACH`); the driver runs the first of several statements and ignores the rest. In parentheses SQLite accepts only a
 * query: a second statement is a syntax error there. A text that closes the parenthesis itself is invalid without it, which the first
 * prepare rejects.
 */
const oneSelect = (database: Database.Database, query: string): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    yield* attempt(() => database.prepare(query))
    const text = query.replace(/[\s;]+$/, "")
    yield* attempt(() => database.prepare(`SELECT * FROM (${text}\n)`)).pipe(
      Effect.mapError(({ cause }) => {
        const several = cause instanceof Error && cause.message.includes("near \";\"")
        const error = several ? Query.moreThanOne : Query.noSelect
        return new SqlError({ cause: error, message: error.message })
      })
    )
  })

// The driver's own message is a number.
const unopened = Object.assign(new Error("the file can't be opened: it does not exist, or this user may not read it"), {
  code: "SQLITE_CANTOPEN"
})

/**
 * The file as a URI that opens it read-only: the driver accepts the options of better-sqlite3 for that and ignores them. Both `sqlite:stock.db` and the form with slashes, `sqlite:///var/stock.db`.
 */
const readOnly = (source: string): string => `${pathToFileURL(source.replace(/^sqlite:(\/\/)?/i, "")).href}?mode=ro`
