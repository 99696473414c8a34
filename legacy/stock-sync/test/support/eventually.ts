/** Waits in real time. */
import { Data, Effect, Schedule } from "effect"

class NotInTime extends Data.TaggedError("NotInTime")<{ readonly seen: unknown }> {}

/** Reads ten times a second until a condition holds, and returns what it read. Fails after half a minute, with what it read last. */
export const eventually = <A, E, R>(read: Effect.Effect<A, E, R>, holds: (found: A) => boolean): Effect.Effect<A, E | NotInTime, R> =>
  read.pipe(
    Effect.filterOrFail(holds, (seen) => new NotInTime({ seen })),
    Effect.retry(Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(300)))
  )
