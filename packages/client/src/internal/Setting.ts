/**
 * Validates one setting of a layer. The failure names the setting.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { InvalidSettings } from "../ClientError.js"

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
