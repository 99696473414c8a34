/**
 * Which accounts this runner works on. Accounts are grouped in shards, and each shard belongs to at most one runner that is in touch with
 * the database. `OwnershipCluster` provides it with `@effect/cluster`, tests with a fixed set.
 *
 * A runner that was frozen may believe for a moment that it still owns a shard. The epoch of the ledger refuses its writes.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"

export class Ownership extends Context.Tag("@plaza/stock-sync/fleet/Ownership")<Ownership, {
  /** The name of this runner, unique in the fleet. */
  readonly runner: string
  /** The shard of an account, the same on every runner. */
  readonly shardOf: (account: string) => number
  /** The shards that this runner owns now. Empty without the database, and while the runner stops. */
  readonly owned: Effect.Effect<ReadonlySet<number>>
}>() {}

/** Owns the shards of a reference, for tests. Every account is in shard 1, 2 or 3, by the length of its id. */
export const layerTest = (runner: string, owned: Ref.Ref<ReadonlySet<number>>): Layer.Layer<Ownership> =>
  Layer.succeed(Ownership, { runner, shardOf: (account) => account.length % 3 + 1, owned: Ref.get(owned) })
