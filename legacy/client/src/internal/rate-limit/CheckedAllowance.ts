/**
 * Validates the limit and the window of an allowance.
 *
 * @since 0.1.0
 */
import * as Limits from "@plaza-legacy/domain/Limits"
import type * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import type { InvalidSettings } from "../../ClientError.ts"
import * as Durations from "../../Durations.ts"
import type { Allowance } from "../../RateLimit.ts"
import { roundUp } from "../Compat.ts"
import * as Setting from "../Setting.ts"

/** @since 0.1.0 @category models */
export interface CheckedAllowance {
  readonly limit: number
  /** In whole milliseconds. */
  readonly window: Duration.Duration
}

/** @since 0.1.0 @category parsing */
export const check = (allowance: Allowance): Either.Either<CheckedAllowance, InvalidSettings> =>
  Either.all({
    limit: Setting.named("limit", Setting.parseCount(allowance.limit ?? Limits.requestsPerWindow)),
    window: Either.map(Setting.named("window", Durations.parsePositive(allowance.window ?? Limits.rateWindow)), roundUp)
  })
