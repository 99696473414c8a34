/**
 * How often confirmed stock is sent again: with a share of the allowance, evenly spread, and only what was confirmed some
 * time ago. What waits goes first in any case.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as MonotonicClock from "./MonotonicClock.js"

export interface Options {
  /** Share of the allowance, 0 to 1. */
  readonly share: number
  /** Stock that was confirmed more recently is not sent again. */
  readonly after: Duration.Duration
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
}

export interface Reassertion {
  /** The moment (milliseconds since the epoch) before which stock must have been confirmed to be sent again now; none: not now. */
  readonly before: Effect.Effect<Option.Option<number>>
  /** Counts one request. */
  readonly spend: Effect.Effect<void>
  /** When the next request may follow, by the monotonic clock. */
  readonly next: () => number
}

export const make = ({ after, rateLimit, rateWindow, share }: Options): Reassertion => {
  const interval = share > 0 ? Duration.toMillis(rateWindow) / (rateLimit * share) : Number.POSITIVE_INFINITY
  let next = share > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return {
    before: Effect.flatMap(MonotonicClock.now,
      (moment) =>
        moment < next ? Effect.succeedNone : Effect.map(Clock.currentTimeMillis, (now) => Option.some(now - Duration.toMillis(after)))),
    spend: Effect.map(MonotonicClock.now, (moment) => {
      next = moment + interval
    }),
    next: () => next
  }
}
