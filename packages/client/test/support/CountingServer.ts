/** Rate-limiting servers. They count a request at some moment between its arrival and its response. */
import { Clock, Effect } from "effect"

/** Counts a request at a moment. Returns 0 if it is accepted, otherwise the milliseconds until one would be. */
export type Counter = (at: number) => number

/** Ways to count requests. Windows start `phase` milliseconds off the clock. */
export const counters = {
  /** The requests of the last window. */
  sliding: (limit: number, window: number): Counter => {
    const accepted: Array<number> = []
    return (at) => {
      while (accepted[0] !== undefined && accepted[0] <= at - window) {
        accepted.shift()
      }
      return accepted.length < limit ? (accepted.push(at), 0) : (accepted[0] ?? at) + window - at
    }
  },
  /** The requests since the start of the window. */
  fixed: (limit: number, window: number, phase = window / 3): Counter => {
    let current = Number.NaN
    let count = 0
    return (at) => {
      const index = Math.floor((at + phase) / window)
      count = index === current ? count : 0
      current = index
      return count < limit ? (count++, 0) : (index + 1) * window - phase - at
    }
  },
  /** A token for each request. Tokens come back at the rate, up to `size`. */
  bucket: (limit: number, window: number, size = limit): Counter => {
    let tokens = size
    let filledAt = 0
    return (at) => {
      tokens = Math.min(size, tokens + (at - filledAt) * limit / window)
      filledAt = at
      // The sum of many fractions may be a little too small.
      return tokens > 1 - 1e-9 ? (tokens--, 0) : (1 - tokens) * window / limit
    }
  },
  /** A queue of `size` requests that is emptied at the rate. */
  leaky: (limit: number, window: number, size = limit): Counter => {
    const interval = window / limit
    let emptyAt = 0
    return (at) => {
      const wait = emptyAt - (size - 1) * interval - at
      return wait > 0 ? wait : (emptyAt = Math.max(emptyAt, at) + interval, 0)
    }
  },
  /** The requests of this window, and of the previous one in proportion to the part that the last window covers. */
  slidingCounter: (limit: number, window: number, phase = 0): Counter => {
    let current = Number.NaN
    let previous = 0
    let count = 0
    return (at) => {
      const index = Math.floor((at + phase) / window)
      if (index !== current) {
        previous = index === current + 1 ? count : 0
        count = 0
        current = index
      }
      const elapsed = (at + phase) / window - index
      if (previous * (1 - elapsed) + count + 1 <= limit) {
        count++
        return 0
      }
      return Math.max(1, Math.min(1, previous === 0 ? 1 : 1 - (limit - count - 1) / previous) * window - elapsed * window)
    }
  }
}

export interface Server {
  /** One request: waits, is counted, and waits. Returns 0 if it was accepted, otherwise the milliseconds until one would be. */
  readonly request: (beforeMillis: number, afterMillis: number) => Effect.Effect<number>
  readonly refused: () => number
  /** When each accepted request was counted. */
  readonly counted: ReadonlyArray<number>
}

export const make = (counter: Counter): Server => {
  const counted: Array<number> = []
  let refused = 0
  return {
    request: (before, after) =>
      Effect.gen(function*() {
        yield* Effect.sleep(before)
        const at = yield* Clock.currentTimeMillis
        const wait = counter(at)
        if (wait === 0) {
          counted.push(at)
        } else {
          refused++
        }
        yield* Effect.sleep(after)
        return wait
      }),
    refused: () => refused,
    counted
  }
}
