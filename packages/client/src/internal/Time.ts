/**
 * The monotonic clock as plain milliseconds. Waits and timeouts use it, because the wall clock may be set while they run.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * An instant of the monotonic clock, in milliseconds. A plain number, because the rate limit compares instants for every request.
 *
 * @since 0.1.0
 * @category models
 */
export type MonotonicMillis = number

/** The current instant of a clock. @since 0.1.0 @category getters */
export const monotonicNowUnsafe = (clock: Clock.Clock): MonotonicMillis => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000

/** Runs an effect with the current instant. @since 0.1.0 @category combinators */
export const monotonicWith = <A, E, R>(f: (now: MonotonicMillis) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Clock.clockWith((clock) => f(monotonicNowUnsafe(clock)))

/** The current instant. @since 0.1.0 @category getters */
export const monotonicNow: Effect.Effect<MonotonicMillis> = monotonicWith(Effect.succeed)

/** Sleeps until an instant. Yields even if the instant has passed. @since 0.1.0 @category combinators */
export const sleepUntil = (instant: MonotonicMillis): Effect.Effect<void> =>
  monotonicWith((now) => {
    const millis = Math.ceil(instant - now)
    return millis > 0 ? Effect.sleep(Duration.millis(millis)) : Effect.yieldNow
  })

/** Rounds up to whole milliseconds, the unit of timers. @since 0.1.0 @category conversions */
export const roundUp = (duration: Duration.Duration): Duration.Duration => Duration.millis(Math.ceil(Duration.toMillis(duration)))
