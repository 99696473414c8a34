/**
 * The HTTP clients for Node and those of the platform on which they are built: the same calls, responses and faults give the same results
 * and the same requests.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, type Plaza, Posts, Profiles, Store } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as NodeHttp from "@plaza/client/node-http"
import { ConversationId, PostId, ProductId } from "@plaza/domain"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Effect, Layer, Logger, Result, Schedule, Stream } from "effect"
import type { HttpClient } from "effect/http"
import type * as Http from "node:http"
import { gzipSync } from "node:zlib"
import * as RawServer from "./support/RawServer.ts"

const calls: Readonly<Record<string, Effect.Effect<unknown, ClientError.Failure, Plaza.Services>>> = {
  "a read": Effect.flatMap(Profiles, ({ me }) => me),
  "a list": Effect.flatMap(Posts, ({ list }) => Stream.runCollect(list({ limit: 3, pageSize: 2 }))),
  "a repeatable write without a body": Effect.flatMap(Posts, ({ like }) => like(PostId.make("a/b?c"))),
  "a repeatable write": Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("1"), 7)),
  "a write that is sent once": Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("1"), "zoë \u{1F600}")),
  "a message": Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("1"), "hello"))
}

const maxResponseBytes = 2_000

const success = { id: "1", text: "zoë", stock: 7, createdAt: "2026-10-01T12:00:00.000Z" }
const bodies: Readonly<Record<string, string>> = {
  "a resource": JSON.stringify(success),
  "a resource behind a byte order mark": `\uFEFF${JSON.stringify(success)}`,
  "a page": JSON.stringify({ data: [success, success], next_cursor: "more" }),
  "a page with an unreadable item": JSON.stringify({ data: [success, { id: 7 }], next_cursor: null }),
  "an error": JSON.stringify({ error: { code: "NOT_FOUND", message: "no such thing", details: { field: "id" } } }),
  "an unknown error": JSON.stringify({ error: { code: "TEAPOT", message: "short and stout" } }),
  "an echo of the key": JSON.stringify({ id: RawServer.key, error: { code: "VALIDATION_ERROR", message: `Bearer ${RawServer.key}` } }),
  "an escaped echo": `<p>${RawServer.key.replaceAll("k", "&#x6B;")}</p>`,
  "a resource with __proto__": `{"__proto__":{"id":"2"},"id":"1"}`,
  "no JSON": "<html>Bad gateway</html>",
  nothing: "",
  "too much": JSON.stringify({ id: "1", text: "é".repeat(maxResponseBytes) }),
  "as much as is allowed": `"${"x".repeat(maxResponseBytes - 2)}"`,
  "too much, with the key where it is cut": "x".repeat(maxResponseBytes - 20) + RawServer.key
}

interface Response {
  readonly status: number
  readonly body: string
  readonly headers: Http.OutgoingHttpHeaders
  /** Where the body is torn apart, without a declared length; undefined for a body in one piece. */
  readonly tear: number | undefined
  readonly hints: boolean
  readonly gzip: boolean
  readonly close: boolean
}

const faults = ["destroyed before the head", "reset", "destroyed amid the body", "shorter than its length", "no HTTP"] as const

type Reply = Response | (typeof faults)[number]

const response: Arbitrary.Arbitrary<Reply> = Arbitrary.map(
  Arbitrary.all([
    Generate.elementOf([200, 201, 204, 302, 400, 401, 403, 404, 409, 413, 418, 429, 500, 502, 503, 504]),
    Generate.elementOf(Object.keys(bodies)),
    Generate.someOf({
      date: Generate.elementOf(["Thu, 01 Oct 2026 12:00:00 GMT", "yesterday"]),
      "x-request-id": Generate.elementOf(["request-1", RawServer.key]),
      "content-type": Generate.elementOf(["application/json", "text/html; charset=utf-8"]),
      location: Generate.elementOf(["/elsewhere"]),
      "x-twice": Generate.elementOf([["one", "two"]])
    }),
    Generate.elementOf([undefined, 0, 1, 7, 30, 60]),
    Generate.boolean,
    Generate.between(0, 4),
    Generate.boolean
  ]),
  ([status, body, headers, tear, hints, gzip, close]): Response => ({
    status,
    body,
    // A longer one would be waited for in real time.
    headers: { ...headers, "retry-after": "0" },
    tear,
    hints,
    gzip: gzip === 0,
    close
  })
)

const reply = Generate.weighted<Reply>([4, response], [1, Generate.elementOf<Reply>(faults)])

