/**
 * The kinds of window in which a service may count "120 requests per minute"; the document doesn't state which. Pure
 * accounting with times in milliseconds.
 *
 * Source: interface v1, "Limits".
 */
import { Limits } from "@plaza/domain"
import { Duration } from "effect"

const limit = Limits.requestsPerWindow
const window = Duration.toMillis(Limits.rateWindow)

/**
 * Counts a request at a moment. Answers 0 where it is let in, else the seconds of `Retry-After`. Moments never go back.
 */
export type RateServer = (at: number) => number

const seconds = (millis: number) => Math.max(1, Math.ceil(millis / 1_000))

/** Counts from nothing at the start of each minute of its own clock, `offset` away from ours. */
export const fixedWindow = (offset: number): RateServer => {
  let current = Number.NEGATIVE_INFINITY
  let count = 0
  return (at) => {
    const index = Math.floor((at + offset) / window)
    if (index !== current) {
      current = index
      count = 0
    }
    if (count < limit) {
      count++
      return 0
    }
    return seconds((index + 1) * window - offset - at)
  }
}

/** Remembers every request it let in and counts those of the last minute. */
export const slidingLog = (): RateServer => {
  const log: Array<number> = []
  return (at) => {
    while (log[0] !== undefined && log[0] <= at - window) log.shift()
    if (log.length < limit) {
      log.push(at)
      return 0
    }
    return seconds((log[0] ?? at) + window - at)
  }
}

/** Holds 120 tokens at most and gets two a second. */
export const tokenBucket = (): RateServer => {
  let tokens = limit
  let last = Number.NaN
  return (at) => {
    tokens = Math.min(limit, tokens + (Number.isNaN(last) ? 0 : ((at - last) * limit) / window))
    last = at
    if (tokens >= 1) {
      tokens -= 1
      return 0
    }
    return seconds(((1 - tokens) * window) / limit)
  }
}
