/**
 * How many requests may go at once. A service may allow the rate and yet refuse a burst, as a token bucket does that holds
 * fewer tokens than the limit. Nothing is held back until a request is refused although the limit was not used up. From
 * then on requests are a window divided by the limit apart, with bursts of half the size that was accepted; the size
 * grows again with each limit of requests that are accepted. Moments are given, in milliseconds.
 *
 * @since 0.1.0
 */

// Twelve limits of accepted requests without a refusal, and the whole limit may go at once again.
const growthSteps = 12

/** @since 0.1.0 @category models */
export class Pace {
  private readonly limit: number
  private readonly window: number
  /** How far apart requests are that use the limit evenly. */
  readonly interval: number
  private burst: number
  /** When the next request would go if requests came one interval apart; with a burst, so many intervals earlier. */
  private nextAt = Number.NEGATIVE_INFINITY
  private loweredAt = Number.NEGATIVE_INFINITY
  private acceptedSince = 0
  private pausedAt = Number.NEGATIVE_INFINITY
  private pauses = 0

  constructor(limit: number, windowMillis: number) {
    this.limit = limit
    this.window = windowMillis
    this.interval = windowMillis / limit
    this.burst = limit
  }

  /** The earliest moment at which someone with so many others before it may go. */
  earliest(before: number): number {
    return this.nextAt - (this.burst - 1 - before) * this.interval
  }

  /** Requests that may go at this moment. */
  free(at: number): number {
    return Math.max(0, Math.floor((at - this.earliest(0)) / this.interval) + 1)
  }

  /** Whether requests are held back. */
  get isHeld(): boolean {
    return this.nextAt !== Number.NEGATIVE_INFINITY
  }

  /** A request takes its turn. */
  take(at: number): void {
    if (this.burst === this.limit && this.nextAt <= at) {
      // All that a limit's worth of quiet brings back is there: the slots alone decide.
      this.nextAt = Number.NEGATIVE_INFINITY
    }
    if (this.isHeld) {
      this.nextAt = Math.max(this.nextAt, at) + this.interval
    }
  }

  /** Nothing was sent. */
  giveBack(): void {
    this.nextAt -= this.interval
  }

  /** The service accepted a request. */
  accepted(sentAt: number): void {
    if (sentAt < this.pausedAt) {
      return
    }
    this.pauses = 0
    if (this.burst < this.limit && ++this.acceptedSince >= this.limit) {
      this.acceptedSince = 0
      const larger = Math.min(this.limit, this.burst + Math.ceil(this.limit / growthSteps))
      // What is larger is what a quiet time brings back, not what may go at this moment.
      this.nextAt += (larger - this.burst) * this.interval
      this.burst = larger
    }
  }

  /** How long to wait where the service does not say: longer with each refusal in a row, a window at most. */
  backoff(at: number, sentAt: number): number {
    if (sentAt >= this.pausedAt) {
      this.pausedAt = at
      this.pauses++
    }
    return Math.min(this.window, this.interval * 2 ** Math.min(30, this.pauses - 1))
  }

  /** The service refused a request, with so many accepted in the last window, and wants none before the pause ends. */
  refused(at: number, sentAt: number, recent: number, pausedUntil: number): void {
    if (recent >= this.limit) {
      return
    }
    // Requests that were sent together and are refused together tell of one burst.
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
