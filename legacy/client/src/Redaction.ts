/**
 * Removes the API key from responses of the service and from errors of the HTTP client. It recognises the key in these forms:
 *
 * - plain, in upper, lower and mixed case,
 * - with JSON escapes (`\u0041`, `\/`, `\\`) and `\x41`,
 * - percent-encoded (`%41`, `%u0041`),
 * - with HTML entities, by number or name, with or without semicolon and with leading zeros (`&#65;`, `&#x041`, `&amp`),
 * - in any mixture of these, nested up to six levels deep,
 * - in base64, base64url or hexadecimal of a text that contains it, in one piece or in lines,
 * - in a header field, with white space between its characters.
 *
 * The 40 characters after the fixed prefix count as the key, because they are its secret. It does not recognise other encodings,
 * such as quoted-printable, UTF-16 or a reversed text, an encoding of one of these forms, nor other parts of a key.
 *
 * @since 0.1.0
 */
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"

/**
 * The redaction of one key.
 *
 * @since 0.1.0
 * @category models
 */
export interface Redaction {
  /**
   * Replaces the key with `<redacted>`. Where it occurs in another form, the whole string is replaced: a string of JSON, or a line of another
   * text. JSON stays valid, and its values and property names don't contain the key. Runs in linear time. Returns the
   * same text if it doesn't contain the key.
   */
  readonly text: (text: string) => string
  /** Redacts the names and the values of header fields. */
  readonly headers: (headers: Readonly<Record<string, string | undefined>>) => Readonly<Record<string, string>>
  /**
   * Returns a redacted copy of an HTTP client's error, because the error may reference the request with its headers. The copy has
   * only the name, message, stack, code and other plain fields of the error and its causes.
   */
  readonly cause: (cause: unknown) => unknown
}

const replacement = "<redacted>"

// A shorter text can occur in responses by chance. A documented key has 40 characters after its prefix.
const minLength = 8

// The characters of a documented key after its prefix, which all keys share (interface v1, "Authentication").
const secretLength = 40

// Each pass decodes one level of encoding. The limit bounds the time; deeper encodings are not expected.
const maxPasses = 6

/** The entities of printable ASCII, with lower-case names. */
const named: Readonly<Record<string, string>> = {
  excl: "!",
  quot: `"`,
  num: "#",
  dollar: "$",
  percnt: "%",
  amp: "&",
  apos: "'",
  lpar: "(",
  rpar: ")",
  ast: "*",
  midast: "*",
  plus: "+",
  comma: ",",
  period: ".",
  sol: "/",
  colon: ":",
  semi: ";",
  lt: "<",
  equals: "=",
  gt: ">",
  quest: "?",
  commat: "@",
  lsqb: "[",
  lbrack: "[",
  bsol: "\\",
  rsqb: "]",
  rbrack: "]",
  hat: "^",
  lowbar: "_",
  underbar: "_",
  grave: "`",
  diacriticalgrave: "`",
  lcub: "{",
  lbrace: "{",
  verbar: "|",
  vert: "|",
  verticalline: "|",
  rcub: "}",
  rbrace: "}"
}

// The entities of ASCII that HTML accepts without a semicolon.
const unclosed = "amp|lt|gt|quot"

// A run of backslashes belongs to the character after it: they escape it, or are escaped themselves. Without a semicolon, a numeric
// entity of printable ASCII ends where another digit would exceed ASCII.
const token = new RegExp(
  [
    /\\+(?:(?:u00|x)([0-9a-f]{2})|[^\\]|$)/.source,
    /%(?:u00)?([0-9a-f]{2})/.source,
    /&#0*(1[01]\d|12[0-6]|[3-9]\d);?/.source,
    /&#x0*([2-7][0-9a-f]);?/.source,
    `&(?:(${Object.keys(named).join("|")});|(${unclosed}))`
  ].join("|"),
  "gi"
)

// The first character of every escape.
const escape = /[\\%&]/

const characterOf = (code: number): string | undefined => code > 0x20 && code < 0x7f ? String.fromCharCode(code) : undefined

