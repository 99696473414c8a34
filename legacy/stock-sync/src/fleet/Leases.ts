/**
 * The leases of a runner's shards: when each was last renewed, by the monotonic clock. Wraps the storage of `@effect/cluster`, which
 * knows only whether a shard is acquired.
 */
import type * as RunnerStorage from "@effect/cluster/RunnerStorage"
import type * as ShardId from "@effect/cluster/ShardId"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as MonotonicClock from "../sync/MonotonicClock.ts"
import type { Term } from "./Ownership.ts"

interface Lease {
  readonly term: Term
  /** The start of the last statement that acquired or renewed it: the database counts from a later time. */
  readonly renewedAt: MonotonicClock.MonotonicMillis
}

export interface Leases {
  /** Records what the storage acquires, renews and releases. */
  readonly storage: RunnerStorage.RunnerStorage["Type"]
  /** The term of a shard; undefined without a lease. */
  readonly termOf: (shard: number) => Term | undefined
  /** Whether a lease of this term was renewed within the last `freshFor`. */
  readonly isFresh: (shard: number, term: Term) => Effect.Effect<boolean>
  /** When a lease was last acquired or renewed; undefined before the first one. Stays while there is none. */
  readonly renewedAt: () => MonotonicClock.MonotonicMillis | undefined
}

export const make = (storage: RunnerStorage.RunnerStorage["Type"], freshFor: Duration.Duration): Leases => {
  const leases = new Map<number, Lease>()
  // The library runs these statements on one connection, and the driver wants one at a time there. Releases of single shards use others
  // and run together, so they don't wait here.
  const inTurn = Effect.unsafeMakeSemaphore(1).withPermits(1)
  let terms = 0
  let lastRenewedAt: MonotonicClock.MonotonicMillis | undefined

  /** Leaves out shards that were not asked for: the library may return them, and nobody knows their lease. */
  const requested = <E>(
    shards: Iterable<ShardId.ShardId>,
    statement: Effect.Effect<Array<ShardId.ShardId>, E>,
    termOf: (before: Lease | undefined) => Term
  ): Effect.Effect<Array<ShardId.ShardId>, E> =>
    inTurn(Effect.flatMap(MonotonicClock.now, (renewedAt) =>
      Effect.map(statement, (returned) => {
        const ids = new Set(Array.from(shards, ({ id }) => id))
        const own = returned.filter(({ id }) => ids.has(id))
        for (const { id } of own) leases.set(id, { term: termOf(leases.get(id)), renewedAt })
        if (own.length > 0) lastRenewedAt = renewedAt
        return own
      })))

  return {
    storage: {
      ...storage,
      acquire: (address, shards) => requested(shards, storage.acquire(address, shards), () => ++terms),
      // A renewed shard without a lease was acquired by a statement whose result got lost.
      refresh: (address, shards) => requested(shards, storage.refresh(address, shards), (before) => before?.term ?? ++terms),
      release: (address, shard) => Effect.zipRight(Effect.sync(() => leases.delete(shard.id)), storage.release(address, shard)),
      releaseAll: (address) => Effect.zipRight(Effect.sync(() => leases.clear()), inTurn(storage.releaseAll(address)))
    },
    termOf: (shard) => leases.get(shard)?.term,
    renewedAt: () => lastRenewedAt,
    isFresh: (shard, term) =>
      Effect.map(MonotonicClock.now, (now) => {
        const lease = leases.get(shard)
        return lease?.term === term && now - lease.renewedAt < Duration.toMillis(freshFor)
      })
  }
}
