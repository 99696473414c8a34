/**
 * The wait queue of a process: those who wait for slots, in the order of asking, each until a deadline. Where slots come
 * from, and when, is up to its owner.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import { closed } from "../delivery/Closing.js"
import type { ClientClosed } from "../../ClientError.js"
import { RateLimitWaitExceeded } from "../../ClientError.js"
import type { WaitOptions } from "../../RateLimit.js"
import type { Restore } from "./Acquire.js"

/** None where the operation was paused meanwhile. @since 0.1.0 @category models */
export type Granted<S> = Option.Option<S>

/** @since 0.1.0 @category models */
export interface Waiter<S> {
  readonly deadline: number
  readonly options: WaitOptions
  readonly place: Deferred.Deferred<Granted<S>, RateLimitWaitExceeded | ClientClosed>
  granted: Granted<S>
}

/** What is known of when waiters can go. @since 0.1.0 @category models */
export interface Forecast {
  /** The earliest moment for someone with so many others before it. */
  readonly earliest: (before: number) => number
  /** When it will be known at the earliest that someone in this place can't go before its deadline. */
  readonly lost: (before: number, deadline: number) => number
}

/**
 * The failure of a wait that would end at a moment beyond the maximum wait.
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

// A long queue is looked through this often at most, except for deadlines.
const sweepEvery = 1_000

/** @since 0.1.0 @category models */
export class Line<S> {
  /** Those whose request the service refused. They keep their turn. */
  private readonly again = new Set<Waiter<S>>()
  private readonly waiters = new Set<Waiter<S>>()
  private next = Number.POSITIVE_INFINITY

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
    return this.again.size + this.waiters.size
  }

  /** How many go before someone who joins now. */
  before(options: WaitOptions): number {
    return options.again === true ? this.again.size : this.length
  }

  /** When to look through it next: no later than the first deadline. */
  get nextSweep(): number {
    return this.next
  }

  /** Stands at its end from now on; `wait` has to follow. */
  join(now: number, deadline: number, options: WaitOptions, forecast: Forecast): Waiter<S> {
    const waiter: Waiter<S> = { deadline, options, place: Deferred.unsafeMake(FiberId.none), granted: Option.none() }
    this.next = Math.min(this.next, sweepAt(now, deadline, forecast.lost(this.before(options), deadline)))
    const queue = options.again === true ? this.again : this.waiters
    queue.add(waiter)
    return waiter
  }

  private remove(waiter: Waiter<S>): boolean {
    return this.again.delete(waiter) || this.waiters.delete(waiter)
  }

  private end(waiter: Waiter<S>, result: Effect.Effect<Granted<S>, RateLimitWaitExceeded | ClientClosed>): void {
    this.remove(waiter)
    Deferred.unsafeDone(waiter.place, result)
  }

  wait(waiter: Waiter<S>, restore: Restore): Effect.Effect<Granted<S>, RateLimitWaitExceeded | ClientClosed> {
    const waiting = Effect.onInterrupt(restore(Deferred.await(waiter.place)), () => {
      this.remove(waiter)
      return Option.match(waiter.granted, { onNone: () => this.left, onSome: this.giveBack })
    })
    const { closing } = waiter.options
    if (closing === undefined) {
      return waiting
    }
    const remove = closing.onClose(() => {
      // One that has its slot by now goes on, and learns of it when it sends.
      if (this.remove(waiter)) {
        this.end(waiter, Effect.zipRight(this.left, Effect.fail(closed())))
      }
    })
    return Effect.ensuring(waiting, Effect.sync(remove))
  }

  /** Gives a slot to the first, if there is one. */
  serve(slot: S): boolean {
    const [waiter] = this.again.size > 0 ? this.again : this.waiters
    if (waiter === undefined) {
      return false
    }
    waiter.granted = Option.some(slot)
    this.end(waiter, Effect.succeed(waiter.granted))
    return true
  }

  /** Has those who wait for this operation ask again. */
  recall(operation: string): void {
    for (const waiter of this.all()) {
      if (waiter.options.operation === operation) {
        this.end(waiter, Effect.succeed(Option.none()))
      }
    }
  }

  /** Ends every wait. */
  close(): void {
    for (const waiter of this.all()) {
      this.end(waiter, Effect.fail(closed()))
    }
  }

  private all(): ReadonlyArray<Waiter<S>> {
    return [...this.again, ...this.waiters]
  }

  /** Fails those whose maximum wait has ended, or ends before the moment at which they can go. */
  sweep(now: number, { earliest, lost }: Forecast, why?: string): void {
    this.next = Number.POSITIVE_INFINITY
    let before = 0
    for (const waiter of this.all()) {
      const moment = Math.max(now, earliest(before))
      if (waiter.deadline <= now || waiter.deadline < moment) {
        this.end(waiter, waitExceeded(now, moment, why))
      } else {
        this.next = Math.min(this.next, sweepAt(now, waiter.deadline, lost(before, waiter.deadline)))
        before++
      }
    }
  }
}

// A millisecond later, since what can go at its deadline is in time.
const sweepAt = (now: number, deadline: number, lost: number): number =>
  Math.min(deadline, Math.max(now + sweepEvery, lost + 1))
