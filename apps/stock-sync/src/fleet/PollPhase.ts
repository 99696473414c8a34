/**
 * When an account is polled: once per interval, at a time that follows from its id. Accounts with the same interval are spread evenly over
 * it, and keep their times on every runner and after every restart.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as MonotonicClock from "../sync/MonotonicClock.ts"

/** The place of an account in every interval, from 0 to 1. */
export const of = (account: string): number => createHash("sha256").update(account).digest().readUInt32BE(0) / 2 ** 32

/** The first time of an account with this phase after now. */
export const next = (phase: number, interval: Duration.Duration): Effect.Effect<MonotonicClock.MonotonicMillis> =>
  Effect.zipWith(Clock.currentTimeMillis, MonotonicClock.now, (wall, now) => {
    const millis = Math.max(1, Duration.toMillis(interval))
    const passed = (wall - phase * millis) % millis
    return now + millis - (passed < 0 ? passed + millis : passed)
  })
