/**
 * Removes the API key from responses of the service and from errors of the HTTP client. It recognises the key in these forms:
 *
 * - plain,
 * - with JSON escapes (`\u0041`, `\/`, `\\`),
 * - percent-encoded (`%41`),
 * - with HTML entities, by number or name, with or without semicolon and with leading zeros (`&#65;`, `&#x041`, `&amp`),
 * - in any mixture of these, nested up to six levels deep,
 * - in base64 or base64url of a text that contains it, in one piece or in lines.
 *
 * The 40 characters after the fixed prefix count as the key, because they are its secret. It does not recognise other encodings,
 * such as `\x41`, hexadecimal or quoted-printable, nor other parts of a key.
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
   * Replaces each occurrence of the key, including its escapes, with `<redacted>`. JSON stays valid, and its values and property
   * names don't contain the key. Runs in linear time. Returns the same text if it doesn't contain the key.
   */
  readonly text: (text: string) => string
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

const named: Readonly<Record<string, string>> = {
  excl: "!",
  quot: `"`,
  QUOT: `"`,
  num: "#",
  dollar: "$",
  percnt: "%",
  amp: "&",
  AMP: "&",
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
  LT: "<",
  equals: "=",
  gt: ">",
  GT: ">",
  quest: "?",
  commat: "@",
  lsqb: "[",
  lbrack: "[",
  bsol: "\\",
  rsqb: "]",
  rbrack: "]",
  Hat: "^",
  lowbar: "_",
  UnderBar: "_",
  grave: "`",
  DiacriticalGrave: "`",
  lcub: "{",
  lbrace: "{",
  verbar: "|",
  vert: "|",
  VerticalLine: "|",
  rcub: "}",
  rbrace: "}"
}

// The entities of ASCII that HTML accepts without a semicolon.
const unclosed = "amp|lt|gt|quot"

// A run of backslashes belongs to the character after it: they escape it, or are escaped themselves. Without a semicolon, a numeric
// entity of printable ASCII ends where another digit would exceed ASCII.
const token = new RegExp(
  [
    /\\+(?:u00([0-9a-f]{2})|[^\\]|$)/.source,
    /%([0-9a-f]{2})/.source,
    /&#0*(1[01]\d|12[0-6]|[3-9]\d);?/.source,
    /&#x0*([2-7][0-9a-f]);?/.source,
    `&(?:(${Object.keys(named).join("|")});|(${unclosed}))`
  ].join("|"),
  "gi"
)

// The first character of every escape.
const escape = /[\\%&]/

const characterOf = (code: number): string | undefined => code > 0x20 && code < 0x7f ? String.fromCharCode(code) : undefined

const decodedToken = (match: RegExpExecArray): string | undefined => {
  const [all, unicode, percent, decimal, hex, closedName, unclosedName] = match
  const name = closedName ?? unclosedName
  const code = unicode ?? percent ?? hex
  return code !== undefined
    ? characterOf(Number.parseInt(code, 16))
    : decimal !== undefined
    ? characterOf(Number(decimal))
    : name !== undefined
    ? Object.hasOwn(named, name) ? named[name] : undefined
    : all.replace(/^\\+/, "")
}

/** A text with one level of escapes decoded, and the origins of its parts. */
interface Pass {
  readonly text: string
  /** For each decoded token: its place in the decoded text and its range in the text before. */
  readonly at: ReadonlyArray<number>
  readonly from: ReadonlyArray<number>
  readonly to: ReadonlyArray<number>
}

/** Decodes one level of escapes. Returns undefined for a text without escapes. */
const pass = (text: string): Pass | undefined => {
  // Most texts have no escape, and the first use of `token` compiles it.
  if (!escape.test(text)) {
    return undefined
  }
  const at: Array<number> = []
  const from: Array<number> = []
  const to: Array<number> = []
  let out = ""
  let copied = 0
  token.lastIndex = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const character = decodedToken(match)
    if (character !== undefined) {
      out += text.slice(copied, match.index)
      copied = match.index + match[0].length
      if (character !== "") {
        at.push(out.length)
        from.push(match.index)
        to.push(copied)
        out += character
      }
    }
  }
  return copied === 0 ? undefined : { text: out + text.slice(copied), at, from, to }
}

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

