/**
 * Moments as the loop reckons with them: milliseconds of the monotonic clock, because a wall clock that is set back or forth must
 * neither stop the loop nor hurry it. What people read, and what the ledger keeps, is the wall clock's.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** @since 0.1.0 @category constructors */
export const now: Effect.Effect<number> = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1_000_000)

/**
 * Sleeps for so many milliseconds. Timers count whole ones, and waking early would only mean to sleep again.
 *
 * @since 0.1.0
 * @category sleeping
 */
export const sleep = (millis: number): Effect.Effect<void> => Effect.sleep(Duration.millis(Math.max(0, Math.ceil(millis))))

/** @since 0.1.0 @category sleeping */
export const sleepUntil = (moment: number): Effect.Effect<void> => Effect.flatMap(now, (at) => sleep(moment - at))

/** @since 0.1.0 @category models */
export interface Growth {
  readonly first: number
  readonly most: number
}

/**
 * The pause after so many failures, in milliseconds: twice as long each time, and never quite the same, so that those who failed
 * together don't come back together.
 *
 * @since 0.1.0
 * @category pauses
 */
export const pause = ({ first, most }: Growth, failures: number): Effect.Effect<number> =>
  Effect.map(Random.next, (random) => Math.ceil(Math.min(most, first * 2 ** Math.max(0, failures - 1)) * (0.75 + random / 4)))
