/** The calls of the benchmark `allowance`: how long they take, and when the server counts them. */
import { Limits } from "@plaza/domain"
import { Clock, Duration, Effect, Random } from "effect"
import type { Call } from "./Limiters.ts"
import type { RateServer } from "./RateServers.ts"

const limit = Limits.requestsPerWindow
const window = Duration.toMillis(Limits.rateWindow)

export interface Outcome {
  /** Shortest possible time with 120 requests in any 60 s, divided by the time used. Above 1, the limiter exceeded the limit. */
  readonly used: number
  /** Number of 429s. */
  readonly refused: number
  /** Requests in the busiest 60 s, by the time at which the server counted them. */
  readonly busiest: number
}

const busiestWindow = (arrivals: ReadonlyArray<number>): number => {
  let from = 0
  let most = 0
  for (const [index, at] of arrivals.entries()) {
    while ((arrivals[from] ?? at) <= at - window) from++
    most = Math.max(most, index - from + 1)
  }
  return most
}

export interface SentCalls {
  /** Sends a call, with 20 to 400 ms of latency. The server counts it at a random time between sending and response. */
  readonly send: Call
  readonly outcome: (calls: number) => Outcome
}

export const make = (server: RateServer): SentCalls => {
  const arrivals: Array<number> = []
  let refused = 0
  let lastAccepted = 0
  return {
    send: Effect.gen(function*() {
      const latency = yield* Random.nextBetween(20, 400)
      const before = latency * (yield* Random.next)
      yield* Effect.sleep(before)
      const at = yield* Clock.currentTimeMillis
      const wait = server(at)
      arrivals.push(at)
      if (wait > 0) refused++
      else lastAccepted = at
      yield* Effect.sleep(latency - before)
      return wait
    }),
    outcome: (calls) => {
      const shortest = (Math.ceil(calls / limit) - 1) * window
      return { used: shortest / (lastAccepted - (arrivals[0] ?? 0)), refused, busiest: busiestWindow(arrivals) }
    }
  }
}
