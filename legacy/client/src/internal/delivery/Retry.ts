/**
 * The default retry schedule. It decides when to retry; the delivery class decides whether a retry is safe.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Schedule from "effect/Schedule"
import { monotonicElapsed, wholeMillis } from "../Compat.ts"

/**
 * At most four retries within two minutes, with an exponential backoff from 250 milliseconds. The jitter prevents clients that
 * failed together from retrying together. A `Retry-After` applies in addition, within the call's maximum wait.
 *
 * @since 0.1.0
 * @category schedules
 */
export const defaultRetry: Schedule.Schedule<unknown> = Schedule.exponential("250 millis").pipe(
  Schedule.jittered,
  // Effect's test clock fails on a fraction of a millisecond.
  wholeMillis,
  Schedule.intersect(Schedule.recurs(4)),
  Schedule.intersect(Schedule.whileOutput(monotonicElapsed, Duration.lessThanOrEqualTo(Duration.minutes(2))))
)
