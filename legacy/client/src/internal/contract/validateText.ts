/**
 * Rejects empty texts and blank values before a request is sent.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { InvalidInput } from "../../ClientError.ts"

/**
 * Fails with `InvalidInput` for an empty text. The service decides whether blank text is valid.
 *
 * @since 0.1.0
 * @category checks
 */
export const validateText = (text: string): Effect.Effect<void, InvalidInput> =>
  text === "" ? Effect.fail(new InvalidInput({ field: "text", message: "text must not be empty" })) : Effect.void

/**
 * Fails with `InvalidInput` for a value without a visible character, which names nothing.
 *
 * @since 0.1.0
 * @category checks
 */
export const validateName = (field: string, value: string): Effect.Effect<void, InvalidInput> =>
  value.trim() === "" ? Effect.fail(new InvalidInput({ field, message: `${field} must not be empty` })) : Effect.void
