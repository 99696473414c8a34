/**
 * Those who wait for slots in this process, in the order of asking, each with its patience. Knows nothing of where slots
 * come from, nor of when they do.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import { RateLimitWaitExceeded } from "../Failures.js"
import type { Restore } from "./Taking.js"

interface Waiter<S> {
  readonly deadline: number
  readonly place: Deferred.Deferred<S, RateLimitWaitExceeded>
  granted: Option.Option<S>
}

/**
 * The failure of a wait that would end at a moment beyond all patience.
 *
 * @since 0.1.0
 * @category constructors
 */
export const waitExceeded = (
  now: number,
  goesAt: number,
  why = "the key's allowance is used up for now"
): Effect.Effect<never, RateLimitWaitExceeded> =>
  Effect.flatMap(DateTime.now, (wallNow) => {
    const retryAt = DateTime.add(wallNow, { millis: Math.ceil(goesAt - now) })
    return new RateLimitWaitExceeded({ retryAt, message: `${why}; come back at ${DateTime.formatIso(retryAt)}` })
  })

/** @since 0.1.0 @category models */
export class Line<S> {
  private readonly waiters = new Set<Waiter<S>>()
  private firstDeadline = Number.POSITIVE_INFINITY

  private readonly left: Effect.Effect<void>
  private readonly giveBack: (slot: S) => Effect.Effect<void>

  constructor(options: {
    /** Someone went away without a slot. */
    readonly left: Effect.Effect<void>
    /** Someone went away at the very moment at which it got one. */
    readonly giveBack: (slot: S) => Effect.Effect<void>
  }) {
    this.left = options.left
    this.giveBack = options.giveBack
  }

  get length(): number {
    return this.waiters.size
  }

  /** When the first of those waiting may run out of patience: never later than it does. */
  get impatientAt(): number {
    return this.firstDeadline
  }

  /** Stands at its end from now on; `wait` has to follow. */
  join(deadline: number): Waiter<S> {
    const waiter: Waiter<S> = { deadline, place: Deferred.unsafeMake(FiberId.none), granted: Option.none() }
    this.waiters.add(waiter)
    this.firstDeadline = Math.min(this.firstDeadline, deadline)
    return waiter
  }

  wait(waiter: Waiter<S>, restore: Restore): Effect.Effect<S, RateLimitWaitExceeded> {
    return Effect.onInterrupt(restore(Deferred.await(waiter.place)), () => {
      this.waiters.delete(waiter)
      return Option.match(waiter.granted, { onNone: () => this.left, onSome: this.giveBack })
    })
  }

  /** Gives a slot to the first, if there is one. */
  serve(slot: S): boolean {
    const [waiter] = this.waiters
    if (waiter === undefined) {
      return false
    }
    this.waiters.delete(waiter)
    waiter.granted = Option.some(slot)
    Deferred.unsafeDone(waiter.place, Effect.succeed(slot))
    return true
  }

  /**
   * Sends away those whose patience has ended, or ends before the moment at which someone with so many others before it
   * can go.
   */
  sendAway(now: number, goesAt: (before: number) => number, why?: string): void {
    this.firstDeadline = Number.POSITIVE_INFINITY
    let before = 0
    for (const waiter of this.waiters) {
      const moment = Math.max(now, goesAt(before))
      if (waiter.deadline <= now || waiter.deadline < moment) {
        this.waiters.delete(waiter)
        Deferred.unsafeDone(waiter.place, waitExceeded(now, moment, why))
      } else {
        before++
        this.firstDeadline = Math.min(this.firstDeadline, waiter.deadline)
      }
    }
  }
}
