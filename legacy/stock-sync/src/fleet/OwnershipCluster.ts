/**
 * Ownership by `@effect/cluster`. Runners meet in the fleet's database only: they open no port and need not reach each other. Nothing but
 * shard assignment is used, so there are no entities and no messages.
 *
 * Shards are locked by rows with an expiry and not by advisory locks of the session. Advisory locks of the library are plain numbers that
 * other programs in the same database may use as well, and a suspended runner would keep them for as long as its connection lives.
 */
import * as EntityId from "@effect/cluster/EntityId"
import * as MessageStorage from "@effect/cluster/MessageStorage"
import * as RunnerAddress from "@effect/cluster/RunnerAddress"
import * as RunnerHealth from "@effect/cluster/RunnerHealth"
import * as Runners from "@effect/cluster/Runners"
import * as RunnerStorage from "@effect/cluster/RunnerStorage"
import * as ShardId from "@effect/cluster/ShardId"
import * as Sharding from "@effect/cluster/Sharding"
import * as ShardingConfig from "@effect/cluster/ShardingConfig"
import * as SqlRunnerStorage from "@effect/cluster/SqlRunnerStorage"
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import * as FleetDatabase from "./FleetDatabase.ts"
import { type FleetDatabaseError, notPrepared } from "./FleetError.ts"
import * as Leases from "./Leases.ts"
import { Ownership, type Term } from "./Ownership.ts"
import * as ShardReleases from "./ShardReleases.ts"

/** Every runner of a fleet must use the same number: it decides the shard of an account. */
export const shards = 300

/** How long the locks of a runner hold that is out of touch with the database. Its accounts are served again 1 to 3 seconds later. */
export const lockExpiration: Duration.Duration = Duration.seconds(6)

/** How long after its start a renewal is trusted. The rest of the lock's time is for a request that has left by then. */
const freshFor = Duration.seconds(4)

/** How long a request may take to connect: a request leaves while the lock holds by which it was allowed. */
export const longestConnect: Duration.Duration = Duration.subtract(lockExpiration, freshFor)

const group = "default"

const config = (runner: RunnerAddress.RunnerAddress): Partial<ShardingConfig.ShardingConfig["Type"]> => ({
  runnerAddress: Option.some(runner),
  shardsPerGroup: shards,
  availableShardGroups: [group],
  assignedShardGroups: [group],
  shardLockDisableAdvisory: true,
  shardLockExpiration: lockExpiration,
  shardLockRefreshInterval: Duration.seconds(2),
  refreshAssignmentsInterval: Duration.seconds(1)
})

const client = Effect.gen(function*() {
  const { run, url } = yield* FleetDatabase.FleetDatabase
  const address = FleetDatabase.withOptions(url, {
    search_path: FleetDatabase.schema,
    // The library compares times without a zone that the session's zone decides.
    timezone: "UTC",
    // A statement that takes longer is of no use for the leases. The server ends the sessions of a suspended runner.
    statement_timeout: 3_000,
    idle_in_transaction_session_timeout: 3_000,
    idle_session_timeout: 6_000
  })
  const pool = FleetDatabase.openPool(address, {
    max: FleetDatabase.ownershipConnections,
    name: "plaza-stock-sync fleet ownership",
    connectTimeout: Duration.seconds(5),
    // Longer than a statement may take. The connection of the locks is used every two seconds.
    silence: Duration.seconds(4),
    // Sooner than the server ends them, so that none is used that the server has just ended.
    idleTimeout: Duration.seconds(3)
  })
  return yield* run(PgClient.fromPool({ acquire: pool }))
}).pipe(
  Effect.map((sql): SqlClient.SqlClient => sql),
  Layer.scoped(SqlClient.SqlClient),
  Layer.provide(Reactivity.layer)
)

/** Creates the library's tables. Runners that start at the same time on an empty schema would fail each other. */
export const migrate: Effect.Effect<void, FleetDatabaseError, FleetDatabase.FleetDatabase> = Effect.flatMap(
  FleetDatabase.FleetDatabase,
  ({ run }) =>
    Effect.scoped(Effect.flatMap(Layer.build(client), (context) =>
      run(Effect.asVoid(Layer.build(SqlRunnerStorage.layer)).pipe(
        Effect.provide(context),
        Effect.provide(ShardingConfig.layer(config(RunnerAddress.make("migrate", 0))))
      ))))
)

/** The library would create its tables, and runners that do so at the same time would fail each other. */
const checkTables = Effect.gen(function*() {
  const { name, run, sql } = yield* FleetDatabase.FleetDatabase
  const tables = [`${FleetDatabase.schema}.cluster_runners`, `${FleetDatabase.schema}.cluster_locks`]
  const missing = yield* run(sql`SELECT 1 FROM unnest(${tables}::text[]) AS one (name) WHERE to_regclass(name) IS NULL`)
  if (missing.length > 0) return yield* notPrepared(name)
})

const make = (runner: RunnerAddress.RunnerAddress) =>
  Effect.gen(function*() {
    const leases = yield* CurrentLeases
    const sharding = yield* Sharding.Sharding
    const ids = Array.from({ length: shards }, (_, index) => ShardId.make(group, index + 1))
    const has = (shard: number) => Option.exists(Option.fromNullable(ids[shard - 1]), (id) => sharding.hasShardId(id))
    return {
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
    } satisfies Ownership["Type"]
  })

class CurrentLeases extends Context.Tag("@plaza/stock-sync/fleet/CurrentLeases")<CurrentLeases, Leases.Leases>() {}

/** The library's storage, which records the leases. */
const storage = Layer.scopedContext(Effect.gen(function*() {
  const { run } = yield* FleetDatabase.FleetDatabase
  const library = Context.get(yield* run(Layer.build(SqlRunnerStorage.layer)), RunnerStorage.RunnerStorage)
  const leases = Leases.make(yield* ShardReleases.make(library), freshFor)
  return Context.make(CurrentLeases, leases).pipe(Context.add(RunnerStorage.RunnerStorage, leases.storage))
})).pipe(Layer.provide(client))

/** How long a stop waits for the database. Locks that are not released by then expire. */
const releaseWithin = Duration.seconds(5)

/** Releases the layer within a limited time: the library waits without one for a database that does not respond. */
const releasedInTime = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.scopedContext(
    Effect.flatMap(
      Effect.acquireRelease(Scope.make(),
        (scope, exit) => Scope.close(scope, exit).pipe(Effect.disconnect, Effect.interruptible, Effect.timeoutOption(releaseWithin))),
      (scope) => Layer.buildWithScope(layer, scope)
    )
  )

/** A runner under a new name: after a restart it is another runner, so that nothing of the earlier process counts for it. */
export const layer: Layer.Layer<Ownership, FleetDatabaseError, FleetDatabase.FleetDatabase> = Layer.unwrapEffect(
  Effect.map(checkTables, () => {
    const runner = RunnerAddress.make(`${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`, 0)
    const sharding = ShardingConfig.layer(config(runner))
    return Layer.effect(Ownership, make(runner)).pipe(
      Layer.provide(Sharding.layer),
      // The database alone decides which runners are alive, by their heartbeats.
      Layer.provide([Runners.layerNoop, RunnerHealth.layerNoop]),
      Layer.provide([MessageStorage.layerNoop, storage]),
      Layer.provide(sharding),
      releasedInTime
    )
  })
)
