/**
 * One runner of a fleet, as status pages and health checks read it. `FleetRunnerLive` provides it and does the work.
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type { MonotonicMillis } from "../sync/MonotonicClock.js"

/** The state of this process. The database has that of the fleet. */
export interface RunnerState {
  /** The name of this runner, unique in the fleet. */
  readonly runner: string
  readonly startedAt: DateTime.Utc
  /** Shards that this runner owns with a fresh lease. 0 without the database, and for a frozen runner. */
  readonly shards: number
  /** When the leases of the shards were last renewed; undefined before the runner has owned a shard. */
  readonly leaseRenewedAt: MonotonicMillis | undefined
  readonly accounts: {
    /** Accounts of the owned shards, paused ones included. */
    readonly owned: number
    /** Accounts with a running worker. */
    readonly active: number
    /** Accounts whose source is read now. */
    readonly reading: number
    /** Accounts that wait until fewer sources are read at once. */
    readonly waitingToRead: number
    /** Owned accounts with a problem that their runner has recorded. */
    readonly failing: number
  }
  readonly loop: {
    /** When the loop that follows shards and settings last ended a turn, with or without the database. A stuck runner has an old one. */
    readonly lastTurnAt: MonotonicMillis
    /** When such a turn last reached the database. */
    readonly lastReachedAt: MonotonicMillis
  }
  /** The runner takes no more accounts and waits for requests in flight. */
  readonly stopping: boolean
}

export class FleetRunner extends Context.Tag("@plaza/stock-sync/fleet/FleetRunner")<FleetRunner, {
  readonly state: Effect.Effect<RunnerState>
  /** Starts no further work, and waits within the limit of a stop for requests in flight. Every later call does nothing. */
  readonly drain: Effect.Effect<void>
}>() {}
