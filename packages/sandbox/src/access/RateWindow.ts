/**
 * Counts the requests of a key in the rate window and of an account per day. The counts are in memory; with a data file
 * every counted request is stored too, so that the limits hold over a restart.
 *
 * Source: interface v1, "Limits". How the rate is counted and what the quota counts are latitudes: see `Latitude`.
 */
import { RateLimited } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentAssumptions } from "../Assumptions.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import type { Arrival } from "./ArrivalsRepo.ts"
import { ArrivalsRepo } from "./ArrivalsRepo.ts"
import type { RateCounter } from "./RateCounters.ts"
import * as RateCounters from "./RateCounters.ts"

/** The operation of a request, by which quotas may be counted. */
interface CountedOperation {
  readonly name: string
  readonly area: string
}

const day = Duration.toMillis("1 day")
const dayOf = (now: number): number => Math.floor(now / day)

interface Quota {
  readonly day: number
  used: number
}

/** Stored rows, at least, before those that no longer count are deleted. */
const minStored = 500

/** Stores arrivals, and deletes those that no longer count from time to time. */
const makeStore = (repo: ArrivalsRepo["Service"], windowMillis: number) => {
  let stored = 0
  let maxStored = minStored
  return (arrival: Arrival): void => {
    repo.insert(arrival)
    if (++stored > maxStored) {
      repo.deleteUntil(arrival.at - windowMillis)
      stored = repo.count()
      // Twice the rows that remain: the amortized cost of a request stays constant.
      maxStored = Math.max(minStored, 2 * stored)
    }
  }
}

const make = (options: { readonly stored: boolean; readonly frozen: boolean }) =>
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
      const window = windows.get(name) ?? RateCounters.make(latitude.value, length, requestsPerWindow)
      windows.set(name, window)
      return window
    }
    const quotaName = (accountId: string, operation: CountedOperation | undefined): string => {
      switch (latitude.value.quotaPer) {
        case "account":
          return accountId
        case "area":
          return `${accountId} ${operation?.area ?? ""}`
        case "operation":
          return `${accountId} ${operation?.area ?? ""} ${operation?.name ?? ""}`
      }
    }
    const quotaOf = (name: string, now: number): Quota => {
      const existing = quotas.get(name)
      const quota = existing?.day === dayOf(now) ? existing : { day: dayOf(now), used: 0 }
      quotas.set(name, quota)
      return quota
    }
    const record = (keyId: string, quota: string, at: number, used: number): void => {
      if (options.stored) {
        store({ keyId, quota, at, used })
      }
    }
    const ending = options.frozen ? "; the clock stands still until POST /sandbox/clock advances it" : ""
    const refusal = (limit: "rate" | "quota", message: string, millis: number): RateLimited =>
      new RateLimited({ message: `${message}${ending}`, retryAfter: Duration.millis(millis), details: { limit } })

    const reset = (): void => {
      windows.clear()
      quotas.clear()
    }
    const reload = (): void => {
      reset()
      if (options.stored) {
        for (const { at, keyId } of repo.findRecent(length)) {
          windowOf(keyId).push(at)
        }
        for (const { at, quota, used } of repo.newestOfQuotas()) {
          quotas.set(quota, { day: dayOf(at), used })
        }
      }
    }
    reload()

    return {
      /**
       * Counts a request at a time in milliseconds since 1970, or returns its refusal with the time to wait. Whether refused
       * requests count is assumed.
       */
      take: (keyId: string, accountId: string, operation: CountedOperation | undefined, now: number): RateLimited | undefined => {
        const window = windowOf(keyId)
        const countRefused = latitude.value.countRefused ?? assumedCount
        const wait = window.waitFor(requestsPerWindow, now)
        const name = quotaName(accountId, operation)
        const quota = quotaOf(name, now)
        if (wait > 0) {
          if (countRefused) {
            window.push(now)
            record(keyId, name, now, quota.used)
          }
          return refusal(
            "rate",
            `too many requests: a key may make ${requestsPerWindow} in ${Duration.format(rateWindow)}`,
            countRefused ? window.waitFor(requestsPerWindow, now) : wait
          )
        }
        const dailyQuota = latitude.value.dailyQuota ?? assumedQuota
        if (quota.used >= dailyQuota) {
          return refusal(
            "quota",
            `the daily quota of ${dailyQuota} requests is used up until midnight UTC`,
            (quota.day + 1) * day - now
          )
        }
        window.push(now)
        record(keyId, name, now, ++quota.used)
        return undefined
      },
      /** Clears the counts in memory; a reset deletes the stored rows. */
      reset,
      /** Counts the stored rows again, after a snapshot replaced them. */
      reload
    }
  })

export class RateWindow extends Context.Service<RateWindow, Effect.Success<ReturnType<typeof make>>>()("@plaza/sandbox/RateWindow") {
  static readonly layer = (options: { readonly stored: boolean; readonly frozen: boolean }) => Layer.effect(RateWindow, make(options))
}
