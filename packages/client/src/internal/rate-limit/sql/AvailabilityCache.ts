/**
 * What a process knows of the slots in the database: when some come free, until when none may be taken, and from when on
 * it is of use to ask again. Without a clock: moments are given, and what the database returns is how long things take.
 *
 * @since 0.1.0
 */
import type { Look } from "./SqlSlots.js"

// Slots in flight elsewhere are looked at this often, or four times a window where that is more.
const longestPoll = 1_000

/** @since 0.1.0 @category models */
export class Outlook {
  private cooling: ReadonlyArray<number> = []
  private closedUntil = Number.NEGATIVE_INFINITY
  private askAgain = Number.NEGATIVE_INFINITY

  private readonly limit: number
  private readonly turnMillis: number
  private readonly poll: number
  /** Processes that wait for the same moment come a little apart, so that none is always the first. */
  readonly spread: number

  constructor(limit: number, windowMillis: number) {
    this.limit = limit
    this.turnMillis = windowMillis + 1
    this.poll = Math.min(longestPoll, windowMillis / 4)
    this.spread = Math.ceil(Math.min(100, Math.max(5, windowMillis / 500)))
  }

  /** Before this moment the database has nothing new to tell. */
  get askAgainAt(): number {
    return this.askAgain
  }

  /** Until when no slot can be taken. */
  get pausedUntil(): number {
    return this.closedUntil
  }

  /**
   * The earliest moment at which someone with so many others before it can go, as far as it is known: each slot serves one
   * request a window. `sent` are the slots with requests of this process in them.
   */
  earliest(at: number, before: number, sent: number): number {
    const [round, index] = this.placeOf(before, sent)
    const now = Math.max(at, this.closedUntil)
    const ready = index < 0 ? now : Math.max(now, this.cooling[index] ?? at + this.turnMillis)
    return ready + round * this.turnMillis
  }

  /** When it will be known that someone in this place can't go before its deadline, if no slot comes free until then. */
  lost(before: number, deadline: number, sent: number): number {
    const [round, index] = this.placeOf(before, sent)
    return deadline - (index < this.cooling.length ? round : round + 1) * this.turnMillis
  }

  // A slot of another process may come free at any moment, as may one that nobody has looked at.
  private placeOf(before: number, sent: number): readonly [round: number, index: number] {
    const known = Math.min(this.limit, this.cooling.length + sent)
    return [Math.floor(before / this.limit), before % this.limit - (this.limit - known)]
  }

  isClosed(at: number): boolean {
    return at < this.closedUntil
  }

  /** Lets nothing go before this moment. */
  closeUntil(moment: number): void {
    this.closedUntil = Math.max(this.closedUntil, moment)
  }

  /** Something may come free at this moment, earlier than the database told. */
  askFrom(moment: number): void {
    this.askAgain = Math.min(this.askAgain, moment)
  }

  /** The database did not answer. */
  notBefore(moment: number): void {
    this.askAgain = moment
  }

  /** Nobody waits, so nobody looks: what was known grows old. */
  forget(): void {
    this.cooling = []
    this.askAgain = Number.NEGATIVE_INFINITY
  }

  /** Takes in what the database said, and decides when to ask it again: `jitter` later than others who ask as well. */
  learn(seen: Look, at: number, jitter: number): void {
    this.closeUntil(at + seen.closedFor)
    this.cooling = seen.busy.flatMap(({ state, wait }) => state === "cooling" ? [at + wait] : []).sort((a, b) => a - b)
    const apart = seen.others > 0 ? jitter : 0
    const nextFree = seen.busy.reduce((least, { wait }) => Math.min(least, wait), Number.POSITIVE_INFINITY)
    const elsewhere = seen.busy.some(({ state }) => state === "in flight elsewhere")
    this.askAgain = this.isClosed(at)
      ? this.closedUntil + apart
      // What is free was left for others who wait; what they don't want is taken a moment later.
      : seen.free > 0
      ? at + 1 + (seen.others > 0 ? this.spread + apart : 0)
      : at + Math.min(nextFree + apart, elsewhere ? this.poll : Number.POSITIVE_INFINITY)
  }
}
