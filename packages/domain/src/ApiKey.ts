/**
 * The key: its form, and its life from active to revoked. Knows nothing of where it is kept or sent.
 *
 * Source: interface v1, "Authentication" and "States and transitions".
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { keySecretLength, maxActiveKeys } from "./Limits.js"

// The prefix is "fixed" in the document but not told, so any is taken. Printable ASCII alone can travel in a header.
const form = new RegExp(`^[!-~]+_[!-~]{${keySecretLength}}$`)

/**
 * The text has not the form of a key. It never carries the text: a mistyped key is a secret too.
 *
 * @since 0.1.0
 * @category errors
 */
export class MalformedApiKey extends Data.TaggedError("MalformedApiKey")<{}> {
  override get message(): string {
    return `an API key is a prefix, an underscore and ${keySecretLength} characters, without spaces`
  }
}

/**
 * Takes a key of the form `<prefix>_<40 characters>`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parse = (text: string): Either.Either<Redacted.Redacted, MalformedApiKey> =>
  form.test(text) ? Either.right(Redacted.make(text)) : Either.left(new MalformedApiKey())

/** @since 0.1.0 @category models */
export const KeyState = Schema.Literal("active", "revoked")
/** @since 0.1.0 @category models */
export type KeyState = typeof KeyState.Type

/**
 * Revokes a key, possible at any time; a revoked key stays revoked.
 *
 * @since 0.1.0
 * @category transitions
 */
export const revoke = (_state: KeyState): KeyState => "revoked"

/**
 * Whether an account that holds these keys may create another: at most 5 are active.
 *
 * @since 0.1.0
 * @category transitions
 */
export const mayCreate = (held: ReadonlyArray<KeyState>): boolean =>
  held.filter((state) => state === "active").length < maxActiveKeys
