/**
 * When an account is polled: once per interval, at a time that follows from its id. Accounts with the same interval are spread evenly over
 * it, and keep their times on every runner and after every restart.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as MonotonicClock from "../sync/MonotonicClock.js"

/** The place of an account in every interval, from 0 to 1. */
const phaseOf = (account: string): number => createHash("sha256").update(account).digest().readUInt32BE(0) / 2 ** 32

/** The first time of an account after now. */
export const next = (account: string, interval: Duration.Duration): Effect.Effect<MonotonicClock.MonotonicMillis> =>
  Effect.zipWith(Clock.currentTimeMillis, MonotonicClock.now, (wall, now) => {
    const millis = Math.max(1, Duration.toMillis(interval))
    const passed = (wall - phaseOf(account) * millis) % millis
    return now + millis - (passed < 0 ? passed + millis : passed)
  })
