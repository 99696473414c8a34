/**
 * Three models of how a service may count "120 requests per minute", because the document does not say which one applies. Times are in
 * milliseconds.
 *
 * Source: interface v1, "Limits".
 */
import { Limits } from "@plaza/domain"
import { Duration } from "effect"

/**
 * Counts a request at a time and returns 0 if it accepts it, else the seconds of `Retry-After`. Times never decrease.
 */
export type RateServer = (at: number) => number

const seconds = (millis: number) => Math.max(1, Math.ceil(millis / 1_000))

/** The three models, with a limit of requests per window. */
export const of = (limit: number, window: number) => {
  /** Counts from 0 in each minute of the server's clock, which is `offset` ahead. */
  const fixedWindow = (offset: number): RateServer => {
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

  /** Counts the requests that it accepted in the last 60 seconds. */
  const slidingLog = (): RateServer => {
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

  /** Holds at most 120 tokens and adds two each second. */
  const tokenBucket = (): RateServer => {
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

  return { fixedWindow, slidingLog, tokenBucket }
}

export const { fixedWindow, slidingLog, tokenBucket } = of(Limits.requestsPerWindow, Duration.toMillis(Limits.rateWindow))