/** Returns where a character of the decoded text starts, or ends, in the text before decoding. */
const origin = (decoded: Pass, index: number, side: "from" | "to"): number => {
  const before = lastUpTo(decoded.at, index)
  const at = decoded.at[before]
  return at === undefined
    ? index + (side === "from" ? 0 : 1)
    : at === index
    ? decoded[side][before] ?? index
    : (decoded.to[before] ?? 0) + index - at - 1 + (side === "from" ? 0 : 1)
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

/** A table by ASCII code: 1 for each character of the needles, of base64 and of escapes. */
const partsOf = (needles: ReadonlyArray<string>): Uint8Array => {
  const parts = new Uint8Array(128)
  for (const character of `${needles.join("")}ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\%&#;`) {
    parts[character.charCodeAt(0)] = 1
  }
  return parts
}

const layersOf = (text: string): ReadonlyArray<string> => {
  const layers = [text]
  for (let decoded = pass(text); decoded !== undefined && layers.length <= maxPasses; decoded = pass(decoded.text)) {
    layers.push(decoded.text)
  }
  return layers
}

// Line ends within base64, plain and as JSON escapes.
const lineEnd = /(?<=[\w+/-])(?:\r?\n|\\r\\n|\\n)(?=[\w+/-])/g

/** Finds base64 that is broken into lines (RFC 2045). */
const findInLines = (text: string, needles: ReadonlyArray<string>, ranges: Array<Range>): void => {
  if (!text.includes("\n") && !text.includes("\\n")) {
    return
  }
  // For each line end: its place in the text without line ends, and its length and that of all before it.
  const at: Array<number> = []
  const removed: Array<number> = []
  let total = 0
  const joined = text.replace(lineEnd, (match, index: number) => {
    at.push(index - total)
    total += match.length
    removed.push(total)
    return ""
  })
  const originOf = (index: number): number => index + (removed[lastUpTo(at, index)] ?? 0)
  for (const needle of total === 0 ? [] : needles) {
    for (let index = joined.indexOf(needle); index >= 0; index = joined.indexOf(needle, index + needle.length)) {
      ranges.push([originOf(index), originOf(index + needle.length - 1) + 1])
    }
  }
}

type Range = readonly [start: number, end: number]

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

/**
 * Extends the end of a match to a whole pair of backslashes: half of a pair would escape the next character in JSON.
 */
const endOf = (text: string, end: number): number => {
  let first = end
  while (text[first - 1] === "\\") {
    first--
  }
  let last = end
  while (text[last] === "\\") {
    last++
  }
  return first === end ? end : Math.max(end, last - (last - first) % 2)
}

// Causes are a few levels deep. The limit stops a cycle.
const maxDepth = 8

/**
 * Creates the redaction of a key. A key of fewer than 8 characters, which isn't of the documented form, is not redacted.
 *
 * @example
 * import { Redaction } from "@plaza/client"
 *
 * // "Bearer <redacted>"
 * const text = Redaction.make("key_0123456789").text("Bearer key_0123456789")
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (key: string): Redaction => {
  if (key.length < minLength) {
    return { text: (text) => text, cause: copyOf((text) => text) }
  }
  const secrets = [key, key.slice(-secretLength)]
  const encoded = secrets.flatMap(encodedCores)
  // The key may itself contain an escape, which an echo may contain decoded. So each decoded form is a needle.
  const needles = [...new Set([...secrets, ...encoded].flatMap(layersOf))]
  const isPart = partsOf(needles)
  const shortest = Math.min(...needles.map(({ length }) => length))

  const find = (text: string, offset: number, passes: ReadonlyArray<Pass>, ranges: Array<Range>) => {
    for (const needle of needles) {
      for (let index = text.indexOf(needle); index >= 0; index = text.indexOf(needle, index + needle.length)) {
        let start = index
        let end = index + needle.length
        for (const decoded of [...passes].reverse()) {
          end = origin(decoded, end - 1, "to")
          start = origin(decoded, start, "from")
        }
        ranges.push([offset + start, offset + end])
      }
    }
  }

  const findEscaped = (run: string, offset: number, ranges: Array<Range>) => {
    const passes: Array<Pass> = []
    for (let decoded = pass(run); decoded !== undefined && passes.length < maxPasses; decoded = pass(decoded.text)) {
      passes.push(decoded)
      find(decoded.text, offset, passes, ranges)
    }
  }

  const text = (given: string): string => {
    const ranges: Array<Range> = []
    // Only a run of at least `shortest` such characters can contain the key, and it covers one of the positions that are `shortest`
    // apart. Most responses have no such run. The code past the end is NaN, which is not in the table.
    for (let index = shortest - 1; index < given.length; index += shortest) {
      if (isPart[given.charCodeAt(index)] === 1) {
        let start = index
        while (isPart[given.charCodeAt(start - 1)] === 1) {
          start--
        }
        let end = index + 1
        while (isPart[given.charCodeAt(end)] === 1) {
          end++
        }
        if (end - start >= shortest) {
          const run = given.slice(start, end)
          find(run, start, [], ranges)
          findEscaped(run, start, ranges)
        }
        index = end
      }
    }
    findInLines(given, encoded, ranges)
    return ranges.length === 0 ? given : replaced(given, ranges.map(([start, end]) => [start, endOf(given, end)]))
  }

  return { text, cause: copyOf(text) }
}

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
