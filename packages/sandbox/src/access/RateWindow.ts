/**
 * How many requests a key has made lately, and an account today. Counted in memory, and written down where there is a
 * file to outlive it: one row for each request, since one that was answered has to stay counted over a kill. Knows
 * nothing of what was asked.
 *
 * Source: interface v1, "Limits". How the rate is counted is a latitude, and so is what the quota counts: see `Latitude`.
 *
 * @since 0.1.0
 */
import { RateLimited } from "@plaza/domain/Errors"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Assumed } from "../Assumptions.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import * as RateCounters from "./RateCounters.js"
import { type Client, Sql } from "../storage/Sql.js"

/** What a request asks for, as far as a quota may count it apart. */
interface Asked {
  readonly name: string
  /** Its area. */
  readonly group: string
}

/** @since 0.1.0 @category services */
export class RateWindow extends Context.Tag("@plaza/sandbox/RateWindow")<RateWindow, {
  /** Counts a request on its arrival, or refuses it and says how long to wait. What is refused is counted only where that is assumed. */
  readonly take: (keyId: string, accountId: string, operation?: Asked) => Effect.Effect<void, RateLimited>
  /** Forgets everything; what was stored of it is gone with the other rows. */
  readonly reset: Effect.Effect<void>
}>() {}

const day = Duration.toMillis("1 day")
const dayOf = (now: number): number => Math.floor(now / day)

interface Quota {
  readonly day: number
  used: number
}

/** A request that was counted, with how many were that day under the same quota. */
interface Arrival {
  readonly key_id: string
  /** The name of the quota: the account, and what it counts apart from the account's other requests. */
  readonly account_id: string
  readonly at: number
  readonly used: number
}

/** Rows that are stored, at least, before those that no longer count are thrown away. */
const leastStored = 500

const newestOfAccounts = "SELECT max(seq) FROM arrivals GROUP BY account_id"

/** The rows behind the counts. */
const store = (sql: Client, length: number) => {
  let stored = 0
  let most = leastStored
  /** Those out of the window count no more, except that the newest of an account tells its quota. */
  const purge = (now: number) =>
    Effect.gen(function*() {
      yield* sql`DELETE FROM arrivals WHERE at <= ${now - length} AND seq NOT IN (${sql.literal(newestOfAccounts)})`
      const [row] = yield* sql<{ readonly left: number }>`SELECT count(*) AS left FROM arrivals`
      stored = row?.left ?? 0
      // Twice as many as had to stay: so the work for one request stays the same, however many there are.
      most = Math.max(leastStored, 2 * stored)
    })
  return {
    write: ({ account_id, at, key_id, used }: Arrival): Effect.Effect<void> =>
      Effect.zipRight(
        sql`INSERT INTO arrivals (key_id, account_id, at, used) VALUES (${key_id}, ${account_id}, ${at}, ${used})`,
        Effect.suspend(() => ++stored > most ? purge(at) : Effect.void)
      ),
    recent: sql<Arrival>`SELECT * FROM arrivals WHERE at > (SELECT max(at) FROM arrivals) - ${length} ORDER BY seq`,
    newest: sql<Arrival>`SELECT * FROM arrivals WHERE seq IN (${sql.literal(newestOfAccounts)})`
  }
}

/** @since 0.1.0 @category layers */
export const layer = (
  options: { readonly stored: boolean }
): Layer.Layer<RateWindow, never, Assumed | CurrentLatitude | Sql> =>
  Layer.effect(
    RateWindow,
    Effect.gen(function*() {
      const { countRefused: assumedCount, dailyQuota: assumedQuota, rateWindow, requestsPerWindow } = yield* Assumed
      const latitude = yield* CurrentLatitude
      const length = Duration.toMillis(rateWindow)
      const rows = store(yield* Sql, length)
      /** By what each counts: one that the latitude changes begins anew. */
      const windows = new Map<string, RateCounters.RateCounter>()
      const quotas = new Map<string, Quota>()

      const windowOf = (keyId: string): RateCounters.RateCounter => {
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
      const quotaName = (accountId: string, operation: Asked | undefined): string => {
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
      const note = (keyId: string, quotaName: string, at: number, used: number) =>
        options.stored ? rows.write({ key_id: keyId, account_id: quotaName, at, used }) : Effect.void
      const refuse = (limit: "rate" | "quota", message: string, millis: number) =>
        Effect.fail(new RateLimited({ message, retryAfter: Duration.millis(millis), details: { limit } }))

      if (options.stored) {
        for (const { at, key_id } of yield* rows.recent) {
          windowOf(key_id).push(at)
        }
        for (const { account_id, at, used } of yield* rows.newest) {
          quotas.set(account_id, { day: dayOf(at), used })
        }
      }

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
                countRefused ? note(keyId, name, now, quota.used) : Effect.void,
                refuse(
                  "rate",
                  `too many requests: a key may make ${requestsPerWindow} in ${Duration.format(rateWindow)}`,
                  countRefused ? window.waitFor(requestsPerWindow, now) : wait
                )
              )
            }
            const dailyQuota = latitude.value.dailyQuota ?? assumedQuota
            if (quota.used >= dailyQuota) {
              return refuse(
                "quota",
                `the daily quota of ${dailyQuota} requests is used up until midnight UTC`,
                (quota.day + 1) * day - now
              )
            }
            window.push(now)
            return note(keyId, name, now, ++quota.used)
          }),
        reset: Effect.sync(() => {
          windows.clear()
          quotas.clear()
        })
      }
    })
  )
