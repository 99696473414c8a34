/**
 * Checks the limit and the window of an allowance, wherever it is kept.
 *
 * @since 0.1.0
 */
import * as Limits from "@plaza/domain/Limits"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Durations from "../../Durations.js"
import type { InvalidSettings } from "../../ClientError.js"
import type { Allowance } from "../../RateLimit.js"
import * as Setting from "../Setting.js"

/** @since 0.1.0 @category models */
export interface CheckedAllowance {
  readonly limit: number
  readonly windowMillis: number
}

/** @since 0.1.0 @category parsing */
export const check = (allowance: Allowance): Either.Either<CheckedAllowance, InvalidSettings> =>
  Either.all({
    limit: Setting.named("limit", Setting.parseCount(allowance.limit ?? Limits.requestsPerWindow)),
    windowMillis: Either.map(
      Setting.named("window", Durations.parsePositive(allowance.window ?? Limits.rateWindow)),
      (window) => Math.ceil(Duration.toMillis(window))
    )
  })
