/**
 * Streams the rows of a query from Postgres, over one connection for each read, in a read-only transaction, by an SQL cursor. Uses the
 * driver itself, because Effect's client sends a statement without parameters by the simple protocol, which runs
 * several statements at once.
 */
import { SqlError } from "@effect/sql/SqlError"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import Pg from "pg"
import * as Query from "./Query.js"

// The OID of the type `numeric`.
const numeric = 1700
// Rows per fetch: enough to make round trips cheap.
const batch = 1_000

export const make = (options: Query.QueryOptions) =>
  Query.make(options, (query) =>
    Stream.unwrapScoped(
      Effect.gen(function*() {
        const client = yield* Effect.acquireRelease(
          Effect.try({
            try: () =>
              new Pg.Client({
                connectionString: options.source,
                connectionTimeoutMillis: Duration.toMillis(options.timeout),
                // As the text of Postgres, so that no digit is lost.
                types: { getTypeParser: (type: number) => (type === numeric ? Query.plain : (text: string) => text) }
              }),
            catch: failed
          }),
          (opened) => Effect.sync(() => void opened.end().catch(() => undefined))
        )
        // The query reports the error; without a listener it would also end the process.
        client.on("error", () => undefined)
        yield* Effect.tryPromise({ try: () => client.connect(), catch: failed })
        const run = (text: string) => Effect.tryPromise({ try: () => client.query<Record<string, unknown>>(text), catch: failed })
        yield* run("BEGIN TRANSACTION READ ONLY")
        // The extended protocol accepts one statement. The query of a cursor can only be a SELECT or VALUES without side effects in its
        // WITH: no COMMIT, SET, DO, CALL or COPY.
        const declare = { text: `DECLARE stock NO SCROLL CURSOR FOR ${query}`, queryMode: "extended" }
        yield* Effect.tryPromise({ try: () => client.query(declare), catch: (cause) => failed(explained(cause)) })
        return Stream.repeatEffectChunkOption(
          run(`FETCH ${batch} FROM stock`).pipe(
            // An empty result has columns as well.
            Effect.tap(({ fields }) => Effect.mapError(Query.checkColumns(options, fields.map(({ name }) => name)), failed)),
            Effect.mapBoth({ onFailure: Option.some, onSuccess: ({ rows }) => Chunk.unsafeFromArray(rows) }),
            Effect.filterOrFail(Chunk.isNonEmpty, () => Option.none())
          )
        )
      })
    ))

const failed = (cause: unknown): SqlError => new SqlError({ cause, message: "Postgres failed" })

const explained = (cause: unknown): unknown =>
  cause instanceof Error && cause.message.includes("multiple commands") ? Query.moreThanOne : cause
