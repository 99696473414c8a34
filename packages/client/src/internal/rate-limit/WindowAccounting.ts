/**
 * The accounting of one key's slots, without waiting and without a clock: moments are given, in milliseconds.
 *
 * @since 0.1.0
 */

// A service that counts a request which is exactly one window old must not refuse ours.
const safetyMillis = 1

/** @since 0.1.0 @category models */
export class Slots {
  /** Taken, and nothing sent yet: they may come back at any moment. */
  private unused = 0
  private sent = 0
  /** When each answered slot comes free, earliest first: answers come in the order of time. */
  private cooling: Array<number> = []
  /** How many at the beginning of `cooling` are free again. They are thrown away in bulk: taking one moves all others. */
  private freed = 0
  private closedUntil = Number.NEGATIVE_INFINITY

  private readonly limit: number
  private readonly turnMillis: number

  constructor(limit: number, windowMillis: number) {
    this.limit = limit
    this.turnMillis = windowMillis + safetyMillis
  }

  /** Slots that can be taken at this moment. */
  free(at: number): number {
    this.advance(at)
    return at < this.closedUntil ? 0 : Math.max(0, this.open())
  }

  /** Slots with requests in them, and those that are about to have one. */
  get inFlight(): number {
    return this.unused + this.sent
  }

  /** Until when no slot can be taken. */
  get pausedUntil(): number {
    return this.closedUntil
  }

  /** Requests answered within the last window. */
  recent(at: number): number {
    this.advance(at)
    return this.cooling.length - this.freed
  }

  private advance(at: number): void {
    let first = this.cooling[this.freed]
    while (first !== undefined && first <= at) {
      first = this.cooling[++this.freed]
    }
    if (this.freed > this.cooling.length / 2) {
      this.cooling = this.cooling.slice(this.freed)
      this.freed = 0
    }
  }

  /** Below 0 where more requests are counted than the limit allows. */
  private open(): number {
    return this.limit - this.inFlight - (this.cooling.length - this.freed)
  }

  take(): void {
    this.unused++
  }

  /** A request goes out in a slot that was taken. */
  send(): void {
    this.unused--
    this.sent++
  }

  /** The request in a slot was answered, or given up: the service may have counted it until now. */
  answered(at: number): void {
    this.sent--
    this.cooling.push(at + this.turnMillis)
  }

  /** Counts requests that were answered at these moments, of which no slot was taken here. */
  occupy(moments: ReadonlyArray<number>): void {
    this.cooling = [...this.cooling.slice(this.freed), ...moments.map((moment) => moment + this.turnMillis)].sort((one, other) => one - other)
    this.freed = 0
  }

  /** The service refused the request in a slot, and did not count it. */
  refused(): void {
    this.sent--
  }

  /** Nothing was sent from a slot. */
  giveBack(): void {
    this.unused--
  }

  /** Lets nothing go before this moment. */
  closeUntil(moment: number): void {
    this.closedUntil = Math.max(this.closedUntil, moment)
  }

  /** When the next slot can be taken, as far as it is known: those in flight may be answered any time. */
  nextFree(at: number): number | undefined {
    return this.free(at) > 0 ? at : at < this.closedUntil ? this.closedUntil : this.cooling[this.freed]
  }

  /**
   * The earliest moment at which someone with so many others waiting before it can go: each slot serves one request a
   * window. It may turn out later, never earlier, unless a request in flight is refused.
   */
  earliest(at: number, before: number): number {
    const [round, index] = this.placeOf(before)
    const now = Math.max(at, this.closedUntil)
    const ready = index < 0
      ? now
      : Math.max(now, this.cooling[this.freed + index] ?? at + this.turnMillis)
    return ready + round * this.turnMillis
  }

  /** When it will be known that someone in this place can't go before its deadline, if no slot comes free until then. */
  lost(before: number, deadline: number): number {
    const [round, index] = this.placeOf(before)
    const turns = index < this.cooling.length - this.freed ? round : round + 1
    return deadline - turns * this.turnMillis
  }

  /** How often every slot is used before, and which of the busy slots it is then; below 0 one that is not busy. */
  private placeOf(before: number): readonly [round: number, index: number] {
    return [Math.floor(before / this.limit), before % this.limit - this.open() - this.unused]
  }
}
