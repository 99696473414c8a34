/**
 * Counts the rate of a key as the latitude says: in a sliding window, in fixed windows, or by a token bucket, in constant
 * time per request.
 *
 * @since 0.1.0
 */
import type { Latitude } from "../Latitude.ts"
import type { RateCounter } from "./RateCounter.ts"
import * as SlidingWindow from "./SlidingWindow.ts"

/**
 * Windows that start at whole multiples of their length.
 *
 * @since 0.1.0
 * @category constructors
 */
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
 *
 * @since 0.1.0
 * @category constructors
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

/** @since 0.1.0 @category constructors */
export const make = (
  { rateBurst, rateCounting }: Pick<Latitude, "rateBurst" | "rateCounting">,
  length: number,
  allowance: number
): RateCounter => {
  switch (rateCounting) {
    case "slidingWindow":
      return SlidingWindow.make(length)
    case "fixedWindow":
      return fixedWindow(length)
    case "tokenBucket":
      return tokenBucket(length, rateBurst, allowance)
  }
}
