/**
 * Generates the values of keys: by the cryptographic random generator of the operating system, or from a name.
 *
 * @since 0.1.0
 */
import { keySecretLength } from "@plaza-legacy/domain/Limits"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { hash, randomInt } from "node:crypto"

/**
 * The prefix of every key by default: the document's own example.
 *
 * @since 0.1.0
 * @category constants
 */
export const prefix = "key_"

/** The characters of a key after its prefix. */
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/**
 * The value of a new key: the prefix and 40 random characters.
 *
 * @since 0.1.0
 * @category constructors
 */
export const next: Effect.Effect<Redacted.Redacted> = Effect.sync(() =>
  Redacted.make(prefix + Array.from({ length: keySecretLength }, () => alphabet[randomInt(alphabet.length)]).join(""))
)

/**
 * The key of a name. The same name always gives the same key, so it is no secret.
 *
 * @since 0.1.0
 * @category constructors
 */
export const derived = (name: string): Redacted.Redacted => {
  const bytes = hash("sha512", name, "buffer").subarray(0, keySecretLength)
  return Redacted.make(prefix + Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join(""))
}
