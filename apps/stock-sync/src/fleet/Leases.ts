/**
 * The leases of a runner's shards: when each was last renewed, by the monotonic clock. Wraps the storage of `effect/cluster`, which knows
 * only whether a shard is acquired.
 */
import type * as RunnerStorage from "effect/cluster/RunnerStorage"
import type * as ShardId from "effect/cluster/ShardId"
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
  readonly storage: RunnerStorage.RunnerStorage["Service"]
  /** The term of a shard; undefined without a lease. */
  readonly termOf: (shard: number) => Term | undefined
  /** Whether a lease of this term was renewed within the last `freshFor`. */
  readonly isFresh: (shard: number, term: Term) => Effect.Effect<boolean>
  /** When a lease was last acquired or renewed; undefined before the first one. Stays while there is none. */
  readonly renewedAt: () => MonotonicClock.MonotonicMillis | undefined
}

export const make = (storage: RunnerStorage.RunnerStorage["Service"], freshFor: Duration.Duration): Leases => {
  const leases = new Map<number, Lease>()
  let terms = 0
  let lastRenewedAt: MonotonicClock.MonotonicMillis | undefined

  const recorded = <E>(statement: Effect.Effect<Array<ShardId.ShardId>, E>, termOf: (before: Lease | undefined) => Term) =>
    Effect.flatMap(MonotonicClock.now, (renewedAt) =>
      Effect.tap(statement, (shards) =>
        Effect.sync(() => {
          for (const { id } of shards) leases.set(id, { term: termOf(leases.get(id)), renewedAt })
          if (shards.length > 0) lastRenewedAt = renewedAt
        })))

  return {
    storage: {
      ...storage,
      acquire: (address, shards) => recorded(storage.acquire(address, shards), () => ++terms),
      // A renewed shard without a lease was acquired by a statement whose result got lost.
      refresh: (address, shards) => recorded(storage.refresh(address, shards), (before) => before?.term ?? ++terms),
      release: (address, shard) => Effect.andThen(Effect.sync(() => leases.delete(shard.id)), storage.release(address, shard)),
      releaseAll: (address) => Effect.andThen(Effect.sync(() => leases.clear()), storage.releaseAll(address))
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
