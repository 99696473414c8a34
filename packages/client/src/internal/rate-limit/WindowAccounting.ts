/**
 * The accounting of one key's slots in a sliding window. It has no clock: callers pass moments.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type { MonotonicMillis } from "../Compat.js"

// A service that counts a request which is exactly one window old must not refuse ours.
const safetyMillis = 1

/** @since 0.1.0 @category models */
export class WindowAccounting {
  /** Slots that were acquired and have sent nothing yet. Each may be released at any moment. */
  private unused = 0
  private sent = 0
  /** When each completed slot comes free, earliest first: requests complete in the order of time. */
  private cooling: Array<MonotonicMillis> = []
  /** How many at the beginning of `cooling` are free. They are removed in bulk, because removing one moves all others. */
  private freed = 0
  private resumesAt = Number.NEGATIVE_INFINITY

  private readonly limit: number
  private readonly cooldownMillis: number

  constructor(limit: number, window: Duration.Duration) {
    this.limit = limit
    this.cooldownMillis = Duration.toMillis(window) + safetyMillis
  }

  /** Slots that can be acquired at this moment. */
  free(at: MonotonicMillis): number {
    this.advance(at)
    return at < this.resumesAt ? 0 : Math.max(0, this.open())
  }

  /** Slots with requests in them, and those that are about to have one. */
  get inFlight(): number {
    return this.unused + this.sent
  }

  /** Until when no slot can be acquired. */
  get pausedUntil(): MonotonicMillis {
    return this.resumesAt
  }

  /** Requests that completed within the last window. */
  recent(at: MonotonicMillis): number {
    this.advance(at)
    return this.cooling.length - this.freed
  }

  private advance(at: MonotonicMillis): void {
    let first = this.cooling[this.freed]
    while (first !== undefined && first <= at) {
      first = this.cooling[++this.freed]
    }
    if (this.freed > this.cooling.length / 2) {
      this.cooling = this.cooling.slice(this.freed)
      this.freed = 0
    }
  }

  /** Negative where more requests are counted than the limit allows. */
  private open(): number {
    return this.limit - this.inFlight - (this.cooling.length - this.freed)
  }

  acquire(): void {
    this.unused++
  }

  /** A request goes out in a slot that was acquired. */
  send(): void {
    this.unused--
    this.sent++
  }

  /** The request in a slot got its response or was given up. The service may have counted it until now. */
  complete(at: MonotonicMillis): void {
    this.sent--
    this.cooling.push(at + this.cooldownMillis)
  }

  /** Counts requests that completed at these moments, for which no slot was acquired here. */
  occupy(moments: ReadonlyArray<MonotonicMillis>): void {
    this.cooling = [...this.cooling.slice(this.freed), ...moments.map((moment) => moment + this.cooldownMillis)].sort((one, other) =>
      one - other
    )
    this.freed = 0
  }

  /** The service refused the request in a slot and did not count it. */
  discard(): void {
    this.sent--
  }

  /** Nothing was sent from a slot. */
  release(): void {
    this.unused--
  }

  /** Lets no slot be acquired before this moment. */
  pauseUntil(moment: MonotonicMillis): void {
    this.resumesAt = Math.max(this.resumesAt, moment)
  }

  /** When the next slot comes free, as far as it is known: requests in flight may complete at any moment. */
  nextFree(at: MonotonicMillis): MonotonicMillis | undefined {
    return this.free(at) > 0 ? at : at < this.resumesAt ? this.resumesAt : this.cooling[this.freed]
  }

  /**
   * The earliest moment at which a waiter with this many others ahead of it can go: each slot serves one request a window.
   * The real moment may be later. It is earlier only where the service refuses a request in flight.
   */
  earliest(at: MonotonicMillis, ahead: number): MonotonicMillis {
    const [round, index] = this.placeOf(ahead)
    const now = Math.max(at, this.resumesAt)
    const ready = index < 0
      ? now
      : Math.max(now, this.cooling[this.freed + index] ?? at + this.cooldownMillis)
    return ready + round * this.cooldownMillis
  }

  /** When it is known that a waiter in this place misses its deadline, if no slot comes free until then. */
  knownLateAt(ahead: number, deadline: MonotonicMillis): MonotonicMillis {
    const [round, index] = this.placeOf(ahead)
    const rounds = index < this.cooling.length - this.freed ? round : round + 1
    return deadline - rounds * this.cooldownMillis
  }

  /** How often every slot is used before, and the index of the busy slot that is used then; negative for a free slot. */
  private placeOf(ahead: number): readonly [round: number, index: number] {
    return [Math.floor(ahead / this.limit), ahead % this.limit - this.open() - this.unused]
  }
}
