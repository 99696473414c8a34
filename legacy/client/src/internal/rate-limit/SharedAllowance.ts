/**
 * The validated settings of a shared allowance, and the name of its key in the database.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { InvalidSettings } from "../../ClientError.ts"
import * as Durations from "../../Durations.ts"
import type { Allowance } from "../../RateLimit.ts"
import { fromEither, roundUp } from "../Compat.ts"
import * as Setting from "../Setting.ts"
import * as CheckedAllowance from "./CheckedAllowance.ts"

/**
 * A key's allowance. Every process must use the same limit and window.
 *
 * @since 0.1.0
 * @category models
 */
export type SharedAllowance =
  & Allowance
  & {
    /**
     * How long the slot of a request stays in use if its process dies before the response. It must cover the timeout of an
     * attempt, within which the service may still count the request, and a window (default: 30 seconds plus a window). Set a
     * longer lease if attempts may take longer than 30 seconds.
     */
    readonly lease?: Duration.DurationInput
  }
  & (
    | {
      /** The key of the allowance. The database holds a hash of it, not the key. */
      readonly apiKey: Redacted.Redacted
      readonly name?: undefined
    }
    | {
      /** A name for the allowance instead of the key, the same in every process. */
      readonly name: string
      readonly apiKey?: undefined
    }
  )

/** @since 0.1.0 @category models */
export interface Checked extends CheckedAllowance.CheckedAllowance {
  readonly name: string
  /** In whole milliseconds. */
  readonly lease: Duration.Duration
}

// The default timeout of an attempt.
const defaultGrace = Duration.seconds(30)

// A key has 40 random characters, so a hash without salt can't be reversed by brute force.
const hashOf = (key: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(key))),
    (hash) => Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("")
  )

/** @since 0.1.0 @category constructors */
export const checked = (allowance: SharedAllowance): Effect.Effect<Checked, InvalidSettings> =>
  Effect.gen(function*() {
    const { limit, window } = yield* fromEither(CheckedAllowance.check(allowance))
    const lease = roundUp(
      yield* fromEither(Setting.named("lease", Durations.parsePositive(allowance.lease ?? Duration.sum(window, defaultGrace))))
    )
    if (Duration.lessThanOrEqualTo(lease, window)) {
      return yield* Setting.invalid("lease", "must be longer than the window: use the window plus the timeout of an attempt")
    }
    if (allowance.apiKey === undefined && allowance.name === "") {
      return yield* Setting.invalid("name", "must not be empty")
    }
    const name = allowance.apiKey === undefined
      ? `name:${allowance.name}`
      : `key:${yield* hashOf(Redacted.value(allowance.apiKey))}`
    return { name, limit, window, lease }
  })
