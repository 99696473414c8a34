/**
 * Validation of fields whose bounds the document leaves open.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza-legacy/domain/Errors"
import * as Effect from "effect/Effect"
import { invalidField } from "../http/Envelope.ts"

/**
 * Fails with `ValidationError` if a text is empty, longer than `max` code points, or not storable.
 *
 * @since 0.1.0
 * @category checks
 */
export const checkText = (field: string, text: string, max: number): Effect.Effect<void, ValidationError> => {
  const problem = text === ""
    ? "must not be empty"
    // The cheap check first: a text never has more code points than code units.
    : text.length > max && Array.from(text).length > max
    ? `must have at most ${max} characters`
    : text.includes("\0")
    ? "must not hold the character U+0000"
    : /\p{Surrogate}/u.test(text)
    ? "must be well-formed Unicode"
    : undefined
  return problem === undefined ? Effect.void : Effect.fail(invalidField(field, problem))
}

/**
 * Fails with `ValidationError` if a stock isn't a whole number from 0 to `max`.
 *
 * @since 0.1.0
 * @category checks
 */
export const checkStock = (field: string, stock: number, max: number): Effect.Effect<void, ValidationError> =>
  Number.isInteger(stock) && stock >= 0 && stock <= max
    ? Effect.void
    : Effect.fail(invalidField(field, `must be a whole number from 0 to ${max}`))
