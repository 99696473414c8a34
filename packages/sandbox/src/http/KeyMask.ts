/**
 * Masks keys in the records and pages of the sandbox. A path, a query or a body may contain a key by mistake, unencoded or
 * percent-encoded one or more times.
 */
import { keySecretLength } from "@plaza/domain/Limits"
import * as Predicate from "effect/Predicate"
import { prefix } from "../access/Keys.ts"

export interface KeyMask {
  /** Replaces everything that has the form of a key with {@link masked}. */
  readonly text: (text: string) => string
  /** The same for a text that contains one path segment. Also masks a key whose prefix was split at a slash. */
  readonly segment: (text: string) => string
  /** Masks the strings and the field names of a JSON value. */
  readonly json: (value: unknown) => unknown
}

/** The replacement for a key of any prefix. */
export const masked = "key_***"

/** One character: percent-encoded any number of times, unencoded, or escaped in JSON. The longest form comes first. */
const encoded = (literal: string, codes: string): string => `(?:%(?:25)*(?:${codes})|${literal})`

const literalOf = (character: string): string => {
  const escaped = character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&")
  return character === "\"" || character === "\\" ? `\\\\?${escaped}` : escaped
}

const patternOf = (keyPrefix: string): string =>
  Array.from(keyPrefix, (character) => encoded(literalOf(character), character.charCodeAt(0).toString(16).padStart(2, "0"))).join("")

const secret = encoded("[A-Za-z0-9]", "3[0-9]|[46][1-9A-F]|[57][0-9A]")

/** Finds the start of every key, also inside another match. The group is the whole key. */
const matcher = (prefixes: Iterable<string>): RegExp => {
  const patterns = [...new Set(prefixes)].sort((one, other) => other.length - one.length).map(patternOf)
  // Every repetition has a fixed count or a single form, so the time is linear.
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

/** The ends of a prefix after each of its slashes, at which a path is split. */
const endsOf = (keyPrefix: string): ReadonlyArray<string> =>
  Array.from(keyPrefix).flatMap((character, index) => character === "/" ? [keyPrefix.slice(index + 1)] : [])

const mapJson = (value: unknown, mask: (text: string) => string): unknown =>
  typeof value === "string"
    ? mask(value)
    : Array.isArray(value)
    ? value.map((item: unknown) => mapJson(item, mask))
    : Predicate.isReadonlyObject(value)
    // Unlike an assignment, this keeps a field named "__proto__".
    ? Object.fromEntries(Object.entries(value).map(([name, field]) => [mask(name), mapJson(field, mask)]))
    : value

/** Masks keys with the document's prefix or one of these. The set may grow later. */
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
