/**
 * The burst size that the service accepts. A service may allow the rate and still refuse a burst, as a token bucket does that
 * holds fewer tokens than the limit. The pace holds nothing back until the service refuses a request below the limit. From then
 * on it spaces requests by a window divided by the limit, with bursts of half the accepted size, and the burst grows with each
 * limit of accepted requests.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { MonotonicMillis } from "../Compat.js"
import { firstDelays } from "../Compat.js"

// Twelve limits of accepted requests without a refusal restore the whole burst.
const growthSteps = 12

/** @since 0.1.0 @category models */
export class Pace {
  private readonly limit: number
  /** How far apart requests are that use the limit evenly, in milliseconds. */
  readonly interval: number
  /** The pause for each further refusal in a row. */
  private readonly backoffs: ReadonlyArray<Duration.Duration>
  private burst: number
  /** When the next request would go if requests came one interval apart; with a burst, that many intervals earlier. */
  private nextAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private loweredAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private acceptedSince = 0
  private pausedAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private pauses = 0

  constructor(limit: number, window: Duration.Duration, backoffs: ReadonlyArray<Duration.Duration>) {
    this.limit = limit
    this.interval = Duration.toMillis(window) / limit
    this.backoffs = backoffs
    this.burst = limit
  }

  /** The earliest moment at which a waiter with this many others ahead of it may go. */
  earliest(ahead: number): MonotonicMillis {
    return this.nextAt - (this.burst - 1 - ahead) * this.interval
  }

  /** Requests that may go at this moment. */
  free(at: MonotonicMillis): number {
    return Math.max(0, Math.floor((at - this.earliest(0)) / this.interval) + 1)
  }

  /** Whether requests are held back. */
  get isHeld(): boolean {
    return this.nextAt !== Number.NEGATIVE_INFINITY
  }

  /** A request uses its place. */
  acquire(at: MonotonicMillis): void {
    if (this.burst === this.limit && this.nextAt <= at) {
      // The whole burst is restored: the slots alone decide.
      this.nextAt = Number.NEGATIVE_INFINITY
    }
    if (this.isHeld) {
      this.nextAt = Math.max(this.nextAt, at) + this.interval
    }
  }

  /** Nothing was sent. */
  release(): void {
    this.nextAt -= this.interval
  }

  /** The service accepted a request. */
  accepted(sentAt: MonotonicMillis): void {
    if (sentAt < this.pausedAt) {
      return
    }
    this.pauses = 0
    if (this.burst < this.limit && ++this.acceptedSince >= this.limit) {
      this.acceptedSince = 0
      const larger = Math.min(this.limit, this.burst + Math.ceil(this.limit / growthSteps))
      // A quiet time earns the larger burst; it may not go at this moment.
      this.nextAt += (larger - this.burst) * this.interval
      this.burst = larger
    }
  }

  /** The pause after a 429 without `Retry-After`: longer with each refusal in a row, a window at most. */
  backoff(at: MonotonicMillis, sentAt: MonotonicMillis): Duration.Duration {
    if (sentAt >= this.pausedAt) {
      this.pausedAt = at
      this.pauses++
    }
    return this.backoffs[Math.min(this.backoffs.length, Math.max(1, this.pauses)) - 1] ?? Duration.zero
  }

  /**
   * The service refused a request, with `recent` requests accepted in the last window, and accepts none before `pausedUntil`.
   */
  refused(at: MonotonicMillis, sentAt: MonotonicMillis, recent: number, pausedUntil: MonotonicMillis): void {
    if (recent >= this.limit) {
      return
    }
    // Requests that were sent together and refused together belong to one burst.
    if (sentAt >= this.loweredAt) {
      this.loweredAt = at
      this.acceptedSince = 0
      this.burst = Math.max(1, Math.floor(Math.min(this.burst, recent) / 2))
      this.nextAt = Number.NEGATIVE_INFINITY
    }
    // One request goes when the pause ends; the others follow an interval apart.
    this.nextAt = Math.max(this.nextAt, pausedUntil + (this.burst - 1) * this.interval)
  }
}

/** @since 0.1.0 @category constructors */
export const make = (limit: number, window: Duration.Duration): Effect.Effect<Pace> => {
  const interval = Duration.millis(Duration.toMillis(window) / limit)
  const backoff = Schedule.either(Schedule.exponential(interval), Schedule.spaced(window))
  // From the interval to the window, which is as many intervals as the limit.
  const steps = Math.ceil(Math.log2(limit)) + 1
  return Effect.map(firstDelays(backoff, steps), (backoffs) => new Pace(limit, window, backoffs))
}