const decodedToken = (
  all: string,
  backslash: string | undefined,
  percent: string | undefined,
  decimal: string | undefined,
  hex: string | undefined,
  closedName: string | undefined,
  unclosedName: string | undefined
): string => {
  const code = percent ?? hex
  const name = closedName ?? unclosedName
  return backslash !== undefined
    ? characterOf(Number.parseInt(backslash, 16)) ?? all.replace(/^\\+/, "")
    : code !== undefined
    ? characterOf(Number.parseInt(code, 16)) ?? all
    : decimal !== undefined
    ? characterOf(Number(decimal)) ?? all
    : name !== undefined
    ? named[name.toLowerCase()] ?? all
    : all.replace(/^\\+/, "")
}

/** Decodes one level of escapes. */
const decoded = (text: string): string => text.replace(token, decodedToken)

/** A text and what it decodes to, level by level. */
const layersOf = (text: string): ReadonlyArray<string> => {
  const layers = [text]
  // Most texts have no escape, and the first use of `token` compiles it.
  for (let last = text; layers.length <= maxPasses && escape.test(last);) {
    const next = decoded(last)
    if (next === last) {
      break
    }
    layers.push(next)
    last = next
  }
  return layers
}

/** The parts of a base64 text that don't depend on the text around the key, for each of the three alignments. */
const encodedCores = (key: string): ReadonlyArray<string> =>
  ["", " ", "  "].flatMap((before) => {
    const base64 = Encoding.encodeBase64(before + key)
    // A base64 character has 6 bits. The first and the last characters also contain bits of the text before and after.
    const first = Math.ceil(before.length * 8 / 6)
    const last = Math.floor((before.length + key.length) * 8 / 6)
    const core = base64.slice(first, last)
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")]
  })

const hexOf = (key: string): string => Array.from(key, (character) => character.charCodeAt(0).toString(16).padStart(2, "0")).join("")

/** A table by ASCII code: 1 for each character of the needles in either case, of base64 and of escapes. */
const partsOf = (needles: ReadonlyArray<string>): Uint8Array => {
  const parts = new Uint8Array(128)
  for (const character of `${needles.join("")}ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\%&#;`) {
    parts[character.charCodeAt(0)] = 1
  }
  return parts
}

type Range = readonly [start: number, end: number]

const noRanges: ReadonlyArray<Range> = []

/** The index of the last of these ascending numbers that is not above a limit; -1 if all are above it. */
const lastUpTo = (at: ReadonlyArray<number>, index: number): number => {
  let low = 0
  let high = at.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((at[middle] ?? 0) <= index) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low - 1
}

// A line end within a word, plain and as JSON escapes, with the indentation of the next line.
const lineEnd = /(?<=[\w+/-])(?:\r?\n|\\r\\n|\\n)[ \t]*(?=[\w+/-])/g

/** A text without the line ends within its words. */
interface Joined {
  readonly text: string
  /** Returns where a character was before. */
  readonly originOf: (index: number) => number
}

/** Joins words that are broken into lines, as base64 is by RFC 2045. Returns undefined for a text without them. */
const joinedLines = (given: string): Joined | undefined => {
  if (!given.includes("\n") && !given.includes("\\n")) {
    return undefined
  }
  // For each line end: its place in the joined text, and its length and that of all before it.
  const at: Array<number> = []
  const removed: Array<number> = []
  let total = 0
  const text = given.replace(lineEnd, (match, index: number) => {
    at.push(index - total)
    total += match.length
    removed.push(total)
    return ""
  })
  return total === 0 ? undefined : { text, originOf: (index) => index + (removed[lastUpTo(at, index)] ?? 0) }
}

const occurrences = (text: string, needle: string): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let index = text.indexOf(needle); index >= 0; index = text.indexOf(needle, index + needle.length)) {
    found.push(index)
  }
  return found
}

/** Whether a string of JSON, or a line, ends with this character. */
const isBoundary = (text: string, index: number): boolean => {
  const character = text[index]
  if (character !== "\"") {
    return character === "\n" || character === "\r"
  }
  let first = index
  while (text[first - 1] === "\\") {
    first--
  }
  return (index - first) % 2 === 0
}

