/**
 * Streams the rows of a query from an SQLite file, which is opened read-only. Uses the driver itself, because Effect's client does not
 * stream rows of SQLite.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { SqlError } from "@effect/sql/SqlError"
import type { SourceError } from "@plaza/tabular/SourceError"
import Database from "better-sqlite3"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { pathToFileURL } from "node:url"
import type { Source } from "../Source.js"
import * as Query from "./Query.js"

// Rows that are read before the fiber yields.
const batch = 500

export const make = (options: Query.QueryOptions): Effect.Effect<Source["Type"], SourceError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) => {
    const path = pathOf(options.source)
    return Query.make(options, (query) =>
      Stream.unwrapScoped(Effect.map(
        // Another process may be writing the file.
        Effect.retry(Effect.acquireRelease(begin(files, path, query), ({ database }) => Effect.sync(() => database.close())), whileBusy),
        ({ first, next }) =>
          Stream.concat(
            Stream.fromChunk(first),
            Stream.repeatEffectChunkOption(Effect.filterOrFail(Effect.mapError(next, Option.some), Chunk.isNonEmpty, () => Option.none()))
          )
      )))
  })

/** Opens the file and reads the first rows. */
const begin = (files: FileSystem.FileSystem, path: string, query: string) =>
  Effect.gen(function*() {
    // Opening a named pipe would never end, and the driver would stop the process meanwhile.
    yield* Effect.filterOrFail(files.stat(path), ({ type }) => type === "File").pipe(Effect.mapError(() => cannotOpen))
    const database = yield* Effect.try({ try: () => new Database(readOnly(path)), catch: () => cannotOpen })
    return yield* Effect.gen(function*() {
      // A wait of the driver would stop all other work of the process.
      yield* attempt(() => database.pragma("busy_timeout = 0"))
      yield* oneSelect(database, query)
      const rows = yield* attempt(() => database.prepare(query).safeIntegers().iterate())
      const next = attempt(() => {
        const chunk: Array<unknown> = []
        while (chunk.length < batch) {
          const row = rows.next()
          if (row.done === true) break
          chunk.push(row.value)
        }
        return Chunk.unsafeFromArray(chunk)
      })
      return { database, first: yield* next, next }
    }).pipe(Effect.onError(() => Effect.sync(() => database.close())))
  })

const whileBusy = {
  while: ({ cause }: SqlError): boolean => Predicate.hasProperty(cause, "code") && cause.code === "SQLITE_BUSY",
  schedule: Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurUpTo("5 seconds"))
}

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

const cannotOpen = new SqlError({ cause: unopened, message: unopened.message })

/** Both `sqlite:stock.db` and the form with slashes, `sqlite:///var/stock.db`. */
const pathOf = (source: string): string => source.replace(/^sqlite:(\/\/)?/i, "")

/** The file as a URI that opens it read-only: the driver accepts the options of better-sqlite3 for that and ignores them. */
const readOnly = (path: string): string => `${pathToFileURL(path).href}?mode=ro`
