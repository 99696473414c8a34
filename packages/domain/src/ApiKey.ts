/**
 * API keys: parsing, and the states `active` and `revoked`.
 *
 * Source: interface v1, "Authentication" and "States and transitions".
 *
 * @since 0.1.0
 */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { maxActiveKeys } from "./Limits.ts"

// The document doesn't show the prefix, so a stricter local check could reject a valid key. The HTTP client would fail on other
// characters, or change them.
const headerSafe = /^[!-~]+$/

/**
 * The text is not a valid header value. The error doesn't contain the text, because a mistyped key is a secret too.
 *
 * @since 0.1.0
 * @category errors
 */
export class MalformedApiKey extends Schema.TaggedError<MalformedApiKey>()("MalformedApiKey", {}) {
  override get message(): string {
    return "an API key is one word of printable ASCII characters, without spaces or line breaks"
  }
}

/**
 * Parses a key. Accepts printable ASCII without spaces, not empty. The document describes a fixed prefix and 40 characters but
 * doesn't show the prefix, so the service decides whether the key is valid (401 INVALID_API_KEY).
 * Source: interface v1, "Authentication", rule 3.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parse = (text: string): Result.Result<Redacted.Redacted, MalformedApiKey> =>
  headerSafe.test(text) ? Result.succeed(Redacted.make(text)) : Result.fail(new MalformedApiKey())

/**
 * The state of a key.
 * Source: interface v1, "States and transitions".
 *
 * @since 0.1.0
 * @category models
 */
export const KeyState = Schema.Literals(["active", "revoked"])
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
 * Returns whether an account with these keys can create another one: it may hold {@link maxActiveKeys} active keys.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category transitions
 */
export const canCreateKey = (keys: ReadonlyArray<KeyState>): boolean => keys.filter((state) => state === "active").length < maxActiveKeys
