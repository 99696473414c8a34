/**
 * The default retry schedule. The delivery class decides whether a request may be sent again at all.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleInterval from "effect/ScheduleInterval"
import { now } from "./Moment.js"

/** `Schedule.elapsed` by the monotonic clock: the wall clock may be set while a call goes on. */
const elapsed = Schedule.makeWithState<number | undefined, unknown, Duration.Duration>(undefined, (wallNow, _, from) =>
  Effect.map(now, (now) => [
    from ?? now,
    Duration.millis(now - (from ?? now)),
    ScheduleDecision.continueWith(ScheduleInterval.after(wallNow))
  ]))

/**
 * Exponential from a quarter of a second, jittered so that clients which failed together don't return together; four
 * times at most and within two minutes. A `Retry-After` is waited for in addition, within the call's maximum wait.
 *
 * @since 0.1.0
 * @category schedules
 */
export const defaultRetry: Schedule.Schedule<unknown> = Schedule.exponential("250 millis").pipe(
  Schedule.jittered,
  // Timers count whole milliseconds, and Effect's test clock fails on a part of one.
  Schedule.modifyDelay((_, delay) => Duration.millis(Math.ceil(Duration.toMillis(delay)))),
  Schedule.intersect(Schedule.recurs(4)),
  Schedule.intersect(Schedule.whileOutput(elapsed, Duration.lessThanOrEqualTo(Duration.minutes(2))))
)
