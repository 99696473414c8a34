/** Generates requests for the fuzz tests. */
import { FastCheck as fc } from "effect"

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
const id = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...known) },
  { weight: 1, arbitrary: fc.constantFrom("me", "%", "%zz", "%ff", "..", "%00") },
  {
    weight: 1,
    arbitrary: fc.string({ unit: "binary", maxLength: 40 }).map((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "?")))
  }
)
const routes = [
  "GET /me",
  "GET /users/:id",
  "GET /users/by-username/:id",
  "POST /users/:id/follow",
  "POST /media",
  "POST /posts",
  "GET /me/posts",
  "GET /posts/:id",
  "PATCH /posts/:id",
  "DELETE /posts/:id",
  "POST /posts/:id/comments",
  "POST /posts/:id/like",
  "POST /stories",
  "GET /store",
  "GET /store/products",
  "GET /store/products/:id",
  "PATCH /store/products/:id/stock",
  "GET /store/orders",
  "GET /store/orders/:id",
  "POST /store/orders/:id/ship",
  "GET /conversations",
  "GET /conversations/:id/messages",
  "POST /conversations/:id/messages"
]
/** Characters that are valid in a request line. */
const visible = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 60 })
const path = fc.oneof(
  visible.map((text) => `/open/v1/${text}`),
  fc.constantFrom("/open/v1", "/open/v1/", "/open/v2/me", "*", "http://elsewhere/open/v1/me", "//open/v1/me", "/open/v1/../../open/v1/me",
    "/open/v1/me#x", "/OPEN/V1/me")
)
const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom("limit", "cursor", "limit=3&limit", "%", "__proto__", ""),
      fc.oneof(visible, fc.constantFrom("0", "1", "100", "101", "1e1", "-1", "1.5", "NaN", "%00", "%ff", "9".repeat(400)))
    ).map(([name, value]) => `?${name}=${value}`)
  }
)
const method = fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "M-SEARCH", "QUERY")
const operation = fc.tuple(fc.constantFrom(...routes), id).map(([route, id]) => {
  const [method = "", path = ""] = route.split(" ")
  return { method, path: `/open/v1${path.replace(":id", id)}` }
})
const asked = fc.oneof(
  { weight: 8, arbitrary: operation },
  { weight: 1, arbitrary: fc.record({ method, path: operation.map(({ path }) => path) }) },
  { weight: 1, arbitrary: fc.record({ method, path }) }
)

/** Nested arrays and objects, deeper than the stack of any recursive parser. */
const deep = fc.tuple(fc.constantFrom(["[", "]"], ["{\"a\":", "}"]), fc.integer({ min: 100, max: 60_000 }), fc.boolean()).map(
  ([[open = "", close = ""], depth, closed]) => `{"text":${open.repeat(depth)}1${closed ? close.repeat(depth) : ""}}`
)
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.constantFrom("", " ", "\u0000", "a".repeat(5_000), "🛒".repeat(5_001), "\ud800", "\u202e"),
  fc.lorem()
)
const anyValue = fc.oneof(anyText, fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(-1, 0, 0.5, 1e300, Number.MAX_SAFE_INTEGER + 2, null, true, [], {}))
const payload = fc.record(
  {
    text: anyValue,
    mediaIds: fc.oneof(fc.array(anyText, { maxLength: 3 }), anyValue),
    stock: anyValue,
    carrier: anyValue,
    trackingNumber: anyValue,
    __proto__: anyValue,
    constructor: anyValue
  },
  { requiredKeys: [] }
)
/** Valid bodies of every operation with a body. */
const right = { text: "hello", mediaIds: [], stock: 3, carrier: "Post", trackingNumber: "1" }
const json = fc.oneof(
  { weight: 6, arbitrary: fc.constant(JSON.stringify(right)) },
  { weight: 6, arbitrary: payload.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.tuple(fc.json(), fc.nat({ max: 20 })).map(([text, cut]) => text.slice(0, -1 - cut)) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) }
)
const jsonBytes = fc.oneof(
  { weight: 40, arbitrary: json.map((text) => Buffer.from(text)) },
  { weight: 3, arbitrary: json.map((text) => Buffer.from(text, "utf16le")) },
  {
    weight: 3,
    arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([Buffer.from("{\"text\":\""), bytes, Buffer.from("\"}")]))
  },
  { weight: 3, arbitrary: deep.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.integer({ min: 900_000, max: 1_300_000 }).map((size) => Buffer.from(`{"text":"${"x".repeat(size)}"}`)) }
)
const multipart = fc.record({
  head: fc.constantFrom(
    "Content-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\nContent-Type: image/png",
    "Content-Disposition: form-data; name=\"other\"; filename=\"a.png\"",
    "Content-Disposition: form-data; name=\"file\"",
    "Content-Disposition: attachment",
    "Content-Type: image/png",
    "nonsense",
    ""
  ),
  content: fc.uint8Array({ maxLength: 400 }),
  parts: fc.integer({ min: 0, max: 3 }),
  last: fc.constantFrom("--", "", "-", "garbage")
}).map(({ content, head, last, parts }) =>
  Buffer.concat([
    ...Array.from({ length: parts }, () => Buffer.concat([Buffer.from(`--fuzz\r\n${head}\r\n\r\n`), content, Buffer.from("\r\n")])),
    Buffer.from(`--fuzz${last}\r\n`)
  ])
)
const body = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ type: "", bytes: Buffer.alloc(0) }) },
  {
    weight: 12,
    arbitrary: fc.tuple(
      fc.oneof({ weight: 9, arbitrary: fc.constant("application/json") }, {
        weight: 1,
        arbitrary: fc.oneof(visible, fc.constantFrom("text/plain", "application/json; charset=utf-16", "multipart/form-data"))
      }),
      jsonBytes
    ).map(([type, bytes]) => ({ type, bytes }))
  },
  { weight: 3, arbitrary: multipart.map((bytes) => ({ type: "multipart/form-data; boundary=fuzz", bytes })) }
)

