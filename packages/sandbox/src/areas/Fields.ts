/**
 * Bounds of fields that the document leaves open. Knows nothing of which resource a field belongs to.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import { invalidField } from "../http/Envelope.js"

/**
 * Refuses a text that is empty, too long (in code points) or that storage can't keep.
 *
 * @since 0.1.0
 * @category checks
 */
export const checkText = (field: string, text: string, most: number): Effect.Effect<void, ValidationError> => {
  const problem = text === ""
    ? "must not be empty"
    // The cheap measure first: code points are never more than code units.
    : text.length > most && Array.from(text).length > most
    ? `must have at most ${most} characters`
    : text.includes("\0")
    ? "must not hold the character U+0000"
    : /\p{Surrogate}/u.test(text)
    ? "must be well-formed Unicode"
    : undefined
  return problem === undefined ? Effect.void : Effect.fail(invalidField(field, problem))
}

/**
 * Refuses a stock that isn't a whole number from 0.
 *
 * @since 0.1.0
 * @category checks
 */
export const checkStock = (field: string, stock: number, most: number): Effect.Effect<void, ValidationError> =>
  Number.isInteger(stock) && stock >= 0 && stock <= most
    ? Effect.void
    : Effect.fail(invalidField(field, `must be a whole number from 0 to ${most}`))