const respond = (response: Http.ServerResponse, { body, close, gzip, headers, hints, status, tear }: Response) => {
  const text = Buffer.from(bodies[body] ?? "")
  const bytes = status === 204 ? Buffer.alloc(0) : gzip ? gzipSync(text) : text
  const all = { ...headers, ...(gzip ? { "content-encoding": "gzip" } : {}), ...(close ? { connection: "close" } : {}) }
  const send = () => {
    if (tear === undefined) {
      response.writeHead(status, status === 204 ? all : { ...all, "content-length": bytes.length }).end(bytes)
    } else {
      response.writeHead(status, all)
      response.write(bytes.subarray(0, tear), () => response.end(bytes.subarray(tear)))
    }
  }
  if (hints) {
    response.writeEarlyHints({ link: "</style.css>; rel=preload" }, send)
  } else {
    send()
  }
}

const play = (request: Http.IncomingMessage, response: Http.ServerResponse, reply: Reply) => {
  const { socket } = request
  switch (reply) {
    case "destroyed before the head":
      return socket.destroy()
    case "reset":
      return socket.resetAndDestroy()
    case "destroyed amid the body":
      return response.writeHead(200, { "content-length": 100 }).write("{\"id\":", () => socket.destroy())
    case "shorter than its length":
      return socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 100\r\n\r\n{\"error\":")
    case "no HTTP":
      return socket.end("SMTP ready\r\n\r\n")
    default:
      return respond(response, reply)
  }
}

interface Received {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
}

/** Responds with these responses in turn, then with a resource that every call accepts. */
const scripted = (replies: ReadonlyArray<Reply>) =>
  Effect.gen(function*() {
    const received: Array<Received> = []
    const server = yield* RawServer.make((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        // Which connections are kept is the HTTP client's decision, and no part of what a call promises.
        const { connection: _, host: __, ...headers } = request.headers
        const next = replies[received.length]
        received.push({ method: request.method, path: request.url, headers, body: Buffer.concat(chunks).toString() })
        if (next === undefined) {
          RawServer.answerJson(response, { ...success, data: [], next_cursor: null })
        } else {
          play(request, response, next)
        }
      })
    })
    return { server, received }
  })

/** Everything but the stack, with one port for all servers. */
const shown = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, inner: unknown) =>
      name === "stack"
        ? undefined
        : inner instanceof Error
        ? { ...Object.fromEntries(Object.entries(inner)), name: inner.name, message: inner.message }
        : inner).replaceAll(/127\.0\.0\.1:\d+/g, "HOST")
  )

/** Everything that a caller or the service observes of a call. */
const observed = (
  http: Layer.Layer<HttpClient.HttpClient>,
  call: Effect.Effect<unknown, ClientError.Failure, Plaza.Services>,
  replies: ReadonlyArray<Reply>
) =>
  Effect.gen(function*() {
    const { received, server } = yield* scripted(replies)
    const options = { maxResponseBytes, retry: Schedule.recurs(2), rateLimit: 1_000_000 }
    const result = yield* Effect.result(Effect.provide(call, [RawServer.layerPlaza(server.baseUrl, http, options), Logger.layer([])]))
    const outcome = Result.match(result, { onFailure: (failed) => ({ failed }), onSuccess: (value) => ({ value }) })
    expect(JSON.stringify(outcome)).not.toContain(RawServer.key)
    return shown({ outcome, received })
  }).pipe(Effect.scoped)

// Undici reports the end of a connection in other words if the connection serves one request only.
const oneRequestEach = Layer.provide(NodeHttpClient.layerUndiciNoDispatcher, NodeHttpClient.layerDispatcherOptions({ pipelining: 0 }))
// Node reports the end of a kept connection in other words.
const newConnections = NodeHttpClient.layerNodeHttpOptions({ keepAlive: false })
const sentOnce = ["a write that is sent once", "a message"]

describe("the connections of the client on undici behave as those of the platform", () => {
  for (const [name, call] of Object.entries(calls)) {
    const platform = sentOnce.includes(name) ? oneRequestEach : NodeHttpClient.layerUndici
    it.live.prop(`for ${name}`, [Generate.arrayOf(reply, { minLength: 1, maxLength: 3 })], ([replies]) =>
      Effect.gen(function*() {
        expect(yield* observed(NodeClient.layer, call, replies)).toEqual(yield* observed(platform, call, replies))
      }), { arbitrary: { runs: 40 } })
  }
})

describe("the connections of the client on node:http behave as those of the platform", () => {
  for (const [name, call] of Object.entries(calls)) {
    it.live.prop(`for ${name}`, [Generate.arrayOf(reply, { minLength: 1, maxLength: 3 })], ([replies]) =>
      Effect.gen(function*() {
        expect(yield* observed(NodeHttp.layer, call, replies)).toEqual(yield* observed(newConnections, call, replies))
      }), { arbitrary: { runs: 40 } })
  }
})
