/**
 * What an allowance that processes share is made with, checked, and the name by which a database knows its key. Knows
 * nothing of databases.
 *
 * @since 0.1.0
 */
import * as Limits from "@plaza/domain/Limits"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { InvalidSettings } from "../Failures.js"
import type { Allowance } from "../RateLimit.js"

/**
 * The same limit and window in every process that shares it.
 *
 * @since 0.1.0
 * @category models
 */
export type SharedAllowance =
  & Allowance
  & {
    /**
     * How long a slot stays taken when its process dies before the answer: an attempt's timeout, within which the service
     * may still count the request, and a window. 30 seconds and a window unless told; give more where an attempt may
     * take longer than 30 seconds.
     */
    readonly lease?: Duration.DurationInput
  }
  & (
    | {
      /** The key whose allowance it is. The database holds a hash of it, not the key. */
      readonly apiKey: Redacted.Redacted
      readonly name?: undefined
    }
    | {
      /** A name for the allowance, the same in every process, instead of the key. */
      readonly name: string
      readonly apiKey?: undefined
    }
  )

/** @since 0.1.0 @category models */
export interface Checked {
  readonly name: string
  readonly limit: number
  readonly windowMillis: number
  readonly leaseMillis: number
}

// The attempt's timeout of a client that isn't told another one.
const defaultGrace = Duration.seconds(30)

// Of a key with 40 characters; nobody finds them by trying.
const hashOf = (key: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(key))),
    (hash) => Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("")
  )

const invalid = (setting: string, message: string) =>
  new InvalidSettings({ setting, message: `${setting} ${message}` })

/** @since 0.1.0 @category constructors */
export const checked = (allowance: SharedAllowance): Effect.Effect<Checked, InvalidSettings> =>
  Effect.gen(function*() {
    const limit = allowance.limit ?? Limits.requestsPerWindow
    const windowMillis = Math.ceil(Duration.toMillis(allowance.window ?? Limits.rateWindow))
    const leaseMillis = Math.ceil(Duration.toMillis(allowance.lease ?? Duration.sum(Duration.millis(windowMillis), defaultGrace)))
    if (!Number.isInteger(limit) || limit < 1) {
      return yield* invalid("limit", "must be a whole number of at least 1")
    }
    if (!Number.isFinite(windowMillis) || windowMillis <= 0) {
      return yield* invalid("window", `must be longer than nothing and come to an end, as "60 seconds"`)
    }
    if (!Number.isFinite(leaseMillis) || leaseMillis <= windowMillis) {
      return yield* invalid("lease", "must be longer than the window, by the time that an attempt may take")
    }
    if (allowance.apiKey === undefined && allowance.name === "") {
      return yield* invalid("name", "must not be empty")
    }
    const name = allowance.apiKey === undefined
      ? `name:${allowance.name}`
      : `key:${yield* hashOf(Redacted.value(allowance.apiKey))}`
    return { name, limit, windowMillis, leaseMillis }
  })
