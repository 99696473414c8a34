/** The times at which dormant accounts wake up: one sorted set instead of a timer for each account. */
import * as Data from "effect/Data"
import * as Order from "effect/Order"
import * as SortedSet from "effect/SortedSet"
import type { MonotonicMillis } from "../sync/MonotonicClock.ts"

// Found by value, so the tuples are those of `Data`.
type Wake = readonly [at: MonotonicMillis, account: string]

const order: Order.Order<Wake> = Order.tuple(Order.number, Order.string)

export class WakeQueue {
  private readonly times = new Map<string, MonotonicMillis>()
  private wakes = SortedSet.empty(order)

  /** Replaces the time of an account. An infinite one removes it. */
  set(account: string, at: MonotonicMillis): void {
    this.delete(account)
    if (!Number.isFinite(at)) return
    this.times.set(account, at)
    this.wakes = SortedSet.add(this.wakes, Data.tuple(at, account))
  }

  delete(account: string): void {
    const at = this.times.get(account)
    if (at === undefined) return
    this.times.delete(account)
    this.wakes = SortedSet.remove(this.wakes, Data.tuple(at, account))
  }

  /** The first time; infinite without one. */
  get next(): MonotonicMillis {
    for (const [at] of this.wakes) return at
    return Number.POSITIVE_INFINITY
  }

  /** Removes and returns the accounts whose time has come, the earliest first, at most so many. */
  due(now: MonotonicMillis, most: number): ReadonlyArray<string> {
    const accounts: Array<string> = []
    for (const [at, account] of this.wakes) {
      if (at > now || accounts.length >= most) break
      accounts.push(account)
    }
    accounts.forEach((account) => this.delete(account))
    return accounts
  }
}
