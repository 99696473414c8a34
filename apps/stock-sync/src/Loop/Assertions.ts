/**
 * How often what was confirmed is asserted again: with a share of the allowance, evenly spread, and only of what was confirmed some
 * time ago. What waits goes first in any case; the share keeps room for what comes next. Knows nothing of what is sent.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Clock from "effect/Clock"
import * as Moment from "./Moment.js"

/** @since 0.1.0 @category models */
export interface Options {
  /** Of the allowance, 0 to 1. */
  readonly share: number
  /** What was confirmed more lately is left alone. */
  readonly after: Duration.Duration
  /** Requests in a window of so many milliseconds. */
  readonly allowance: { readonly limit: number; readonly windowMillis: number }
}

/** @since 0.1.0 @category models */
export interface Assertions {
  /** Before which moment of the wall clock a confirmation must lie to be asserted again now; none: nothing is, now. */
  readonly before: Effect.Effect<Option.Option<number>>
  /** One is. */
  readonly spend: Effect.Effect<void>
  /** When the next one may be; by the monotonic clock. */
  readonly next: () => number
}

/** @since 0.1.0 @category constructors */
export const make = ({ after, allowance, share }: Options): Assertions => {
  const interval = share > 0 ? allowance.windowMillis / (allowance.limit * share) : Number.POSITIVE_INFINITY
  let next = share > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return {
    before: Effect.flatMap(Moment.now, (moment) =>
      moment < next ? Effect.succeedNone : Effect.map(Clock.currentTimeMillis, (now) => Option.some(now - Duration.toMillis(after)))),
    spend: Effect.map(Moment.now, (moment) => {
      next = moment + interval
    }),
    next: () => next
  }
}
