/**
 * Exponential delays with jitter. A function of the number of failures instead of a `Schedule`, because the ledger keeps that number
 * across restarts.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

export interface Backoff {
  readonly first: Duration.Duration
  readonly longest: Duration.Duration
}

/** The delay after so many failures in a row, in whole milliseconds. */
export const delay = ({ first, longest }: Backoff, failures: number): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.next, (random) => {
    const full = Duration.min(longest, Duration.times(first, 2 ** Math.min(30, Math.max(0, failures - 1))))
    return Duration.millis(Math.ceil(Duration.toMillis(full) * (0.75 + random / 4)))
  })
