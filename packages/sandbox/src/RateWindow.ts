/**
 * How many requests a key has made lately, and an account today. Knows nothing of what was asked.
 *
 * Source: interface v1, "Limits". That the window slides, and what the quota counts, is assumed: see `Assumptions`.
 *
 * @since 0.1.0
 */
import { RateLimited } from "@plaza/domain/Errors"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Assumed } from "./Assumptions.js"

/** @since 0.1.0 @category services */
export class RateWindow extends Context.Tag("@plaza/sandbox/RateWindow")<RateWindow, {
  /** Counts a request on its arrival, or refuses it and says how long to wait. What is refused isn't counted. */
  readonly take: (keyId: string, accountId: string) => Effect.Effect<void, RateLimited>
  /** Forgets everything. */
  readonly reset: Effect.Effect<void>
}>() {}

const day = Duration.toMillis("1 day")

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<RateWindow, never, Assumed> = Layer.effect(
  RateWindow,
  Effect.map(Assumed, ({ dailyQuota, rateWindow, requestsPerWindow }) => {
    const arrivals = new Map<string, Array<number>>()
    const quotas = new Map<string, { readonly day: number; used: number }>()
    const length = Duration.toMillis(rateWindow)

    const recent = (keyId: string, now: number): Array<number> => {
      const before = arrivals.get(keyId) ?? []
      // They stand in order of arrival, so what is out of the window stands in front.
      const first = before.findIndex((arrival) => arrival + length > now)
      const kept = first === 0 ? before : first === -1 ? [] : before.slice(first)
      arrivals.set(keyId, kept)
      return kept
    }
    const today = (accountId: string, now: number) => {
      const current = Math.floor(now / day)
      const found = quotas.get(accountId)
      const quota = found?.day === current ? found : { day: current, used: 0 }
      quotas.set(accountId, quota)
      return quota
    }
    const refuse = (limit: "rate" | "quota", message: string, millis: number) =>
      Effect.fail(new RateLimited({ message, retryAfter: Duration.millis(millis), details: { limit } }))

    return {
      take: (keyId, accountId) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const window = recent(keyId, now)
          if (window.length >= requestsPerWindow) {
            // The request that has to leave the window before there is room for one more.
            const oldest = window[window.length - requestsPerWindow] ?? now
            return refuse(
              "rate",
              `too many requests: a key may make ${requestsPerWindow} in ${Duration.format(rateWindow)}`,
              oldest + length - now
            )
          }
          const quota = today(accountId, now)
          if (quota.used >= dailyQuota) {
            return refuse(
              "quota",
              `the daily quota of ${dailyQuota} requests is used up until midnight UTC`,
              (quota.day + 1) * day - now
            )
          }
          window.push(now)
          quota.used++
          return Effect.void
        }),
      reset: Effect.sync(() => {
        arrivals.clear()
        quotas.clear()
      })
    }
  })
)
