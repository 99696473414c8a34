/** The forms in which a service or a proxy may echo an API key, and a check that a text contains none of them. */
import { Arbitrary, Effect, type Scope } from "effect"
import { createServer, type Server } from "node:http"
import { arrayOf, elementOf } from "./Generators.ts"

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0")

const each = (encode: (character: string, index: number) => string) => (key: string): string => Array.from(key, encode).join("")

const base64 = (before: string, encoding: "base64" | "base64url") => (key: string): string =>
  Buffer.from(`${before}${key}`).toString(encoding)

/** Each form of a key, by a name. */
export const forms: Readonly<Record<string, (key: string) => string>> = {
  plain: (key) => key,
  "without its prefix": (key) => key.slice(-40),
  "in lower case": (key) => key.toLowerCase(),
  "in upper case": (key) => key.toUpperCase(),
  "percent-encoded": each((character) => `%${hex(character)}`),
  "partly percent-encoded": each((character, index) => index % 3 === 0 ? `%${hex(character).toUpperCase()}` : character),
  "percent-encoded twice": each((character) => `%25${hex(character)}`),
  "with JSON escapes": each((character) => `\\u00${hex(character)}`),
  "partly with JSON escapes": each((character, index) => index % 5 === 1 ? `\\u00${hex(character).toUpperCase()}` : character),
  "with escapes of JavaScript": each((character) => `\\x${hex(character)}`),
  "with HTML entities": each((character, index) => index % 2 === 0 ? `&#${character.charCodeAt(0)};` : `&#x${hex(character)};`),
  "in hexadecimal": each(hex),
  "in base64": base64("", "base64"),
  "in base64 as a bearer": base64("Bearer ", "base64"),
  "in base64 of Basic": base64("user:", "base64"),
  "in base64url": base64("u:", "base64url"),
  "in base64 in lower case": (key) => base64(":", "base64url")(key).toLowerCase()
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", sol: "/", lowbar: "_" }

/** A text, and what it decodes to. */
const views = (text: string): ReadonlyArray<string> => {
  const layers = [text]
  for (let level = 0; level < 7; level++) {
    layers.push((layers.at(-1) ?? "").replace(
      /\\+(?:(?:u00|x)([0-9a-f]{2})|([^\\]))|%(?:u00)?([0-9a-f]{2})|&#0*(1[01]\d|12[0-6]|[3-9]\d);?|&#x0*([2-7][0-9a-f]);?|&(amp|lt|gt|quot|apos|sol|lowbar);?/gi,
      (all, backslash?: string, escaped?: string, percent?: string, decimal?: string, hex?: string, name?: string) => {
        const code = backslash ?? percent ?? hex
        return code !== undefined
          ? String.fromCharCode(Number.parseInt(code, 16))
          : decimal !== undefined
          ? String.fromCharCode(Number(decimal))
          : name !== undefined
          ? entities[name.toLowerCase()] ?? all
          : escaped ?? all
      }
    ))
  }
  const joined = text.replaceAll(/\s|\\[rnt]/g, "")
  const encoded = [0, 1, 2, 3].map((shift) => Buffer.from(joined.replaceAll(/[^\w+/-]/g, "").slice(shift), "base64").toString("latin1"))
  const inHex = [0, 1].map((shift) => Buffer.from(joined.replaceAll(/[^0-9a-f]/gi, "").slice(shift), "hex").toString("latin1"))
  return [...layers, joined, ...encoded, ...inHex].map((view) => view.toLowerCase())
}

/** Whether a text contains the 40 characters of a key in any form. */
export const isLeaking = (text: string, key: string): boolean => views(text).some((view) => view.includes(key.slice(-40).toLowerCase()))

const word = (alphabet: string, length: number) =>
  Arbitrary.map(arrayOf(elementOf(Array.from(alphabet)), { minLength: length, maxLength: length }), (characters) => characters.join(""))

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/** Keys of the documented form. */
const key = Arbitrary.map(Arbitrary.all([word("abk_", 4), word(`${alphanumeric}_-.~+/`, 40)]), ([prefix, secret]) => prefix + secret)

/** Each form, with a key to echo in it. */
export const keyed = () => {
  const keys = Effect.runSync(Arbitrary.sampleEffect(key, { count: Object.keys(forms).length, seed: 7 }))
  return Object.entries(forms).map(([name, form], index) => ({ name, form, key: keys[index] ?? "" }))
}

// What HTTP allows in the name of a header field.
const token = /^[!#$%&'*+.^_`|~\w-]+$/

export interface Echoing {
  readonly baseUrl: string
  /** Sets the status of the following responses, with another one for `GET /me` if given, and the form in which they echo the key. */
  readonly respond: (status: number, form: (key: string) => string, statusOfMe?: number) => void
}

/** JSON with a text in raw form: it may contain escapes. */
const bodyOf = (status: number, echo: string): string => {
  const item = `{"id":"1","text":"sent: ${echo}","${echo}":{"deep":["${echo}",{"a":"${echo}\\n"}]}}`
  return status >= 400
    ? `{"error":{"code":"${
      status === 401 ? "INVALID_API_KEY" : "NOT_FOUND"
    }","message":"for ${echo}","${echo}":"${echo}","list":["${echo}"]}}`
    : `{"data":[${item}],"next_cursor":null,${item.slice(1)}`
}

/** A service that echoes the key of each request in every place of its response. */
export const serve: Effect.Effect<Echoing, never, Scope.Scope> = Effect.gen(function*() {
  let status = 200
  let statusOfMe = 200
  let form = (key: string) => key
  const server = yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((request, response) => {
        request.resume().on("end", () => {
          const echo = form((request.headers.authorization ?? "").replace("Bearer ", ""))
          const sent = request.url?.endsWith("/me") === true ? statusOfMe : status
          response.writeHead(sent, `Status ${echo}`, {
            "content-type": "application/json",
            "x-request-id": `for ${echo}`,
            "x-folded": `${echo.slice(0, 9)} \t${echo.slice(9)}`,
            ...(token.test(echo) ? { [`x-${echo}`]: "1" } : {})
          })
          response.end(bodyOf(sent, echo))
        })
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}/open/v1`,
    respond: (nextStatus, nextForm, nextStatusOfMe = nextStatus) => {
      status = nextStatus
      statusOfMe = nextStatusOfMe
      form = nextForm
    }
  }
})
