/**
 * Generates the values of keys by the cryptographic random generator of the operating system.
 *
 * @since 0.1.0
 */
import { keySecretLength } from "@plaza/domain/Limits"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomInt } from "node:crypto"

/**
 * The prefix of every key by default: the document's own example.
 *
 * @since 0.1.0
 * @category constants
 */
export const prefix = "key_"

/**
 * The characters of a key after its prefix.
 *
 * @since 0.1.0
 * @category constants
 */
export const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/**
 * The value of a new key: the prefix and 40 random characters.
 *
 * @since 0.1.0
 * @category constructors
 */
export const next: Effect.Effect<Redacted.Redacted> = Effect.sync(() =>
  Redacted.make(prefix + Array.from({ length: keySecretLength }, () => alphabet[randomInt(alphabet.length)]).join(""))
)
