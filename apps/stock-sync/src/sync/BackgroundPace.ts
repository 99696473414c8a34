/** Spreads background requests, for reassertion or reconciliation, evenly over a share of the rate limit. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as MonotonicClock from "./MonotonicClock.ts"

export interface Options {
  /** Share of the rate limit, 0 to 1. */
  readonly share: number
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  /** The first request does not come before this time (default: now). */
  readonly notBefore?: MonotonicClock.MonotonicMillis | undefined
}

export class BackgroundPace extends Context.Service<BackgroundPace, {
  /** When the next request may follow. Infinite with a share of 0. */
  readonly nextAt: Effect.Effect<MonotonicClock.MonotonicMillis>
  /** Counts a request that is made now. */
  readonly record: Effect.Effect<void>
}>()("@plaza/stock-sync/sync/BackgroundPace") {}

export const make = (
  { notBefore = Number.NEGATIVE_INFINITY, rateLimit, rateWindow, share }: Options
): Effect.Effect<BackgroundPace["Service"]> =>
  Effect.gen(function*() {
    const interval = share > 0 ? Duration.toMillis(rateWindow) / (rateLimit * share) : Number.POSITIVE_INFINITY
    const nextAt = yield* Ref.make<MonotonicClock.MonotonicMillis>(share > 0 ? notBefore : Number.POSITIVE_INFINITY)
    return {
      nextAt: Ref.get(nextAt),
      record: Effect.flatMap(MonotonicClock.now, (now) => Ref.set(nextAt, now + interval))
    }
  })
