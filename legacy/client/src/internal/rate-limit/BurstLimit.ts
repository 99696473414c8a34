/**
 * Limits bursts to the size that the service accepts. A service may allow the rate and still refuse a burst, such as a token bucket
 * with fewer tokens than the limit. The burst limit delays no request until the service refuses a request below the limit. Then it spaces
 * requests by the window divided by the limit, and allows bursts of half the accepted size. The burst size grows after every `limit`
 * accepted requests.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type { MonotonicMillis } from "../Compat.ts"
import { doubled } from "../Compat.ts"

// The burst size is back at the limit after 12 times `limit` accepted requests without a refusal.
const growthSteps = 12

/** @since 0.1.0 @category models */
export class BurstLimit {
  private readonly limit: number
  /** The window divided by the limit, in milliseconds. */
  readonly interval: number
  private readonly window: Duration.Duration
  private burst: number
  /** The moment of the next request without bursts. A burst allows it that many intervals earlier. */
  private nextAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private loweredAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private acceptedSince = 0
  private pausedAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private pauses = 0

  constructor(limit: number, window: Duration.Duration) {
    this.limit = limit
    this.interval = Duration.toMillis(window) / limit
    this.window = window
    this.burst = limit
  }

  /** The earliest moment for the request of a waiter with this many others ahead of it. */
  earliest(ahead: number): MonotonicMillis {
    return this.nextAt - (this.burst - 1 - ahead) * this.interval
  }

  /** The number of requests that the burst limit allows at this moment. */
  free(at: MonotonicMillis): number {
    return Math.max(0, Math.floor((at - this.earliest(0)) / this.interval) + 1)
  }

  /** Whether the burst limit delays requests. */
  get isActive(): boolean {
    return this.nextAt !== Number.NEGATIVE_INFINITY
  }

  /** Counts a request. */
  acquire(at: MonotonicMillis): void {
    if (this.burst === this.limit && this.nextAt <= at) {
      // The burst size is back at the limit, so only the slots limit requests.
      this.nextAt = Number.NEGATIVE_INFINITY
    }
    if (this.isActive) {
      this.nextAt = Math.max(this.nextAt, at) + this.interval
    }
  }

  /** Uncounts a request that was not sent. */
  release(): void {
    this.nextAt -= this.interval
  }

  /** Records a request that the service accepted. */
  accepted(sentAt: MonotonicMillis): void {
    if (sentAt < this.pausedAt) {
      return
    }
    this.pauses = 0
    if (this.burst < this.limit && ++this.acceptedSince >= this.limit) {
      this.acceptedSince = 0
      const larger = Math.min(this.limit, this.burst + Math.ceil(this.limit / growthSteps))
      // The larger burst is available only after a time without requests, not at this moment.
      this.nextAt += (larger - this.burst) * this.interval
      this.burst = larger
    }
  }

  /** The pause after a 429 without `Retry-After`: longer after each refusal in a row, at most a window. */
  backoff(at: MonotonicMillis, sentAt: MonotonicMillis): Duration.Duration {
    if (sentAt >= this.pausedAt) {
      this.pausedAt = at
      this.pauses++
    }
    return doubled(Duration.millis(this.interval), this.window, Math.max(0, this.pauses - 1))
  }

  /**
   * Records a request that the service refused, with `recent` accepted requests in the last window and a pause until `pausedUntil`.
   */
  refused(at: MonotonicMillis, sentAt: MonotonicMillis, recent: number, pausedUntil: MonotonicMillis): void {
    if (recent >= this.limit) {
      return
    }
    // Requests that were in flight together and refused together belong to one burst.
    if (sentAt >= this.loweredAt) {
      this.loweredAt = at
      this.acceptedSince = 0
      this.burst = Math.max(1, Math.floor(Math.min(this.burst, recent) / 2))
      this.nextAt = Number.NEGATIVE_INFINITY
    }
    // One request is allowed when the pause ends, and the others an interval apart.
    this.nextAt = Math.max(this.nextAt, pausedUntil + (this.burst - 1) * this.interval)
  }
}
