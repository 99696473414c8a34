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
  private readonly cooling: Array<number> = []
  private closedUntil = Number.NEGATIVE_INFINITY

  private readonly limit: number
  private readonly windowMillis: number

  constructor(limit: number, windowMillis: number) {
    this.limit = limit
    this.windowMillis = windowMillis
  }

  /** Slots that can be taken at this moment. */
  free(at: number): number {
    while (this.cooling[0] !== undefined && this.cooling[0] <= at) {
      this.cooling.shift()
    }
    return at < this.closedUntil ? 0 : this.limit - this.inFlight - this.cooling.length
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
    return at < this.closedUntil ? this.closedUntil : this.cooling[0]
  }

  /**
   * The earliest moment at which someone with so many others waiting before it can go. It may turn out later, never
   * earlier.
   */
  earliest(at: number, before: number): number {
    const open = this.limit - this.inFlight - this.cooling.length
    const needed = before - open
    return Math.max(at, this.closedUntil, needed < 0 ? at : this.cooling[Math.min(needed, this.cooling.length - 1)] ?? at)
  }
}
