/**
 * Counts the rate of a key as the latitude says: in a sliding window, in fixed windows, or by a token bucket, in constant
 * time per request.
 */
import type { Latitude } from "../Latitude.ts"

export interface RateCounter {
  /** Counts a request at a timestamp, which isn't before the last one. */
  readonly push: (now: number) => void
  /** Milliseconds until another request is within `limit`; 0 if it is within it already. */
  readonly waitFor: (limit: number, now: number) => number
}

/** Expired timestamps are removed in batches: removing one from the front moves all others. */
const batchSize = 1_000

/** A sliding window over timestamps. */
export const slidingWindow = (length: number): RateCounter => {
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

/** Windows that start at whole multiples of their length. */
export const fixedWindow = (length: number): RateCounter => {
  let index = 0
  let count = 0
  const enter = (now: number) => {
    const current = Math.floor(now / length)
    if (current !== index) {
      index = current
      count = 0
    }
  }
  return {
    push: (now) => {
      enter(now)
      count++
    },
    waitFor: (limit, now) => {
      enter(now)
      return count < limit ? 0 : (index + 1) * length - now
    }
  }
}

/**
 * A bucket that starts full, holds at most `burst` tokens and is refilled with `allowance` tokens per window. Each counted
 * request takes a token, or what is left of one.
 */
export const tokenBucket = (length: number, burst: number | null, allowance: number): RateCounter => {
  const capacity = Math.min(burst ?? allowance, allowance)
  const perMilli = allowance / length
  let tokens = capacity
  let filledAt = 0
  const fill = (now: number) => {
    tokens = Math.min(capacity, tokens + Math.max(0, now - filledAt) * perMilli)
    filledAt = now
  }
  return {
    push: (now) => {
      fill(now)
      tokens = Math.max(0, tokens - 1)
    },
    waitFor: (_, now) => {
      fill(now)
      // Rounding may keep a sum of fractions just below a whole token.
      return tokens >= 1 - 1e-9 ? 0 : perMilli === 0 ? length : Math.ceil((1 - tokens) / perMilli)
    }
  }
}

export const make = (
  { rateBurst, rateCounting }: Pick<Latitude, "rateBurst" | "rateCounting">,
  length: number,
  allowance: number
): RateCounter => {
  switch (rateCounting) {
    case "slidingWindow":
      return slidingWindow(length)
    case "fixedWindow":
      return fixedWindow(length)
    case "tokenBucket":
      return tokenBucket(length, rateBurst, allowance)
  }
}
