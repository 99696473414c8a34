/**
 * Takes keys out of texts that are logged: a key may stand in a path or a query by mistake, as it is or percent-encoded,
 * more than once too.
 *
 * @since 0.1.0
 */
import { keySecretLength } from "@plaza/domain/Limits"
import { prefix } from "./KeySecrets.js"

/** One character, as it is or percent-encoded any number of times. */
const encoded = (literal: string, codes: string): string => `(?:${literal}|%(?:25)*(?:${codes}))`

const ofPrefix = Array.from(prefix, (character) => encoded(character, character.charCodeAt(0).toString(16))).join("")
const ofSecret = encoded("[A-Za-z0-9]", "3[0-9]|[46][1-9A-F]|[57][0-9A]")

// Every repetition is of a fixed number or of one form alone, so the time stays linear.
const keys = new RegExp(`${ofPrefix}${ofSecret}{${keySecretLength}}`, "gi")

/** What stands in place of a key. */
const masked = `${prefix}***`

/**
 * The same text with `key_***` in place of everything that has the form of a key.
 *
 * @since 0.1.0
 * @category masking
 */
export const mask = (text: string): string => text.replace(keys, masked)
