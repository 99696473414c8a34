/**
 * The present moment in milliseconds of the monotonic clock. Waits and time limits are measured by it, because a wall
 * clock may be set back or forward while they run.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleInterval from "effect/ScheduleInterval"

/** Continues with the present moment. @since 0.1.0 @category combinators */
export const at = <A, E, R>(then: (now: number) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Clock.clockWith((clock) => then(Number(clock.unsafeCurrentTimeNanos()) / 1_000_000))

/** @since 0.1.0 @category constructors */
export const now: Effect.Effect<number> = at(Effect.succeed)

/** `Schedule.elapsed` by the monotonic clock. @since 0.1.0 @category schedules */
export const elapsed: Schedule.Schedule<Duration.Duration> = Schedule.makeWithState<number | undefined, unknown, Duration.Duration>(
  undefined,
  (wallNow, _, from) =>
    Effect.map(now, (now) => [
      from ?? now,
      Duration.millis(now - (from ?? now)),
      ScheduleDecision.continueWith(ScheduleInterval.after(wallNow))
    ])
)
