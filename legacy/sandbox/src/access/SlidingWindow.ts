/**
 * A sliding window over timestamps, in amortized constant time per request.
 *
 * @since 0.1.0
 */
import type { RateCounter } from "./RateCounter.ts"

/** Expired timestamps are removed in batches: removing one from the front moves all others. */
const batchSize = 1_000

/** @since 0.1.0 @category constructors */
export const make = (length: number): RateCounter => {
  let timestamps: Array<number> = []
  let first = 0
  const expire = (now: number) => {
    while ((timestamps[first] ?? Number.POSITIVE_INFINITY) + length <= now) {
      first++
    }
    if (first > batchSize && first * 2 > timestamps.length) {
      timestamps = timestamps.slice(first)
      first = 0
    }
  }
  return {
    push: (now) => {
      timestamps.push(now)
    },
    waitFor: (limit, now) => {
      expire(now)
      // When this one has expired there is room for one more. A limit of 0 has no such timestamp.
      return timestamps.length - first < limit ? 0 : (timestamps[timestamps.length - limit] ?? now) + length - now
    }
  }
}
