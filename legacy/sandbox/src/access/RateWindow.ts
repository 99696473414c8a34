/**
 * Counts the requests of a key in the rate window and of an account per day. The counts are in memory; with a data file
 * every counted request is stored too, so that the limits hold over a restart.
 *
 * Source: interface v1, "Limits". How the rate is counted and what the quota counts are latitudes: see `Latitude`.
 *
 * @since 0.1.0
 */
import { RateLimited } from "@plaza-legacy/domain/Errors"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { CurrentAssumptions } from "../Assumptions.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import type { Arrival } from "./ArrivalsRepo.ts"
import { ArrivalsRepo } from "./ArrivalsRepo.ts"
import type { RateCounter } from "./RateCounter.ts"
import * as RateCounters from "./RateCounters.ts"

/** The operation of a request, by which quotas may be counted. */
interface CountedOperation {
  readonly name: string
  /** Its area. */
  readonly group: string
}

/** @since 0.1.0 @category services */
export class RateWindow extends Context.Tag("@plaza-legacy/sandbox/RateWindow")<RateWindow, {
  /** Counts a request, or rejects it with the time to wait. Whether rejected requests count is assumed. */
  readonly take: (keyId: string, accountId: string, operation?: CountedOperation) => Effect.Effect<void, RateLimited>
  /** Clears the counts in memory; a reset deletes the stored rows. */
  readonly reset: Effect.Effect<void>
  /** Counts the stored rows again, after a snapshot replaced them. */
  readonly reload: Effect.Effect<void>
}>() {}

const day = Duration.toMillis("1 day")
const dayOf = (now: number): number => Math.floor(now / day)

interface Quota {
  readonly day: number
  used: number
}

/** Stored rows, at least, before those that no longer count are deleted. */
const minStored = 500

/** Stores arrivals, and deletes those that no longer count from time to time. */
const makeStore = (repo: ArrivalsRepo["Type"], windowMillis: number) => {
  let stored = 0
  let maxStored = minStored
  const purge = (now: number) =>
    Effect.gen(function*() {
      yield* repo.deleteUntil(now - windowMillis)
      stored = yield* repo.count()
      // Twice the rows that remain: the amortized cost of a request stays constant.
      maxStored = Math.max(minStored, 2 * stored)
    })
  return (arrival: Arrival): Effect.Effect<void> =>
    Effect.zipRight(
      repo.insert(arrival),
      Effect.suspend(() => ++stored > maxStored ? purge(arrival.at) : Effect.void)
    )
}

/** @since 0.1.0 @category constructors */
export const make = (
  options: { readonly stored: boolean; readonly frozen: boolean }
): Effect.Effect<RateWindow["Type"], never, ArrivalsRepo | CurrentAssumptions | CurrentLatitude> =>
  Effect.gen(function*() {
    const { countRefused: assumedCount, dailyQuota: assumedQuota, rateWindow, requestsPerWindow } = yield* CurrentAssumptions
    const latitude = yield* CurrentLatitude
    const length = Duration.toMillis(rateWindow)
    const repo = yield* ArrivalsRepo
    const store = makeStore(repo, length)
    /** By key and way of counting: a change of the latitude starts a new counter. */
    const windows = new Map<string, RateCounter>()
    const quotas = new Map<string, Quota>()

    const windowOf = (keyId: string): RateCounter => {
      const { rateBurst, rateCounting } = latitude.value
      const name = rateCounting === "slidingWindow" ? keyId : `${keyId} ${rateCounting} ${rateBurst ?? ""}`
      const found = windows.get(name)
      if (found !== undefined) {
        return found
      }
      const window = RateCounters.make(latitude.value, length, requestsPerWindow)
      windows.set(name, window)
      return window
    }
    const quotaName = (accountId: string, operation: CountedOperation | undefined): string => {
      switch (latitude.value.quotaPer) {
        case "account":
          return accountId
        case "area":
          return `${accountId} ${operation?.group ?? ""}`
        case "operation":
          return `${accountId} ${operation?.group ?? ""} ${operation?.name ?? ""}`
      }
    }
    const quotaOf = (name: string, now: number): Quota => {
      const found = quotas.get(name)
      if (found?.day === dayOf(now)) {
        return found
      }
      const quota = { day: dayOf(now), used: 0 }
      quotas.set(name, quota)
      return quota
    }
    const record = (keyId: string, quotaName: string, at: number, used: number) =>
      options.stored ? store({ keyId, quota: quotaName, at, used }) : Effect.void
    const ending = options.frozen ? "; the clock stands still until POST /sandbox/clock advances it" : ""
    const reject = (limit: "rate" | "quota", message: string, millis: number) =>
      Effect.fail(new RateLimited({ message: `${message}${ending}`, retryAfter: Duration.millis(millis), details: { limit } }))

    const reset = Effect.sync(() => {
      windows.clear()
      quotas.clear()
    })
    const reload = Effect.gen(function*() {
      yield* reset
      if (options.stored) {
        for (const { at, keyId } of yield* repo.findRecent(length)) {
          windowOf(keyId).push(at)
        }
        for (const { at, quota, used } of yield* repo.newestOfQuotas()) {
          quotas.set(quota, { day: dayOf(at), used })
        }
      }
    })
    yield* reload

    return {
      take: (keyId, accountId, operation) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const window = windowOf(keyId)
          const countRefused = latitude.value.countRefused ?? assumedCount
          const wait = window.waitFor(requestsPerWindow, now)
          const name = quotaName(accountId, operation)
          const quota = quotaOf(name, now)
          if (wait > 0) {
            if (countRefused) {
              window.push(now)
            }
            return Effect.zipRight(
              countRefused ? record(keyId, name, now, quota.used) : Effect.void,
              reject(
                "rate",
                `too many requests: a key may make ${requestsPerWindow} in ${Duration.format(rateWindow)}`,
                countRefused ? window.waitFor(requestsPerWindow, now) : wait
              )
            )
          }
          const dailyQuota = latitude.value.dailyQuota ?? assumedQuota
          if (quota.used >= dailyQuota) {
            return reject(
              "quota",
              `the daily quota of ${dailyQuota} requests is used up until midnight UTC`,
              (quota.day + 1) * day - now
            )
          }
          window.push(now)
          return record(keyId, name, now, ++quota.used)
        }),
      reset,
      reload
    }
  })
