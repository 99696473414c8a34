/**
 * Masks keys in what the sandbox records and shows: a key may stand in a path, a query or a body by mistake, as it is or
 * percent-encoded, more than once too.
 *
 * @since 0.1.0
 */
import { keySecretLength } from "@plaza/domain/Limits"
import * as Predicate from "effect/Predicate"
import { prefix } from "../access/KeySecrets.js"

/** @since 0.1.0 @category models */
export interface KeyMask {
  /** The same text with {@link masked} in place of everything that has the form of a key. */
  readonly text: (text: string) => string
  /**
   * The same for what is made of one segment of a path: of a key whose prefix contains slashes, only the end stands there.
   */
  readonly segment: (text: string) => string
  /** The same JSON with its texts and the names of its fields masked. */
  readonly json: (value: unknown) => unknown
}

/**
 * What stands in place of a key, whatever its prefix.
 *
 * @since 0.1.0
 * @category constants
 */
export const masked = "key_***"

/** One character percent-encoded any number of times, as it is, or escaped in JSON: the longest first. */
const encoded = (literal: string, codes: string): string => `(?:%(?:25)*(?:${codes})|${literal})`

const literalOf = (character: string): string => {
  const escaped = character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&")
  return character === "\"" || character === "\\" ? `\\\\?${escaped}` : escaped
}

const patternOf = (keyPrefix: string): string =>
  Array.from(keyPrefix, (character) => encoded(literalOf(character), character.charCodeAt(0).toString(16).padStart(2, "0"))).join("")

const secret = encoded("[A-Za-z0-9]", "3[0-9]|[46][1-9A-F]|[57][0-9A]")

/** Finds where keys begin, those too that begin within what looks like another one; the group is the whole key. */
const matcher = (prefixes: Iterable<string>): RegExp => {
  const patterns = [...new Set(prefixes)].sort((one, other) => other.length - one.length).map(patternOf)
  // Every repetition is of a fixed number or of one form alone, so the time stays linear.
  return new RegExp(`(?=((?:${patterns.join("|")})${secret}{${keySecretLength}}))`, "gi")
}

const replaceAll = (text: string, keys: RegExp): string => {
  let kept = ""
  let end = 0
  for (const { 1: key = "", index } of text.matchAll(keys)) {
    kept += index < end ? "" : text.slice(end, index) + masked
    end = Math.max(end, index + key.length)
  }
  return end === 0 ? text : kept + text.slice(end)
}

/** A prefix without its first segments; those of a path are taken apart at slashes. */
const endsOf = (keyPrefix: string): ReadonlyArray<string> =>
  Array.from(keyPrefix).flatMap((character, index) => character === "/" ? [keyPrefix.slice(index + 1)] : [])

const mapJson = (value: unknown, mask: (text: string) => string): unknown =>
  typeof value === "string"
    ? mask(value)
    : Array.isArray(value)
    ? value.map((item: unknown) => mapJson(item, mask))
    : Predicate.isReadonlyRecord(value)
    // Unlike an assignment, this keeps a field that is called "__proto__".
    ? Object.fromEntries(Object.entries(value).map(([name, field]) => [mask(name), mapJson(field, mask)]))
    : value

/**
 * Masks keys of these prefixes, to which more may be added later, and of the document's own.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (prefixes: ReadonlySet<string>): KeyMask => {
  let known = -1
  let keys = /$/g
  let ends = /$/g
  const upToDate = () => {
    if (known !== prefixes.size) {
      known = prefixes.size
      const all = [prefix, ...prefixes]
      keys = matcher(all)
      ends = matcher([...all, ...all.flatMap(endsOf)])
    }
  }
  const replace = (text: string, pattern: () => RegExp): string => {
    // Most texts are shorter than any key.
    if (text.length < keySecretLength) {
      return text
    }
    upToDate()
    return replaceAll(text, pattern())
  }
  const mask = (text: string) => replace(text, () => keys)
  return { text: mask, segment: (text) => replace(text, () => ends), json: (value) => mapJson(value, mask) }
}