const latin = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f).map((code) => String.fromCharCode(code)),
  maxLength: 80
})
const header = fc.oneof(
  latin.map((value) => `x-any: ${value}`),
  latin.map((value) => `cookie: ${value}`),
  latin.map((value) => `accept: ${value}`),
  latin.map((value) => `x-request-id: ${value}`),
  fc.constantFrom("expect: wonders", "if-match: *", "range: bytes=0-1", "host: elsewhere", "origin: http://evil.example", "te: trailers",
    "forwarded: for=x", "x-http-method-override: DELETE")
)

/** Well-formed HTTP requests with a valid key. */
const wellFormed = (key: string) =>
  fc.record({
    asked,
    query,
    authorization: fc.oneof(
      { weight: 12, arbitrary: fc.constant(`authorization: Bearer ${key}`) },
      {
        weight: 1,
        arbitrary: fc.oneof(fc.constantFrom("x-no: key", `authorization: Basic ${key}`, `authorization: Bearer key_${"x".repeat(40)}`),
          latin.map((text) => `authorization: Bearer ${text}`))
      }
    ),
    headers: fc.array(header, { maxLength: 3 }),
    body,
    chunked: fc.boolean()
  }).map(({ asked: { method, path }, authorization, body: { bytes, type }, chunked, headers, query }) => {
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
  })

/** Corruptions of the bytes. */
const spoil = fc.oneof(
  fc.record({ at: fc.nat(), by: fc.uint8Array({ minLength: 1, maxLength: 8 }) }).map(({ at, by }) => (bytes: Buffer) =>
    Buffer.concat([bytes.subarray(0, at % bytes.length), by, bytes.subarray(at % bytes.length + by.length)])
  ),
  fc.nat().map((at) => (bytes: Buffer) => bytes.subarray(0, at % bytes.length)),
  fc.constantFrom("content-length: 5", "content-length: 0", "content-length: 99999999999999999999", "content-length: -1",
    "transfer-encoding: gzip", `x-large: ${"y".repeat(20_000)}`, "no colon", " folded: line", "nul: \u0000", "expect: 100-continue",
    "connection: upgrade\r\nupgrade: h2c")
    .map((line) => (bytes: Buffer) =>
      Buffer.concat([bytes.subarray(0, bytes.indexOf("\r\n") + 2), Buffer.from(`${line}\r\n`), bytes.subarray(bytes.indexOf("\r\n") + 2)])
    ),
  fc.constantFrom("HTTP/9.9", "HTTP/1.0", "", "HTTPS/1.1").map((version) => (bytes: Buffer) =>
    Buffer.from(bytes.toString("latin1").replace("HTTP/1.1", version), "latin1")
  ),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => () => Buffer.from(bytes))
)

/** Requests to a sandbox with this key. */
export const requests = (key: string): fc.Arbitrary<Fuzzed> =>
  fc.oneof(
    { weight: 7, arbitrary: wellFormed(key).map((bytes): Fuzzed => ({ bytes, end: "whole" })) },
    { weight: 2, arbitrary: fc.tuple(wellFormed(key), spoil).map(([bytes, spoilt]): Fuzzed => ({ bytes: spoilt(bytes), end: "half" })) },
    {
      weight: 1,
      arbitrary: fc.tuple(wellFormed(key), fc.nat()).map(([bytes, at]): Fuzzed => ({
        bytes: bytes.subarray(0, at % bytes.length),
        end: "cut"
      }))
    }
  )
