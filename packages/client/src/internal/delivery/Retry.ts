/**
 * The default retry schedule. The delivery class decides whether a request may be sent again at all.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schedule from "effect/Schedule"
import { elapsed } from "../MonotonicTime.js"

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
