/**
 * The last snapshot of the slots in the database: when slots come free, until when the key is paused, and when to ask the
 * database again. It has no clock: callers pass moments, and the database returns spans of time.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type { MonotonicMillis } from "../../Compat.js"
import type { Snapshot } from "./SqlSlots.js"

// Slots in flight elsewhere are polled this often, or four times a window where that is more often.
const longestPoll = 1_000

/** @since 0.1.0 @category models */
export class AvailabilityCache {
  private cooling: ReadonlyArray<MonotonicMillis> = []
  private resumesAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private nextPoll: MonotonicMillis = Number.NEGATIVE_INFINITY

  private readonly limit: number
  private readonly cooldownMillis: number
  private readonly pollMillis: number
  /**
   * Processes that wait for the same moment poll up to this many milliseconds apart, so that none of them is always the first.
   */
  readonly spread: number

  constructor(limit: number, window: Duration.Duration) {
    const windowMillis = Duration.toMillis(window)
    this.limit = limit
    this.cooldownMillis = windowMillis + 1
    this.pollMillis = Math.min(longestPoll, windowMillis / 4)
    this.spread = Math.ceil(Math.min(100, Math.max(5, windowMillis / 500)))
  }

  /** The database has no news before this moment. */
  get nextPollAt(): MonotonicMillis {
    return this.nextPoll
  }

  /** Until when no slot can be claimed. */
  get pausedUntil(): MonotonicMillis {
    return this.resumesAt
  }

  /**
   * The earliest moment at which a waiter with this many others ahead of it can go, as far as it is known: each slot serves one
   * request a window. `sent` is the number of slots with requests of this process in them.
   */
  earliest(at: MonotonicMillis, ahead: number, sent: number): MonotonicMillis {
    const [round, index] = this.placeOf(ahead, sent)
    const now = Math.max(at, this.resumesAt)
    const ready = index < 0 ? now : Math.max(now, this.cooling[index] ?? at + this.cooldownMillis)
    return ready + round * this.cooldownMillis
  }

  /** When it is known that a waiter in this place misses its deadline, if no slot comes free until then. */
  knownLateAt(ahead: number, deadline: MonotonicMillis, sent: number): MonotonicMillis {
    const [round, index] = this.placeOf(ahead, sent)
    return deadline - (index < this.cooling.length ? round : round + 1) * this.cooldownMillis
  }

  // A slot of another process may come free at any moment, and so may one that is missing in the snapshot.
  private placeOf(ahead: number, sent: number): readonly [round: number, index: number] {
    const known = Math.min(this.limit, this.cooling.length + sent)
    return [Math.floor(ahead / this.limit), ahead % this.limit - (this.limit - known)]
  }

  isPaused(at: MonotonicMillis): boolean {
    return at < this.resumesAt
  }

  /** Lets no slot be claimed before this moment. */
  pauseUntil(moment: MonotonicMillis): void {
    this.resumesAt = Math.max(this.resumesAt, moment)
  }

  /** A slot may come free at this moment, earlier than the snapshot says. */
  pollFrom(moment: MonotonicMillis): void {
    this.nextPoll = Math.min(this.nextPoll, moment)
  }

  /** The database can't be reached before this moment. */
  pollNotBefore(moment: MonotonicMillis): void {
    this.nextPoll = moment
  }

  /** Drops the snapshot, which grows old while no request waits. */
  clear(): void {
    this.cooling = []
    this.nextPoll = Number.NEGATIVE_INFINITY
  }

  /** Takes a snapshot, and polls next up to `jitter` milliseconds later than other processes that wait. */
  update(snapshot: Snapshot, at: MonotonicMillis, jitter: number): void {
    this.pauseUntil(at + snapshot.pausedFor)
    this.cooling = snapshot.busy.flatMap(({ state, wait }) => state === "cooling" ? [at + wait] : []).sort((a, b) => a - b)
    const apart = snapshot.others > 0 ? jitter : 0
    const nextFree = snapshot.busy.reduce((least, { wait }) => Math.min(least, wait), Number.POSITIVE_INFINITY)
    const elsewhere = snapshot.busy.some(({ state }) => state === "in flight elsewhere")
    this.nextPoll = this.isPaused(at)
      ? this.resumesAt + apart
      // The free slots were left for other processes that wait. What they don't take is claimed a moment later.
      : snapshot.free > 0
      ? at + 1 + (snapshot.others > 0 ? this.spread + apart : 0)
      : at + Math.min(nextFree + apart, elsewhere ? this.pollMillis : Number.POSITIVE_INFINITY)
  }
}
