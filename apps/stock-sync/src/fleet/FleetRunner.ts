/**
 * One runner of a fleet, as status pages and health checks read it. `FleetRunnerLive` provides it and does the work.
 */
import type { RateLimit } from "@plaza/client"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { MonotonicMillis } from "../sync/MonotonicClock.ts"
import type * as SyncStatus from "../sync/SyncStatus.ts"

/** The state of this process. The database has that of the fleet. */
export interface RunnerState {
  /** The name of this runner, unique in the fleet. */
  readonly runner: string
  readonly startedAt: DateTime.Utc
  /** Shards that this runner owns with a fresh lease. 0 without the database, and for a runner that was suspended. */
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

/** What a runner does for one of its accounts. */
export interface AccountActivity {
  /** An operator has paused the account. */
  readonly paused: boolean
  /** The runner has taken the account over, and may work on it. */
  readonly takenOver: boolean
  /** The account has a running worker. */
  readonly active: boolean
  /** What to do with a new key of the account, as the end of a sentence. */
  readonly setKey: string
  /** The status of the running worker, or of the last one; undefined before the first. */
  readonly status: SyncStatus.State | undefined
  /** The rate limit of a worker that may send. */
  readonly rateLimit: RateLimit.Status | undefined
  /** When the source is read next; infinite if that is not planned. */
  readonly nextPoll: MonotonicMillis
  /** When the next product is due after the last worker ended; infinite if none is. */
  readonly nextDue: MonotonicMillis
  /** No worker starts before this time. Later than now after a failure. */
  readonly retryAt: MonotonicMillis
}

export class FleetRunner extends Context.Service<FleetRunner, {
  readonly state: Effect.Effect<RunnerState>
  /** What this runner does for an account; none if it does not own the account with a fresh lease. */
  readonly activity: (account: string) => Effect.Effect<Option.Option<AccountActivity>>
  /** Starts no further work, and waits within the limit of a stop for requests in flight. Every later call does nothing. */
  readonly drain: Effect.Effect<void>
}>()("@plaza/stock-sync/fleet/FleetRunner") {}
