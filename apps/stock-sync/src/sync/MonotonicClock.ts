/**
 * Milliseconds of the monotonic clock, which the engine waits by: a wall clock that is set must neither stop nor hurry it.
 * What people read and what the ledger keeps is the wall clock's.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export const now: Effect.Effect<number> = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1_000_000)

// Timers count whole milliseconds, and waking early would only mean to sleep again.
export const sleepUntil = (moment: number): Effect.Effect<void> =>
  Effect.flatMap(now, (at) => Effect.sleep(Duration.millis(Math.max(0, Math.ceil(moment - at)))))
