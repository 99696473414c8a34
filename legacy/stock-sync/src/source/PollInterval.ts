/** The poll interval of a source that sends no notifications. */
import type * as Duration from "effect/Duration"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"

/** Emits after each interval. */
export const every = (interval: Duration.Duration): Stream.Stream<void> =>
  Stream.as(Stream.fromSchedule(Schedule.spaced(interval)), undefined)
