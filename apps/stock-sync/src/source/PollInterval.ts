/** Repeated looks at a source that sends no notifications. */
import type * as Duration from "effect/Duration"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"

/** Emits after each interval; the first time when one has passed. */
export const every = (interval: Duration.Duration): Stream.Stream<void> =>
  Stream.as(Stream.fromSchedule(Schedule.spaced(interval)), undefined)
