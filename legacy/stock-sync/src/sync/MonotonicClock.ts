/**
 * The monotonic clock. The worker waits by it, because a wall clock may be set while it waits. Times for people and for the ledger are
 * those of the wall clock.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A time of the monotonic clock in milliseconds. It has no date, so it is no `DateTime`. */
export type MonotonicMillis = number

export const now: Effect.Effect<MonotonicMillis> = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1_000_000)

// Timers count whole milliseconds. Rounding down would wake too early.
export const sleepUntil = (time: MonotonicMillis): Effect.Effect<void> =>
  Effect.flatMap(now, (current) => Effect.sleep(Duration.millis(Math.max(0, Math.ceil(time - current)))))
