/**
 * Releases shards together. The library releases each of them by a statement of its own, all on the connection that renews the leases. If
 * the database is some milliseconds away, the renewal comes too late after many of them, and the runner loses its other shards too.
 */
import { PersistenceError } from "@effect/cluster/ClusterError"
import type * as RunnerAddress from "@effect/cluster/RunnerAddress"
import type * as RunnerStorage from "@effect/cluster/RunnerStorage"
import type * as ShardId from "@effect/cluster/ShardId"
import { dataLoader } from "@effect/experimental/RequestResolver"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"
import type * as Scope from "effect/Scope"

class Release extends Request.TaggedClass("Release")<void, PersistenceError, {
  readonly address: RunnerAddress.RunnerAddress
  readonly shard: ShardId.ShardId
}> {}

// The library starts all releases of a new assignment at once.
const window = Duration.millis(20)

/** As the library writes it. */
const addressOf = (releases: ReadonlyArray<Release>): string => releases.map(({ address: { host, port } }) => `${host}:${port}`)[0] ?? ""

/** The table and the form of its columns are those of the library. A runner releases its own shards only. */
const releaseAll = (sql: SqlClient.SqlClient) =>
  RequestResolver.makeBatched((releases: ReadonlyArray<Release>) =>
    sql`DELETE FROM cluster_locks WHERE address = ${addressOf(releases)} AND shard_id IN ${
      sql.in(releases.map(({ shard }) => shard.toString()))
    }`.pipe(
      Effect.mapError((cause) => new PersistenceError({ cause })),
      Effect.exit,
      Effect.flatMap((exit) => Effect.forEach(releases, (release) => Request.complete(release, Exit.asVoid(exit)), { discard: true }))
    )
  )

/** The storage of the library with another `release`. */
export const make = (
  storage: RunnerStorage.RunnerStorage["Type"]
): Effect.Effect<RunnerStorage.RunnerStorage["Type"], never, Scope.Scope | SqlClient.SqlClient> =>
  Effect.map(
    Effect.flatMap(SqlClient.SqlClient, (sql) => dataLoader(releaseAll(sql), { window })),
    (releases) => ({ ...storage, release: (address, shard) => Effect.request(new Release({ address, shard }), releases) })
  )
