/**
 * API keys: parsing, and the states `active` and `revoked`.
 *
 * Source: interface v1, "Authentication" and "States and transitions".
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { maxActiveKeys } from "./Limits.js"

// The document doesn't show the prefix, so a local check of the form could lock a user out with a valid key. What a header
// can't carry is different: the HTTP client would fail or change it.
const headerSafe = /^[!-~]+$/

/**
 * The text can't be sent as a key. The error doesn't hold the text: a mistyped key is a secret too.
 *
 * @since 0.1.0
 * @category errors
 */
export class MalformedApiKey extends Data.TaggedError("MalformedApiKey")<{}> {
  override get message(): string {
    return "an API key is one word of printable ASCII characters, without spaces or line breaks"
  }
}

/**
 * Parses a key. Accepts every text that a header can carry: printable ASCII without spaces, not empty. The document gives
 * the form as a fixed prefix and 40 characters but doesn't show the prefix, so the service decides whether the key is valid
 * (401 INVALID_API_KEY).
 * Source: interface v1, "Authentication", rule 3.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parse = (text: string): Either.Either<Redacted.Redacted, MalformedApiKey> =>
  headerSafe.test(text) ? Either.right(Redacted.make(text)) : Either.left(new MalformedApiKey())

/**
 * The state of a key.
 * Source: interface v1, "States and transitions".
 *
 * @since 0.1.0
 * @category models
 */
export const KeyState = Schema.Literal("active", "revoked")
/** @since 0.1.0 @category models */
export type KeyState = typeof KeyState.Type

/**
 * Revokes a key. A revoked key stays revoked.
 *
 * @since 0.1.0
 * @category transitions
 */
export const revoke = (_state: KeyState): KeyState => "revoked"

/**
 * Returns whether an account with these keys can create another: at most {@link maxActiveKeys} are active.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category transitions
 */
export const canCreateKey = (keys: ReadonlyArray<KeyState>): boolean => keys.filter((state) => state === "active").length < maxActiveKeys
