/** Generates requests for the fuzz tests. */
import {
  anyOf,
  arrayOf,
  between,
  boolean,
  bytes,
  elementOf,
  json,
  oneOf,
  someOf,
  textOf,
  unicode,
  weighted
} from "@plaza/testing/Generators"
import { Arbitrary } from "effect"
import { operations } from "../src/InterfaceApi.ts"

/** The bytes of one connection. */
export interface Fuzzed {
  readonly bytes: Buffer
  /**
   * The end of the request: a `whole` request must get a response; after `half` the caller closes its side
   * and reads the response; after `cut` the caller closes the connection.
   */
  readonly end: "whole" | "half" | "cut"
}

const known = [
  "007",
  "1001",
  "0042",
  "CAP%2FRED%20L",
  "500001",
  "500002",
  "SO%2F2026%2F26",
  "9007199254740993",
  "9007199254740994",
  "conv_1"
]
const id = weighted(
  [3, anyOf(known)],
  [1, anyOf(["me", "%", "%zz", "%ff", "..", "%00"])],
  [1, Arbitrary.map(unicode({ maxLength: 40 }), encodeURIComponent)]
)
const routes = [...operations.values()].map(({ method, path }) => `${method} ${path.replace(/:\w+/, ":id")}`)
/** Characters that are valid in a request line. */
const visible = textOf(between(0x21, 0x7e), { maxLength: 60 })
const path = oneOf<string>(
  Arbitrary.map(visible, (text) => `/open/v1/${text}`),
  anyOf([
    "/open/v1",
    "/open/v1/",
    "/open/v2/me",
    "*",
    "http://elsewhere/open/v1/me",
    "//open/v1/me",
    "/open/v1/../../open/v1/me",
    "/open/v1/me#x",
    "/OPEN/V1/me"
  ])
)
const query = weighted<string>(
  [3, Arbitrary.Constant("")],
  [
    2,
    Arbitrary.map(
      Arbitrary.all([
        anyOf(["limit", "cursor", "limit=3&limit", "%", "__proto__", ""]),
        oneOf<string>(visible, anyOf(["0", "1", "100", "101", "1e1", "-1", "1.5", "NaN", "%00", "%ff", "9".repeat(400)]))
      ]),
      ([name, value]) => `?${name}=${value}`
    )
  ]
)
const method = anyOf(["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "M-SEARCH", "QUERY"])
const operation = Arbitrary.map(Arbitrary.all([anyOf(routes), id]), ([route, id]) => {
  const [method = "", path = ""] = route.split(" ")
  return { method, path: `/open/v1${path.replace(":id", id)}` }
})
const asked = weighted<{ readonly method: string; readonly path: string }>(
  [8, operation],
  [1, Arbitrary.all({ method, path: Arbitrary.map(operation, ({ path }) => path) })],
  [1, Arbitrary.all({ method, path })]
)

/** Nested arrays and objects, deeper than the stack of any recursive parser. */
const deep = Arbitrary.map(
  Arbitrary.all([elementOf([["[", "]"], ["{\"a\":", "}"]]), between(100, 60_000), boolean]),
  ([[open = "", close = ""], depth, closed]) => `{"text":${open.repeat(depth)}1${closed ? close.repeat(depth) : ""}}`
)
const anyText = oneOf<string>(
  unicode({ maxLength: 100 }),
  anyOf(["", " ", "\u0000", "a".repeat(5_000), "🛒".repeat(5_001), "\ud800", "\u202e"]),
  Arbitrary.map(arrayOf(anyOf(["nihil", "est", "in", "intellectu,", "quod"])), (words) => words.join(" "))
)
const anyValue = oneOf<unknown>(
  anyText,
  json,
  elementOf<unknown>([-1, 0, 0.5, 1e300, Number.MAX_SAFE_INTEGER + 2, null, true, [], {}])
)
const payload = someOf({
  text: anyValue,
  mediaIds: oneOf<unknown>(arrayOf(anyText, { maxLength: 3 }), anyValue),
  stock: anyValue,
  carrier: anyValue,
  trackingNumber: anyValue,
  ["__proto__"]: anyValue,
  constructor: anyValue
})
/** Valid bodies of every operation with a body. */
const right = { text: "hello", mediaIds: [], stock: 3, carrier: "Post", trackingNumber: "1" }
const jsonText = weighted<string>(
  [6, Arbitrary.Constant(JSON.stringify(right))],
  [6, Arbitrary.map(payload, (value) => JSON.stringify(value))],
  [2, Arbitrary.map(json, (value) => JSON.stringify(value))],
  [1, Arbitrary.map(Arbitrary.all([json, between(0, 20)]), ([value, cut]) => JSON.stringify(value).slice(0, -1 - cut))],
  [1, unicode()]
)
const jsonBytes = weighted<Buffer>(
  [40, Arbitrary.map(jsonText, (text) => Buffer.from(text))],
  [3, Arbitrary.map(jsonText, (text) => Buffer.from(text, "utf16le"))],
  [3, Arbitrary.map(bytes({ maxLength: 200 }), (bytes) => Buffer.concat([Buffer.from("{\"text\":\""), bytes, Buffer.from("\"}")]))],
  [3, Arbitrary.map(deep, (text) => Buffer.from(text))],
  [1, Arbitrary.map(between(900_000, 1_300_000), (size) => Buffer.from(`{"text":"${"x".repeat(size)}"}`))]
)
const multipart = Arbitrary.map(
  Arbitrary.all({
    head: anyOf([
      "Content-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\nContent-Type: image/png",
      "Content-Disposition: form-data; name=\"other\"; filename=\"a.png\"",
      "Content-Disposition: form-data; name=\"file\"; filename=\"a\\\"b.png\"",
      "Content-Disposition: form-data; name=\"file\"",
      "Content-Disposition: attachment",
      "Content-Type: image/png",
      "nonsense",
      ""
    ]),
    content: bytes({ maxLength: 400 }),
    parts: between(0, 3),
    last: anyOf(["--", "", "-", "garbage"])
  }),
  ({ content, head, last, parts }) =>
    Buffer.concat([
      ...Array.from({ length: parts }, () => Buffer.concat([Buffer.from(`--fuzz\r\n${head}\r\n\r\n`), content, Buffer.from("\r\n")])),
      Buffer.from(`--fuzz${last}\r\n`)
    ])
)
const contentType = weighted<string>(
  [9, Arbitrary.Constant("application/json")],
  [1, oneOf<string>(visible, anyOf(["text/plain", "application/json; charset=utf-16", "multipart/form-data"]))]
)
const body = weighted<{ readonly type: string; readonly bytes: Buffer }>(
  [4, Arbitrary.Constant({ type: "", bytes: Buffer.alloc(0) })],
  [12, Arbitrary.all({ type: contentType, bytes: jsonBytes })],
  [3, Arbitrary.map(multipart, (bytes) => ({ type: "multipart/form-data; boundary=fuzz", bytes }))]
)

/** Latin-1 without control characters: what a header may have. */
const latin = textOf(weighted([95, between(0x20, 0x7e)], [128, between(0x80, 0xff)]), { maxLength: 80 })
const header = oneOf<string>(
  Arbitrary.map(latin, (value) => `x-any: ${value}`),
  Arbitrary.map(latin, (value) => `cookie: ${value}`),
  Arbitrary.map(latin, (value) => `accept: ${value}`),
  Arbitrary.map(latin, (value) => `x-request-id: ${value}`),
  anyOf([
    "expect: wonders",
    "if-match: *",
    "range: bytes=0-1",
    "host: elsewhere",
    "origin: http://evil.example",
    "te: trailers",
    "forwarded: for=x",
    "x-http-method-override: DELETE"
  ])
)

/** Well-formed HTTP requests with a valid key. */
const wellFormed = (key: string): Arbitrary.Arbitrary<Buffer> =>
  Arbitrary.map(
    Arbitrary.all({
      asked,
      query,
      authorization: weighted<string>(
        [12, Arbitrary.Constant(`authorization: Bearer ${key}`)],
        [
          1,
          oneOf<string>(
            anyOf(["x-no: key", `authorization: Basic ${key}`, `authorization: Bearer key_${"x".repeat(40)}`]),
            Arbitrary.map(latin, (text) => `authorization: Bearer ${text}`)
          )
        ]
      ),
      headers: arrayOf(header, { maxLength: 3 }),
      body,
      chunked: boolean
    }),
    ({ asked: { method, path }, authorization, body: { bytes, type }, chunked, headers, query }) => {
      const lines = [
        `${method} ${path}${query} HTTP/1.1`,
        "host: localhost",
        "connection: close",
        authorization,
        ...headers,
        ...(type === "" ? [] : [`content-type: ${type}`]),
        chunked ? "transfer-encoding: chunked" : `content-length: ${bytes.length}`
      ]
      const half = Math.ceil(bytes.length / 2)
      const chunks = [bytes.subarray(0, half), bytes.subarray(half)].filter((chunk) => chunk.length > 0)
      const framed = chunked
        ? Buffer.concat([
          ...chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]),
          Buffer.from("0\r\n\r\n")
        ])
        : bytes
      return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), framed])
    }
  )

