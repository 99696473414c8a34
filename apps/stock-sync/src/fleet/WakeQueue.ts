/** The times at which dormant accounts wake up: one sorted list instead of a timer for each account. */
import type { MonotonicMillis } from "../sync/MonotonicClock.ts"

interface Wake {
  readonly at: MonotonicMillis
  readonly account: string
}

export class WakeQueue {
  private readonly times = new Map<string, MonotonicMillis>()
  /** The earliest first. Moving ten thousand of them takes microseconds. */
  private readonly wakes: Array<Wake> = []

  /** Replaces the time of an account. An infinite one removes it. */
  set(account: string, at: MonotonicMillis): void {
    this.delete(account)
    if (!Number.isFinite(at)) return
    this.times.set(account, at)
    this.wakes.splice(this.countBefore(at, account), 0, { at, account })
  }

  delete(account: string): void {
    const at = this.times.get(account)
    if (at === undefined) return
    this.times.delete(account)
    this.wakes.splice(this.countBefore(at, account), 1)
  }

  /** The first time; infinite without one. */
  get next(): MonotonicMillis {
    return this.wakes[0]?.at ?? Number.POSITIVE_INFINITY
  }

  /** Removes and returns the accounts whose time has come, the earliest first, at most so many. */
  due(now: MonotonicMillis, most: number): ReadonlyArray<string> {
    const count = Math.max(0, Math.min(most, this.countBefore(now)))
    return this.wakes.splice(0, count).map(({ account }) => {
      this.times.delete(account)
      return account
    })
  }

  /** How many wakes come before this one, or with a time alone, not after it. */
  private countBefore(at: MonotonicMillis, account?: string): number {
    let low = 0
    let high = this.wakes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const wake = this.wakes[middle]
      const isBefore = wake !== undefined && (wake.at < at || (wake.at === at && (account === undefined || wake.account < account)))
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }
}
