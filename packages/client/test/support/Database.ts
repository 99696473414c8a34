/** Databases for tests, and outages of databases. */
import * as SqliteClient from "@plaza/client/sqlite"
import { Effect, Layer } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, SqlError, Statement } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"

/** A SQLite database of its own, in memory. */
export const memory = Layer.orDie(SqliteClient.layer({ filename: ":memory:" }))

/** The path of a SQLite file that is gone with the scope. */
export const file = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(Path.join(tmpdir(), "plaza-allowance-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => Path.join(folder, "allowance.db")
)

const away = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: undefined, message: "the database is away" }) })

export interface Watched {
  readonly client: SqlClient.SqlClient
  /** While true, every statement fails as it does when the file is locked or the server away. */
  away: boolean
  /** Counts those that failed as well. */
  statements: number
  /** How long each statement takes, in milliseconds. */
  latency: number
}

/** The client, with its statements counted, and with outages and a latency that a test sets. */
export const watchedBy = (compiler: Statement.Compiler): Effect.Effect<Watched, never, SqlClient.SqlClient> =>
  Effect.gen(function*() {
    const inner = yield* SqlClient.SqlClient
    const client = yield* SqlClient.make({
      acquirer: Effect.suspend(() => {
        state.statements++
        const connection = state.away ? Effect.fail(away) : inner.reserve
        return state.latency === 0 ? connection : Effect.andThen(Effect.sleep(state.latency), connection)
      }),
      compiler,
      driver: "test",
      spanAttributes: []
    })
    const state: Watched = { client, away: false, statements: 0, latency: 0 }
    return state
  }).pipe(Effect.provide(Reactivity.layer))

/** The same for a client of SQLite. */
export const watched = watchedBy(Statement.makeCompilerSqlite())
