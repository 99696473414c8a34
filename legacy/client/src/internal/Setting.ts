/**
 * The defaults of the settings, and checks of single settings. A failure names the setting.
 *
 * @since 0.1.0
 */
import * as ApiKey from "@plaza-legacy/domain/ApiKey"
import * as Limits from "@plaza-legacy/domain/Limits"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import { InvalidSettings } from "../ClientError.ts"

/** @since 0.1.0 @category defaults */
export const defaults = {
  timeout: Duration.seconds(30),
  maxWait: Duration.minutes(5),
  settleTime: Duration.seconds(15),
  rateLimit: Limits.requestsPerWindow,
  maxResponseBytes: 16 * 1024 * 1024,
  rateWindow: Limits.rateWindow
}

/**
 * The failure of an invalid setting.
 *
 * @since 0.1.0
 * @category constructors
 */
export const invalid = (setting: string, required: string): InvalidSettings =>
  new InvalidSettings({ setting, message: `${setting} ${required}` })

/**
 * Converts a violated requirement to the failure that names the setting.
 *
 * @since 0.1.0
 * @category parsing
 */
export const named = <A>(setting: string, checked: Either.Either<A, string>): Either.Either<A, InvalidSettings> =>
  Either.mapLeft(checked, (required) => invalid(setting, required))

/**
 * Parses a whole number of at least 1. The left value is the violated requirement.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parseCount = (count: number): Either.Either<number, string> =>
  Number.isSafeInteger(count) && count >= 1 ? Either.right(count) : Either.left("must be a whole number of at least 1")

/**
 * Parses a key. The left value is the violated requirement, without the key.
 *
 * @since 0.1.0
 * @category parsing
 */
export const checkApiKey = (text: string): Either.Either<Redacted.Redacted, string> =>
  Either.mapLeft(ApiKey.parse(text), (malformed) => `is not a key: ${malformed.message}`)
