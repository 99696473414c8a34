/**
 * The last snapshot of the slots in the database: when slots become free, when the key's pause ends, and when to poll the database
 * again. It has no clock: callers pass moments, and the database returns durations.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type { MonotonicMillis } from "../../Compat.ts"
import type { Snapshot } from "./SqlSlots.ts"

// The poll interval while other processes have requests in flight, unless a quarter of the window is shorter.
const longestPoll = 1_000

// Longer than most statements, so that the processes claim in a random order, and much shorter than a window, because a slot is
// unused in this time.
const shortestSpread = 3
const longestSpread = 30

/** @since 0.1.0 @category models */
export class AvailabilityCache {
  private cooling: ReadonlyArray<MonotonicMillis> = []
  private resumesAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private nextPoll: MonotonicMillis = Number.NEGATIVE_INFINITY

  private readonly limit: number
  private readonly cooldownMillis: number
  private readonly pollMillis: number
  /**
   * Maximum jitter of a poll, in ms. Without it, one process would always claim first. Slots that are free for longer are for any
   * process: every waiting process has polled since.
   */
  readonly spread: number

  constructor(limit: number, window: Duration.Duration) {
    const windowMillis = Duration.toMillis(window)
    this.limit = limit
    this.cooldownMillis = windowMillis + 1
    this.pollMillis = Math.min(longestPoll, windowMillis / 4)
    this.spread = Math.ceil(Math.min(longestSpread, Math.max(shortestSpread, windowMillis / 2_000)))
  }

  /** When to poll the database next. */
  get nextPollAt(): MonotonicMillis {
    return this.nextPoll
  }

  /** The end of the key's pause. */
  get pausedUntil(): MonotonicMillis {
    return this.resumesAt
  }

  /**
   * The earliest known moment at which a waiter with this many others ahead of it can get a slot: each slot serves one request per
   * window. `sent` is the number of this process's requests in flight.
   */
  earliest(at: MonotonicMillis, ahead: number, sent: number): MonotonicMillis {
    const [round, index] = this.placeOf(ahead, sent)
    const now = Math.max(at, this.resumesAt)
    const ready = index < 0 ? now : Math.max(now, this.cooling[index] ?? at + this.cooldownMillis)
    return ready + round * this.cooldownMillis
  }

  /** From this moment no slot can become free before the deadline. */
  missesDeadlineFrom(ahead: number, deadline: MonotonicMillis, sent: number): MonotonicMillis {
    const [round, index] = this.placeOf(ahead, sent)
    return deadline - (index < this.cooling.length ? round : round + 1) * this.cooldownMillis
  }

  // A slot of another process, and a slot that is missing in the snapshot, may become free at any moment.
  private placeOf(ahead: number, sent: number): readonly [round: number, index: number] {
    const known = Math.min(this.limit, this.cooling.length + sent)
    return [Math.floor(ahead / this.limit), ahead % this.limit - (this.limit - known)]
  }

  isPaused(at: MonotonicMillis): boolean {
    return at < this.resumesAt
  }

  /** Prevents claims before this moment. */
  pauseUntil(moment: MonotonicMillis): void {
    this.resumesAt = Math.max(this.resumesAt, moment)
  }

  /** Polls at this moment, if that is earlier: a slot may become free then. */
  pollFrom(moment: MonotonicMillis): void {
    this.nextPoll = Math.min(this.nextPoll, moment)
  }

  /** Delays the next poll until this moment. */
  pollNotBefore(moment: MonotonicMillis): void {
    this.nextPoll = moment
  }

  /** Drops the snapshot, which becomes outdated while no request waits. */
  clear(): void {
    this.cooling = []
    this.nextPoll = Number.NEGATIVE_INFINITY
  }

  /** Stores a snapshot. While other processes wait, the next poll is `jitter` milliseconds later. */
  update(snapshot: Snapshot, at: MonotonicMillis, jitter: number): void {
    this.pauseUntil(at + snapshot.pausedFor)
    this.cooling = snapshot.busy.flatMap(({ state, wait }) => state === "cooling" ? [at + wait] : []).sort((a, b) => a - b)
    const delay = snapshot.others > 0 ? jitter : 0
    const nextFree = snapshot.busy.reduce((least, { wait }) => Math.min(least, wait), Number.POSITIVE_INFINITY)
    const elsewhere = snapshot.busy.some(({ state }) => state === "in flight elsewhere")
    this.nextPoll = this.isPaused(at)
      ? this.resumesAt + delay
      // These slots are for other waiting processes. This process claims what is left after `spread`.
      : snapshot.free > 0
      ? at + 1 + (snapshot.others > 0 ? this.spread + delay : 0)
      : at + Math.min(nextFree + delay, elsewhere ? this.pollMillis : Number.POSITIVE_INFINITY)
  }
}
