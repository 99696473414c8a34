/**
 * When something that may be sent again is sent again. Whether it may is the delivery class's business, not this
 * file's.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schedule from "effect/Schedule"

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
  Schedule.intersect(
    Schedule.elapsed.pipe(Schedule.whileOutput(Duration.lessThanOrEqualTo(Duration.minutes(2))))
  )
)
