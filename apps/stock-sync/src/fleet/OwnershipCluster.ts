/**
 * Ownership by `effect/cluster`. Runners meet in the fleet's database only: they open no port and need not reach each other. Nothing but
 * shard assignment is used, so there are no entities and no messages.
 *
 * Shards are locked by rows with an expiry and not by advisory locks of the session, which a suspended runner would keep for as long as its
 * connection lives.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { PersistenceError } from "effect/cluster/ClusterError"
import * as EntityId from "effect/cluster/EntityId"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as ShardId from "effect/cluster/ShardId"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"
import * as SqlClient from "effect/sql/SqlClient"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { closedWithin, makeSockets } from "../ledger/database/Connections.ts"
import { FleetDatabase, ownershipConnections, schema } from "./FleetDatabase.ts"
import type { FleetDatabaseError } from "./FleetError.ts"
import * as Leases from "./Leases.ts"
import { Ownership, type Term } from "./Ownership.ts"

/** Every runner of a fleet must use the same number: it decides the shard of an account. */
export const shards = 300

/** How long the locks of a runner hold that is out of touch with the database. Its accounts are served again 1 to 3 seconds later. */
export const lockExpiration: Duration.Duration = Duration.seconds(6)

/** How long after its start a renewal is trusted. The rest of the lock's time is for a request that has left by then. */
const freshFor = Duration.seconds(4)

/** How long a request may take to connect: a request leaves while the lock holds by which it was allowed. */
export const longestConnect: Duration.Duration = Duration.subtract(lockExpiration, freshFor)

/** How long a stop waits for the database. Locks that are not released by then expire. */
const releaseWithin = Duration.seconds(2)

const group = "default"

const config = (runner: RunnerAddress.RunnerAddress) =>
  ShardingConfig.layer({
    runnerAddress: Option.some(runner),
    shardsPerGroup: shards,
    availableShardGroups: [group],
    assignedShardGroups: [group],
    shardLockDisableAdvisory: true,
    shardLockExpiration: lockExpiration,
    shardLockRefreshInterval: Duration.seconds(2),
    refreshAssignmentsInterval: Duration.seconds(1),
    // Also the interval at which a runner that was suspended looks for its shards.
    entityMessagePollInterval: Duration.seconds(1)
  })

const client = Layer.effect(
  SqlClient.SqlClient,
  Effect.gen(function*() {
    const { follow, run, url } = yield* FleetDatabase
    // Longer than a statement may take. The connection of the locks is used every two seconds.
    const sockets = makeSockets(Redacted.value(url), Duration.seconds(4))
    yield* follow(sockets)
    return yield* run(PgClient.make({
      url,
      applicationName: "plaza-stock-sync fleet ownership",
      maxConnections: ownershipConnections,
      connectTimeout: Duration.seconds(5),
      // Sooner than the server ends them, so that none is used that the server has just ended.
      idleTimeout: Duration.seconds(3),
      startupParameters: {
        search_path: schema,
        // The library compares times without a zone that the session's zone decides.
        timezone: "UTC",
        // A statement that takes longer is of no use for the leases. The server ends the sessions of a suspended runner.
        statement_timeout: "3000",
        idle_in_transaction_session_timeout: "3000",
        idle_session_timeout: "6000"
      },
      stream: sockets.stream
    }))
  })
).pipe(Layer.provide(Reactivity.layer))

class Release extends Request.Class<{ readonly address: string; readonly shard: string }, void, PersistenceError> {}

/**
 * Releases shards together. The library releases each of them by a statement of its own, all on the connection that renews the leases. If
 * the database is some milliseconds away, the renewal comes too late after many of them, and the runner loses its other shards too.
 */
const makeRelease = (sql: SqlClient.SqlClient): RunnerStorage.RunnerStorage["Service"]["release"] => {
  // The table and the form of its columns are those of the library. A runner releases its own shards only.
  const releases = RequestResolver.make<Release>((entries) =>
    sql`DELETE FROM cluster_locks WHERE address = ${entries[0].request.address} AND shard_id IN ${
      sql.in(entries.map(({ request }) => request.shard))
    }`.pipe(
      Effect.mapError((cause) => new PersistenceError({ cause })),
      Effect.exit,
      Effect.flatMap((exit) => Effect.forEach(entries, (entry) => Request.complete(entry, Exit.asVoid(exit)), { discard: true }))
    )
    // The library starts all releases of a new assignment at once.
  ).pipe(RequestResolver.setDelay("20 millis"))
  return ({ host, port }, shard) => Effect.request(new Release({ address: `${host}:${port}`, shard: ShardId.toString(shard) }), releases)
}

class CurrentLeases extends Context.Service<CurrentLeases, Leases.Leases>()("@plaza/stock-sync/fleet/CurrentLeases") {}

/** The library's storage, which records the leases. */
const storage = Layer.effectContext(Effect.gen(function*() {
  const library = yield* RunnerStorage.RunnerStorage
  const leases = Leases.make({ ...library, release: makeRelease(yield* SqlClient.SqlClient) }, freshFor)
  return Context.make(CurrentLeases, leases).pipe(Context.add(RunnerStorage.RunnerStorage, leases.storage))
})).pipe(
  Layer.provide(SqlRunnerStorage.layerStorage({})),
  Layer.provide(client)
)

const make = (runner: RunnerAddress.RunnerAddress) =>
  Effect.gen(function*() {
    const leases = yield* CurrentLeases
    const sharding = yield* Sharding.Sharding
    const ids = Array.from({ length: shards }, (_, index) => ShardId.make(group, index + 1))
    const has = (shard: number) => Option.exists(Option.fromNullishOr(ids[shard - 1]), (id) => sharding.hasShardId(id))
    return Ownership.of({
      runner: runner.host,
      shardOf: (account) => sharding.getShardId(EntityId.make(account), group).id,
      owned: Effect.sync(() =>
        new Map(ids.flatMap(({ id }): ReadonlyArray<readonly [number, Term]> => {
          const term = leases.termOf(id)
          return term !== undefined && has(id) ? [[id, term]] : []
        }))
      ),
      holds: (shard, term) => Effect.map(leases.isFresh(shard, term), (fresh) => fresh && has(shard)),
      renewedAt: Effect.sync(leases.renewedAt)
    })
  })

/** Closes the layer within a limited time: the library waits without one for a database that does not respond. */
const closedInTime = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.effectContext(Effect.flatMap(closedWithin(releaseWithin, Effect.void), (scope) => Layer.buildWithScope(layer, scope)))

/** A runner under a new name: after a restart it is another runner, so that nothing of the earlier process counts for it. */
export const layer: Layer.Layer<Ownership, FleetDatabaseError, FleetDatabase> = Layer.suspend(() => {
  const runner = RunnerAddress.make(`${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`, 0)
  return Layer.effect(Ownership, make(runner)).pipe(
    Layer.provide(Sharding.layer),
    // The database alone decides which runners are alive, by their heartbeats.
    Layer.provide([Runners.layerNoop, RunnerHealth.layerNoop]),
    Layer.provide([MessageStorage.layerNoop, storage]),
    Layer.provide(config(runner)),
    closedInTime
  )
})
