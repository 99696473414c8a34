/** Places of ledgers, and their databases without the ledger. */
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import * as SqliteClient from "@plaza/client/sqlite"
import { Effect, FileSystem, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"

/** A file in a folder of its own. */
export const freshFile: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()),
  (folder) => `${folder}/ledger.sqlite`
).pipe(Effect.orDie, Effect.provide(NodeServices.layer))

/** A schema of its own in a server that the tests of a file share. */
export const freshSchema = (server: () => string): Effect.Effect<string> =>
  Effect.sync(() => `${server()}?schema=l_${randomUUID().replaceAll("-", "_")}`)

/** Runs statements in the database of a ledger, past the ledger. */
export const inDatabase = <A, E>(place: string, use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>): Effect.Effect<A> => {
  const client = () => {
    if (!place.startsWith("postgres:")) return SqliteClient.layer({ filename: place, disableWAL: true })
    const url = new URL(place)
    const schema = url.searchParams.get("schema") ?? ""
    url.searchParams.delete("schema")
    return PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1, startupParameters: { search_path: schema } })
  }
  return Effect.flatMap(SqlClient.SqlClient, use).pipe(
    Effect.provide(Layer.suspend((): Layer.Layer<SqlClient.SqlClient, unknown> => client())),
    Effect.orDie
  )
}
