/**
 * Rejects empty texts and blank values before a request is sent.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { InvalidInput } from "../../ClientError.ts"
import { operation } from "./Contract.ts"
import type { OperationName } from "./Contract.ts"

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
  typeof value !== "string"
    ? Effect.fail(new InvalidInput({ field, message: `${field} must be a text` }))
    : value.trim() === ""
    ? Effect.fail(new InvalidInput({ field, message: `${field} must not be empty` }))
    : Effect.void

/**
 * Fails with `InvalidInput` for a payload of another form, before anything of it is read. Code without types can pass anything.
 *
 * @since 0.1.0
 * @category checks
 */
export const validatePayload = (name: OperationName, payload: unknown): Effect.Effect<void, InvalidInput> =>
  Effect.suspend(() => Effect.asVoid(Effect.fromResult(operation(name).payload?.(payload) ?? Result.succeed(undefined))))
