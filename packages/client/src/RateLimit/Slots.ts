/**
 * The accounting of one key's slots, without waiting and without a clock: moments are given, in milliseconds. Knows
 * nothing of requests or fibers.
 *
 * @since 0.1.0
 */

// A service that counts a request which is exactly one window old must not refuse ours.
const safetyMillis = 1

/** @since 0.1.0 @category models */
export class Slots {
  private inFlight = 0
  /** When each answered slot comes free, earliest first: answers come in the order of time. */
  private cooling: Array<number> = []
  /** How many at the beginning of `cooling` are free again. They are thrown away in bulk: taking one moves all others. */
  private freed = 0
  private closedUntil = Number.NEGATIVE_INFINITY

  private readonly limit: number
  private readonly windowMillis: number

  constructor(limit: number, windowMillis: number) {
    this.limit = limit
    this.windowMillis = windowMillis
  }

  /** Slots that can be taken at this moment. */
  free(at: number): number {
    let first = this.cooling[this.freed]
    while (first !== undefined && first <= at) {
      first = this.cooling[++this.freed]
    }
    if (this.freed > this.cooling.length / 2) {
      this.cooling = this.cooling.slice(this.freed)
      this.freed = 0
    }
    return at < this.closedUntil ? 0 : this.open()
  }

  private open(): number {
    return this.limit - this.inFlight - (this.cooling.length - this.freed)
  }

  take(): void {
    this.inFlight++
  }

  /** The request in a slot was answered, or given up: the service may have counted it until now. */
  answered(at: number): void {
    this.inFlight--
    this.cooling.push(at + this.windowMillis + safetyMillis)
  }

  /** Nothing was sent from a slot. */
  giveBack(): void {
    this.inFlight--
  }

  /** Lets nothing go before this moment. */
  closeUntil(moment: number): void {
    this.closedUntil = Math.max(this.closedUntil, moment)
  }

  /** When the next slot comes free, as far as it is known: those in flight may be answered any time. */
  nextFree(at: number): number | undefined {
    return at < this.closedUntil ? this.closedUntil : this.cooling[this.freed]
  }

  /**
   * The earliest moment at which someone with so many others waiting before it can go. It may turn out later, never
   * earlier.
   */
  earliest(at: number, before: number): number {
    const needed = before - this.open()
    const place = Math.min(this.freed + needed, this.cooling.length - 1)
    return Math.max(at, this.closedUntil, needed < 0 ? at : this.cooling[place] ?? at)
  }
}