/** The string of JSON, or the line of another text, around a range. */
const stringAround = (text: string, [start, end]: Range): Range => {
  let first = start
  while (first > 0 && !isBoundary(text, first - 1)) {
    first--
  }
  let last = end
  while (last < text.length && !isBoundary(text, last)) {
    last++
  }
  return [first, last]
}

/** The parts of a run in different strings of JSON. Only a run of a key with quotation marks has several. */
const stringsIn = (text: string, [start, end]: Range): ReadonlyArray<Range> => {
  const parts: Array<Range> = []
  let from = start
  for (let index = start; index < end; index++) {
    if (text[index] === "\"" && isBoundary(text, index)) {
      parts.push([from, index])
      from = index + 1
    }
  }
  return [...parts, [from, end]]
}

/** The strings around the ranges. Each string is read once, however many ranges it has. */
const wholeStrings = (text: string, ranges: ReadonlyArray<Range>): ReadonlyArray<Range> => {
  const strings: Array<Range> = []
  let covered = 0
  for (const range of [...ranges].sort(([a], [b]) => a - b)) {
    if (range[1] > covered) {
      const string = stringAround(text, range)
      covered = string[1]
      strings.push(string)
    }
  }
  return strings
}

const replaced = (text: string, ranges: ReadonlyArray<Range>): string => {
  let out = ""
  let copied = 0
  for (const [start, end] of [...ranges].sort(([a], [b]) => a - b)) {
    if (start >= copied) {
      out += text.slice(copied, start) + replacement
    }
    copied = Math.max(copied, end)
  }
  return out + text.slice(copied)
}

// With the same length, which `toLowerCase` does not keep.
const lowerCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

// Causes are a few levels deep. The limit stops a cycle.
const maxDepth = 8

/**
 * Creates the redaction of a key. A key of fewer than 8 characters, which isn't of the documented form, is not redacted; one of fewer than
 * 40 characters in its own case only.
 *
 * @example
 * import { Redaction } from "@plaza-legacy/client"
 *
 * // "Bearer <redacted>"
 * const text = Redaction.make("key_0123456789").text("Bearer key_0123456789")
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (key: string): Redaction => {
  if (key.length < minLength) {
    return { text: (text) => text, headers: definedOf, cause: copyOf((text) => text) }
  }
  // A lower-case header name leaves most of a key readable. A short key could be a word.
  const fold = key.length < secretLength ? (text: string) => text : lowerCase
  const secrets = [...new Set([key, key.slice(-secretLength)])]
  const encoded = secrets.flatMap((secret) => [...encodedCores(secret), hexOf(secret)])
  // The key may itself contain an escape, which an echo may contain decoded. So each decoded form is a needle.
  const needles = [...new Set([...secrets, ...encoded].flatMap(layersOf).map(fold))]
  // Otherwise half of an escape of JSON would stay behind.
  const isPlain = !/["\\]/.test(key)
  const wholeKey = fold(key)
  const isPart = partsOf([...needles, ...secrets, ...encoded])
  const shortest = Math.min(...needles.map(({ length }) => length))

  const isIn = (text: string): boolean =>
    layersOf(text).some((layer) => {
      const folded = fold(layer)
      return needles.some((needle) => folded.includes(needle))
    })

  /**
   * The runs of characters that can contain a needle. Each covers one of the positions that are `shortest` apart. Most responses have no
   * such run. The code past the end is NaN, which is not in the table.
   */
  const runsIn = (text: string): ReadonlyArray<Range> => {
    let runs: Array<Range> | undefined
    for (let index = shortest - 1; index < text.length; index += shortest) {
      if (isPart[text.charCodeAt(index)] === 1) {
        let start = index
        while (isPart[text.charCodeAt(start - 1)] === 1) {
          start--
        }
        let end = index + 1
        while (isPart[text.charCodeAt(end)] === 1) {
          end++
        }
        if (end - start >= shortest) {
          runs ??= []
          runs.push([start, end])
        }
        index = end
      }
    }
    return runs ?? noRanges
  }

  /** Finds the key itself in a run. In what is left of the run, finds the strings with another form of it. */
  const findInRun = (given: string, [start, end]: Range, plain: Array<Range>, strings: Array<Range>): void => {
    const run = given.slice(start, end)
    let left = ""
    let copied = 0
    for (const index of isPlain ? occurrences(fold(run), wholeKey) : []) {
      // After a backslash its first character is escaped.
      if (run[index - 1] !== "\\") {
        plain.push([start + index, start + index + key.length])
        left += `${run.slice(copied, index)} `
        copied = index + key.length
      }
    }
    left += run.slice(copied)
    if (isIn(left)) {
      const parts = stringsIn(given, [start, end]).filter((part) => isIn(given.slice(...part)))
      strings.push(...parts.length === 0 ? [[start, end] as const] : parts)
    }
  }

  const findInLines = ({ originOf, text }: Joined, strings: Array<Range>): void => {
    for (const [start, end] of runsIn(text)) {
      const run = fold(text.slice(start, end))
      for (const needle of needles) {
        for (const index of occurrences(run, needle)) {
          const range = [originOf(start + index), originOf(start + index + needle.length - 1) + 1] as const
          // One that is not broken was found before.
          if (range[1] - range[0] > needle.length) {
            strings.push(range)
          }
        }
      }
    }
  }

  const text = (given: string): string => {
    const runs = runsIn(given)
    const joined = joinedLines(given)
    if (runs.length === 0 && joined === undefined) {
      return given
    }
    const plain: Array<Range> = []
    const strings: Array<Range> = []
    for (const run of runs) {
      findInRun(given, run, plain, strings)
    }
    if (joined !== undefined) {
      findInLines(joined, strings)
    }
    return plain.length + strings.length === 0 ? given : replaced(given, [...plain, ...wholeStrings(given, strings)])
  }

  // A folded header field has white space where its lines ended.
  const field = (given: string): string => {
    const left = text(given)
    return /\s/.test(left) && isIn(left.replaceAll(/\s+/g, "")) ? replacement : left
  }

  return {
    text,
    headers: (headers) => Object.fromEntries(Object.entries(definedOf(headers)).map(([name, value]) => [field(name), field(value)])),
    cause: copyOf(text)
  }
}

