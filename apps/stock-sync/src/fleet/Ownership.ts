/**
 * Which accounts this runner works on. Accounts are grouped in shards, and each shard belongs to at most one runner that is in touch with
 * the database. `OwnershipCluster` provides it with `effect/cluster`, tests with a fixed set.
 *
 * A runner that was suspended may believe for a moment that it still owns a shard. Its lease is no longer fresh, so it sends nothing, and
 * the epoch of the ledger refuses its writes.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as MonotonicClock from "../sync/MonotonicClock.ts"

/** Counts how often this runner has acquired a shard. Within one term, no other runner owned the shard. */
export type Term = number

export class Ownership extends Context.Service<Ownership, {
  /** The name of this runner, unique in the fleet. */
  readonly runner: string
  /** The shard of an account, the same on every runner. */
  readonly shardOf: (account: string) => number
  /** The shards that this runner owns now, with their terms. Empty without the database, and while the runner stops. */
  readonly owned: Effect.Effect<ReadonlyMap<number, Term>>
  /**
   * Whether this runner still owns a shard in the same term, and its lease is fresh: it was renewed so recently that no other runner can
   * own the shard. Decided by the monotonic clock, without the database.
   */
  readonly holds: (shard: number, term: Term) => Effect.Effect<boolean>
  /** When the leases of this runner were last renewed; undefined before it has owned a shard. */
  readonly renewedAt: Effect.Effect<MonotonicClock.MonotonicMillis | undefined>
}>()("@plaza/stock-sync/fleet/Ownership") {}

/** What a test decides. */
interface TestOwnership {
  /** The owned shards with their terms. Every account is in shard 1, 2 or 3, by the length of its id. */
  readonly owned: Ref.Ref<ReadonlyMap<number, Term>>
  /** Whether the leases are fresh (default: always). */
  readonly isFresh?: Effect.Effect<boolean>
}

export const layerTest = (runner: string, { isFresh = Effect.succeed(true), owned }: TestOwnership): Layer.Layer<Ownership> =>
  Layer.succeed(Ownership, {
    runner,
    shardOf: (account) => account.length % 3 + 1,
    owned: Ref.get(owned),
    holds: (shard, term) => Effect.zipWith(Ref.get(owned), isFresh, (shards, fresh) => fresh && shards.get(shard) === term),
    renewedAt: MonotonicClock.now
  })
