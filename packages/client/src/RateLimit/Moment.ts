/**
 * Moments, as the allowance reckons with them: milliseconds of the monotonic clock, because a wall clock that is set back
 * or forth must not open the gate.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Goes on with the present moment. @since 0.1.0 @category combinators */
export const at = <A, E, R>(then: (now: number) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Clock.clockWith((clock) => then(Number(clock.unsafeCurrentTimeNanos()) / 1_000_000))

/** @since 0.1.0 @category constructors */
export const now: Effect.Effect<number> = at(Effect.succeed)
