/**
 * Checks one setting of a layer, and names it where it can't be used.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { InvalidSettings } from "../ClientError.js"

/**
 * The failure for a setting, from what is required instead.
 *
 * @since 0.1.0
 * @category constructors
 */
export const invalid = (setting: string, required: string): InvalidSettings =>
  new InvalidSettings({ setting, message: `${setting} ${required}` })

/**
 * The value of a check, or the failure that names the setting.
 *
 * @since 0.1.0
 * @category parsing
 */
export const named = <A>(setting: string, checked: Either.Either<A, string>): Either.Either<A, InvalidSettings> =>
  Either.mapLeft(checked, (required) => invalid(setting, required))

/**
 * A whole number of at least 1, or what is required instead.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parseCount = (count: number): Either.Either<number, string> =>
  Number.isSafeInteger(count) && count >= 1 ? Either.right(count) : Either.left("must be a whole number of at least 1")
