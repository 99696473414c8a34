/**
 * The accounting of one key's slots in a sliding window. It has no clock: callers pass moments.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type { MonotonicMillis } from "../Compat.ts"

// A service may still count a request that is exactly one window old.
const safetyMillis = 1

/** @since 0.1.0 @category models */
export class WindowAccounting {
  /** Acquired slots without a request. Each may be released at any moment. */
  private unused = 0
  /** Slots with a request in flight. */
  private sent = 0
  /** When each completed slot becomes free, earliest first. */
  private cooling: Array<MonotonicMillis> = []
  /** The number of free slots at the start of `cooling`. They are removed in bulk, because removing one moves all others. */
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

  /** The number of slots with a request in flight, and of acquired slots without a request. */
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

  /** The number of free slots; negative if more requests are counted than the limit allows. */
  private open(): number {
    return this.limit - this.inFlight - (this.cooling.length - this.freed)
  }

  acquire(): void {
    this.unused++
  }

  /** Sends a request in an acquired slot. */
  send(): void {
    this.unused--
    this.sent++
  }

  /** Ends the request in a slot, with or without a response. The service counted it at some time before now. */
  complete(at: MonotonicMillis): void {
    this.sent--
    this.cooling.push(at + this.cooldownMillis)
  }

  /** Counts requests of another process that completed at these moments. */
  occupy(moments: ReadonlyArray<MonotonicMillis>): void {
    this.cooling = [...this.cooling.slice(this.freed), ...moments.map((moment) => moment + this.cooldownMillis)].sort((one, other) =>
      one - other
    )
    this.freed = 0
  }

  /** Frees the slot of a request that the service refused and did not count. */
  discard(): void {
    this.sent--
  }

  /** Frees an unused slot. */
  release(): void {
    this.unused--
  }

  /** Prevents the acquisition of slots before this moment. */
  pauseUntil(moment: MonotonicMillis): void {
    this.resumesAt = Math.max(this.resumesAt, moment)
  }

  /** The earliest known moment at which a slot is free. Undefined while all slots have a request in flight. */
  nextFree(at: MonotonicMillis): MonotonicMillis | undefined {
    return this.free(at) > 0 ? at : at < this.resumesAt ? this.resumesAt : this.cooling[this.freed]
  }

  /**
   * The earliest moment at which a waiter with this many others ahead of it can get a slot: each slot serves one request per window.
   * The actual moment may be later. It is earlier only if the service refuses a request in flight.
   */
  earliest(at: MonotonicMillis, ahead: number): MonotonicMillis {
    const [round, index] = this.placeOf(ahead)
    const now = Math.max(at, this.resumesAt)
    const ready = index < 0
      ? now
      : Math.max(now, this.cooling[this.freed + index] ?? at + this.cooldownMillis)
    return ready + round * this.cooldownMillis
  }

  /** From this moment no slot can become free before the deadline. */
  missesDeadlineFrom(ahead: number, deadline: MonotonicMillis): MonotonicMillis {
    const [round, index] = this.placeOf(ahead)
    const rounds = index < this.cooling.length - this.freed ? round : round + 1
    return deadline - rounds * this.cooldownMillis
  }

  /** How often every slot is used before this waiter, and the index of the busy slot that it gets; negative for a free slot. */
  private placeOf(ahead: number): readonly [round: number, index: number] {
    return [Math.floor(ahead / this.limit), ahead % this.limit - this.open() - this.unused]
  }
}
