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
 * The 40 characters after the fixed prefix count as the key, because they are its secret. It does not recognise other encodings, such as
 * quoted-printable, UTF-16, octal escapes, escapes with braces, hexadecimal with separators, lists of character codes or a reversed text, an
 * encoding of one of these forms, nor other parts of a key.
 *
 * @since 0.1.0
 */
import * as Base64 from "effect/encoding/Base64"
import * as Hex from "effect/encoding/Hex"
import * as Predicate from "effect/Predicate"
import { escape as literal } from "effect/RegExp"

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
    // A base64 character has 6 bits. The first and the last characters also contain bits of the text before and after.
    const first = Math.ceil(before.length * 8 / 6)
    const last = Math.floor((before.length + key.length) * 8 / 6)
    const core = Base64.encode(before + key).slice(first, last)
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")]
  })

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

// A line end within a word, plain and as JSON escapes, with the indentation of the next line. Base64 has them by RFC 2045.
const lineEndInWord = /(?<=[\w+/-])(?:\r?\n|\\r\\n|\\n)[ \t]*(?=[\w+/-])/g

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

/** Replaces the strings around the ranges. Reads each string once, however many ranges it has. */
const withoutStrings = (text: string, ranges: ReadonlyArray<Range>): string => {
  let out = ""
  let copied = 0
  for (const range of [...ranges].sort(([a], [b]) => a - b)) {
    if (range[1] > copied) {
      const [start, end] = stringAround(text, range)
      out += start < copied ? "" : text.slice(copied, start) + replacement
      copied = end
    }
  }
  return out + text.slice(copied)
}

// With the same length, which `toLowerCase` does not keep.
const lowerCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/**
 * Creates the redaction of a key. A key of fewer than 8 characters, which isn't of the documented form, is not redacted; one of fewer than
 * 40 characters in its own case only.
 *
 * @example
 * import { Redaction } from "@plaza/client"
 *
 * const text = Redaction.make("key_0123456789").text("Bearer key_0123456789")
 * // => "Bearer <redacted>"
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (key: string): Redaction => {
  if (key.length < minLength) {
    return { text: (text) => text, headers: definedOf, cause: copyOf((text) => text) }
  }
  // A lower-case header name leaves most of a key readable. A short key could be a word.
  const ignoresCase = key.length >= secretLength
  const fold = ignoresCase ? lowerCase : (text: string) => text
  const flags = ignoresCase ? "gi" : "g"
  const secrets = [...new Set([key, key.slice(-secretLength)])]
  const encoded = secrets.flatMap((secret) => [...encodedCores(secret), Hex.encode(secret)])
  // The key may itself contain an escape, which an echo may contain decoded. So each decoded form is a needle.
  const needles = [...new Set([...secrets, ...encoded].flatMap(layersOf).map(fold))]
  // Otherwise half of an escape of JSON would stay behind. After a backslash, the first character of the key is escaped.
  const plain = /["\\]/.test(key) ? undefined : new RegExp(`(?<!\\\\)${literal(key)}`, flags)
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

  /** The parts of a text that contain a form of the key in one line. */
  const rangesInLine = (text: string): ReadonlyArray<Range> =>
    runsIn(text).flatMap((run) => {
      if (!isIn(text.slice(...run))) {
        return noRanges
      }
      const parts = stringsIn(text, run).filter((part) => isIn(text.slice(...part)))
      return parts.length === 0 ? [run] : parts
    })

  /** The parts of a text that contain a needle in several lines. */
  const rangesInLines = (text: string): ReadonlyArray<Range> => {
    const joined = text.includes("\n") || text.includes("\\n") ? text.replace(lineEndInWord, "") : text
    const runs = joined === text ? [] : runsIn(joined).map((run) => fold(joined.slice(...run)))
    return needles.filter((needle) => runs.some((run) => run.includes(needle))).flatMap((needle) => {
      const broken = new RegExp(Array.from(needle, literal).join(/(?:\\[rn]|\s)*/.source), flags)
      return Array.from(text.matchAll(broken), ({ 0: { length }, index }): Range => [index, index + length])
    })
  }

  const text = (input: string): string => {
    const rest = plain === undefined || runsIn(input).length === 0 ? input : input.replace(plain, replacement)
    const ranges = [...rangesInLine(rest), ...rangesInLines(rest)]
    return ranges.length === 0 ? rest : withoutStrings(rest, ranges)
  }

  // A folded header field has white space where its lines ended.
  const field = (input: string): string => {
    const left = text(input)
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

// The plain fields of errors of sockets, TLS, undici, fetch and the platform's client.
const fields = ["code", "errno", "syscall", "hostname", "host", "address", "port", "reason", "status", "statusCode", "_tag"] as const

// Causes are a few levels deep. The limit stops a cycle.
const maxDepth = 8

const copyOf = (redacted: (text: string) => string) => {
  const copy = (cause: unknown, depth: number): unknown => {
    if (typeof cause === "string" || typeof cause === "symbol") {
      return redacted(String(cause))
    }
    if (!Predicate.isObjectKeyword(cause)) {
      return cause
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
    const plain = (name: string): string | number | undefined => {
      const value = read(name)
      return typeof value === "string" ? redacted(value) : typeof value === "number" ? value : undefined
    }
    const inner = read("cause")
    const error = new Error(String(plain("message") ?? ""), inner === undefined ? undefined : { cause: copy(inner, depth + 1) })
    const set = (name: string, value: unknown, enumerable: boolean) =>
      Object.defineProperty(error, name, { value, enumerable, configurable: true, writable: true })
    set("name", String(plain("name") ?? "Error"), false)
    set("stack", plain("stack") ?? `${error.name}: ${error.message}`, false)
    for (const name of fields) {
      const value = plain(name)
      if (value !== undefined) {
        set(name, value, true)
      }
    }
    const errors = read("errors")
    if (Array.isArray(errors)) {
      set("errors", errors.map((one: unknown) => copy(one, depth + 1)), true)
    }
    return error
  }
  return (cause: unknown): unknown => copy(cause, 0)
}