type Change = (bytes: Buffer) => Buffer

const position = between(0, 0x7fff_ffff)

/** Corruptions of the bytes. */
const spoil = oneOf<Change>(
  Arbitrary.map(
    Arbitrary.all({ at: position, by: bytes({ minLength: 1, maxLength: 8 }) }),
    ({ at, by }): Change => (bytes) =>
      Buffer.concat([bytes.subarray(0, at % bytes.length), by, bytes.subarray(at % bytes.length + by.length)])
  ),
  Arbitrary.map(position, (at): Change => (bytes) => bytes.subarray(0, at % bytes.length)),
  Arbitrary.map(
    anyOf([
      "content-length: 5",
      "content-length: 0",
      "content-length: 99999999999999999999",
      "content-length: -1",
      "transfer-encoding: gzip",
      `x-large: ${"y".repeat(20_000)}`,
      "no colon",
      " folded: line",
      "nul: \u0000",
      "expect: 100-continue",
      "connection: upgrade\r\nupgrade: h2c"
    ]),
    (line): Change => (bytes) =>
      Buffer.concat([bytes.subarray(0, bytes.indexOf("\r\n") + 2), Buffer.from(`${line}\r\n`), bytes.subarray(bytes.indexOf("\r\n") + 2)])
  ),
  Arbitrary.map(
    anyOf(["HTTP/9.9", "HTTP/1.0", "", "HTTPS/1.1"]),
    (version): Change => (bytes) => Buffer.from(bytes.toString("latin1").replace("HTTP/1.1", version), "latin1")
  ),
  Arbitrary.map(bytes({ maxLength: 300 }), (bytes): Change => () => Buffer.from(bytes))
)

/** Requests to a sandbox with this key. */
export const requests = (key: string): Arbitrary.Arbitrary<Fuzzed> =>
  weighted<Fuzzed>(
    [7, Arbitrary.map(wellFormed(key), (bytes): Fuzzed => ({ bytes, end: "whole" }))],
    [2, Arbitrary.map(Arbitrary.all([wellFormed(key), spoil]), ([bytes, spoilt]): Fuzzed => ({ bytes: spoilt(bytes), end: "half" }))],
    [
      1,
      Arbitrary.map(Arbitrary.all([wellFormed(key), position]), ([bytes, at]): Fuzzed => ({
        bytes: bytes.subarray(0, at % bytes.length),
        end: "cut"
      }))
    ]
  )
