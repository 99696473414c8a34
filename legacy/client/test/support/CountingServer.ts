/**
 * Rate-limiting servers with a sliding window, a fixed window or a token bucket. They count a request at some moment between its
 * arrival and its response.
 */
import { Clock, Effect, Ref } from "effect"

export type Kind = "sliding" | "fixed" | "bucket"

export interface Server {
  /** One request: waits, is counted, waits, and answers whether it was refused. */
  readonly request: (beforeMillis: number, afterMillis: number) => Effect.Effect<boolean>
  readonly refused: Effect.Effect<number>
  /** When each request was counted. */
  readonly counted: Effect.Effect<ReadonlyArray<number>>
}

/** Whether a request at a moment exceeds the allowance, given those accepted before. */
const exceeds = {
  sliding: (accepted: ReadonlyArray<number>, at: number, limit: number, window: number) =>
    accepted.filter((moment) => moment > at - window).length >= limit,
  fixed: (accepted: ReadonlyArray<number>, at: number, limit: number, window: number) => {
    // A window that begins off the client's own.
    const start = Math.floor((at - window / 3) / window) * window + window / 3
    return accepted.filter((moment) => moment >= start).length >= limit
  },
  bucket: (accepted: ReadonlyArray<number>, at: number, limit: number, window: number) => {
    let tokens = limit
    let filledAt = 0
    for (const moment of accepted) {
      tokens = Math.min(limit, tokens + ((moment - filledAt) * limit) / window) - 1
      filledAt = moment
    }
    return Math.min(limit, tokens + ((at - filledAt) * limit) / window) < 1
  }
}

export const make = (kind: Kind, limit: number, windowMillis: number): Effect.Effect<Server> =>
  Effect.gen(function*() {
    const accepted = yield* Ref.make<ReadonlyArray<number>>([])
    const refused = yield* Ref.make(0)
    return {
      request: (before, after) =>
        Effect.gen(function*() {
          yield* Effect.sleep(before)
          const at = yield* Clock.currentTimeMillis
          const refuse = exceeds[kind](yield* accepted, at, limit, windowMillis)
          yield* refuse ? Ref.update(refused, (count) => count + 1) : Ref.update(accepted, (all) => [...all, at])
          yield* Effect.sleep(after)
          return refuse
        }),
      refused,
      counted: accepted
    }
  })
