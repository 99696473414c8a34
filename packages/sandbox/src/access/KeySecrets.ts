/**
 * Generates the values of keys by the cryptographic random generator of the operating system.
 *
 * @since 0.1.0
 */
import { keySecretLength } from "@plaza/domain/Limits"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
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

/** @since 0.1.0 @category services */
export class KeySecrets extends Context.Tag("@plaza/sandbox/KeySecrets")<KeySecrets, {
  /** The value of a new key: the prefix and 40 random characters. */
  readonly next: Effect.Effect<Redacted.Redacted>
}>() {}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<KeySecrets> = Layer.succeed(KeySecrets, {
  next: Effect.sync(() =>
    Redacted.make(prefix + Array.from({ length: keySecretLength }, () => alphabet[randomInt(alphabet.length)]).join(""))
  )
})