const definedOf = (headers: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]))

// The plain fields of errors of sockets, TLS, undici and fetch.
const fields = ["code", "errno", "syscall", "hostname", "host", "address", "port", "reason", "status", "statusCode", "_tag"] as const

const copyOf = (redacted: (text: string) => string) => {
  const copy = (cause: unknown, depth: number): unknown => {
    if (typeof cause === "string") {
      return redacted(cause)
    }
    if (!Predicate.isObject(cause)) {
      return typeof cause === "symbol" ? redacted(String(cause)) : cause
    }
    if (depth === maxDepth || Predicate.isFunction(cause)) {
      return undefined
    }
    const read = (name: string): unknown => {
      try {
        return Predicate.hasProperty(cause, name) ? cause[name] : undefined
      } catch {
        // A getter that throws counts as a missing field.
        return undefined
      }
    }
    const textOf = (name: string): string | undefined => {
      const found = read(name)
      return typeof found === "string" ? redacted(found) : undefined
    }
    const inner = read("cause")
    const error = new Error(textOf("message") ?? "", inner === undefined ? undefined : { cause: copy(inner, depth + 1) })
    Object.defineProperty(error, "name", { value: textOf("name") ?? "Error", configurable: true, writable: true })
    Object.defineProperty(error, "stack", {
      value: textOf("stack") ?? `${error.name}: ${error.message}`,
      configurable: true,
      writable: true
    })
    for (const name of fields) {
      const fact = read(name)
      if (typeof fact === "string" || typeof fact === "number") {
        Object.defineProperty(error, name, { value: typeof fact === "string" ? redacted(fact) : fact, enumerable: true })
      }
    }
    const errors = read("errors")
    if (Array.isArray(errors)) {
      Object.defineProperty(error, "errors", { value: errors.map((one: unknown) => copy(one, depth + 1)), enumerable: true })
    }
    return error
  }
  return (cause: unknown): unknown => copy(cause, 0)
}
