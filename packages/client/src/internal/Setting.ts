/**
 * The defaults of the settings, and checks of single settings. A failure names the setting.
 *
 * @since 0.1.0
 */
import * as ApiKey from "@plaza/domain/ApiKey"
import * as Limits from "@plaza/domain/Limits"
import * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
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
export const invalid = (setting: string, requirement: string): InvalidSettings =>
  new InvalidSettings({ setting, message: `${setting} ${requirement}` })

/**
 * Converts a violated requirement to the failure that names the setting.
 *
 * @since 0.1.0
 * @category parsing
 */
export const named = <A>(setting: string, checked: Result.Result<A, string>): Result.Result<A, InvalidSettings> =>
  Result.mapError(checked, (requirement) => invalid(setting, requirement))

/**
 * Parses a whole number of at least 1. The failure is the violated requirement.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parseCount = (count: number): Result.Result<number, string> =>
  Number.isSafeInteger(count) && count >= 1 ? Result.succeed(count) : Result.fail("must be a whole number of at least 1")

/**
 * Parses a key. The failure is the violated requirement, without the key.
 *
 * @since 0.1.0
 * @category parsing
 */
export const checkApiKey = (text: string): Result.Result<Redacted.Redacted, string> =>
  Result.mapError(ApiKey.parse(text), (malformed) => `is not a key: ${malformed.message}`)

/**
 * The version of this package; a test compares it with `package.json`.
 *
 * @since 0.1.0
 * @category constants
 */
export const version = "0.1.0"

// Products and comments of RFC 9110, section 10.1.5, which contain no line end.
const product = /^[!#$%&'*+.^_`|~\w-]+(\/[!#$%&'*+.^_`|~\w-]+)?( ([!#$%&'*+.^_`|~\w-]+(\/[!#$%&'*+.^_`|~\w-]+)?|\([ -'*-[\]-~]*\)))*$/

/**
 * The `User-Agent` of every request. The application is first, because products are in decreasing order of significance. The failure is
 * the violated requirement.
 * Source: RFC 9110, section 10.1.5.
 *
 * @since 0.1.0
 * @category parsing
 */
export const userAgent = (application: string | undefined): Result.Result<string, string> =>
  application === undefined
    ? Result.succeed(`plaza-client/${version}`)
    : product.test(application)
    ? Result.succeed(`${application} plaza-client/${version}`)
    : Result.fail(`must be a name and a version such as "stock-robot/1.2", in ASCII without line ends`)
