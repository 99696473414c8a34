/** Parses the extra request headers of STOCK_SYNC_SOURCE_HEADERS. */
import * as Either from "effect/Either"

// Set by the program or the protocol. With a condition or a range the response would not be the whole source.
const reserved = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "keep-alive",
  "range",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const header = new RegExp(`^(${token})\\s*:\\s*([\\x20-\\x7e]+)$`)
// A value may contain a semicolon, as in a cookie. It separates headers if a name and a colon follow.
const separator = new RegExp(`;\\s*(?=${token}\\s*:)`)

/**
 * The headers of a text with one `Name: value` a line, or several on one line with semicolons between them. The error contains no value;
 * `authorization` names in it the setting for that header.
 */
export const parse = (text: string, authorization: string): Either.Either<Readonly<Record<string, string>>, string> =>
  Either.gen(function*() {
    const found: Record<string, string> = {}
    const parts = /[\r\n]/.test(text.trim()) ? text.split(/\r\n|\r|\n/) : text.split(separator)
    for (const [index, part] of parts.map((each) => each.trim().replace(/;$/, "").trim()).entries()) {
      if (part === "") continue
      const [, written, value] = header.exec(part) ?? []
      if (written === undefined || value === undefined) {
        return yield* Either.left(`header ${index + 1} is not "Name: value" in printable ASCII characters`)
      }
      const name = written.toLowerCase()
      if (name === "authorization") return yield* Either.left(`the header authorization belongs into ${authorization}`)
      if (reserved.has(name)) return yield* Either.left(`the header ${name} can't be set`)
      if (Object.hasOwn(found, name)) return yield* Either.left(`the header ${name} is set twice`)
      found[name] = value
    }
    return found
  })
