/**
 * The direct undici transport and the platform's undici client over the same connections: the same calls, responses and
 * faults give the same results, requests, spans and metrics.
 */
import { HttpClient, type HttpClientRequest } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, type Plaza, Posts, Profiles, Store } from "@plaza-legacy/client"
import { ConversationId, PostId, ProductId } from "@plaza-legacy/domain"
import { Effect, Exit, FastCheck as fc, Layer, Logger, Metric, Schedule, Stream } from "effect"
import type * as Http from "node:http"
import { gzipSync } from "node:zlib"
import * as NodeClient from "../src/node.ts"
import * as RawServer from "./support/RawServer.ts"
import * as Traced from "./support/Traced.ts"

const direct = NodeClient.layer

// The platform takes these options as if they were a whole request, and sets path and method of its own.
const optionsOf = ({ method, url }: HttpClientRequest.HttpClientRequest) => ({
  path: "/",
  method,
  idempotent: method !== "POST" || url.endsWith("/like")
})

/**
 * A client made from another one does not carry the direct transport. The platform does not know which requests may be
 * repeated, and so would send them over other connections, which undici reports the end of in other words.
 */
const platform = Layer.provide(
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient,
      HttpClient.transform((response, request) => Effect.provideService(response, NodeHttpClient.UndiciRequestOptions, optionsOf(request))))
  ),
  NodeClient.layer
)

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
  readonly body: keyof typeof bodies
  readonly headers: Http.OutgoingHttpHeaders
  /** Where the body is torn apart; no length is announced then. */
  readonly tear: number | undefined
  readonly hints: boolean
  readonly gzip: boolean
  readonly close: boolean
}

const faults = ["destroyed before the head", "reset", "destroyed amid the body", "shorter than its length", "no HTTP"] as const

type Reply = Response | (typeof faults)[number]

const reply: fc.Arbitrary<Reply> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      status: fc.constantFrom(200, 201, 204, 302, 400, 401, 403, 404, 409, 413, 418, 429, 500, 502, 503, 504),
      body: fc.constantFrom(...Object.keys(bodies)),
      headers: fc.record({
        // A longer one would be waited for in real time.
        "retry-after": fc.constant("0"),
        date: fc.constantFrom("Thu, 01 Oct 2026 12:00:00 GMT", "yesterday"),
        "x-request-id": fc.constantFrom("request-1", RawServer.key),
        "content-type": fc.constantFrom("application/json", "text/html; charset=utf-8"),
        location: fc.constant("/elsewhere"),
        "x-twice": fc.constant(["one", "two"])
      }, { requiredKeys: ["retry-after"] }),
      tear: fc.option(fc.nat(60), { nil: undefined }),
      hints: fc.boolean(),
      gzip: fc.integer({ max: 9, min: 0 }).map((draw) => draw === 0),
      close: fc.boolean()
    })
  },
  { weight: 1, arbitrary: fc.constantFrom(...faults) }
)

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

/** Responds with the given responses in turn, then with a resource that every call accepts. */
const scripted = (replies: ReadonlyArray<Reply>) =>
  Effect.gen(function*() {
    const received: Array<Received> = []
    const server = yield* RawServer.make((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        // Which connections are kept is undici's decision, and no part of what a call promises.
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

const counts = Effect.map(Metric.snapshot, (pairs) =>
  new Map(
    pairs.flatMap(({ metricKey: { name, tags }, metricState }) =>
      name.startsWith("plaza_client_") && name !== "plaza_client_rate_wait_seconds" && "count" in metricState
        ? [[`${name} ${tags.map(({ value }) => value).join()}`, Number(metricState.count)] as const]
        : []
    )
  ))

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => one.localeCompare(other)

const grown = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) =>
  [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const).filter(([, growth]) => growth > 0).toSorted(byName)

/** Removes the port, which differs from server to server. */
const withoutPort = (text: string) => text.replaceAll(/127\.0\.0\.1:\d+/g, "HOST")

const shown = (value: unknown): unknown =>
  JSON.parse(
    withoutPort(JSON.stringify(value, (name, inner: unknown) =>
      name === "stack"
        ? undefined
        : inner instanceof Error
        ? { ...Object.fromEntries(Object.entries(inner)), name: inner.name, message: inner.message }
        : inner) ?? "null")
  )

/** Everything that a caller, an operator or the service observes of a call. */
const observed = (
  http: Layer.Layer<HttpClient.HttpClient>,
  call: Effect.Effect<unknown, ClientError.Failure, Plaza.Services>,
  replies: ReadonlyArray<Reply>
) =>
  Effect.gen(function*() {
    const { received, server } = yield* scripted(replies)
    const options = { maxResponseBytes, retry: Schedule.recurs(2), rateLimit: 1_000_000, propagateTrace: false }
    const layer = RawServer.layerPlaza(server.baseUrl, http, options)
    const before = yield* counts
    const { exit, spans } = yield* Traced.run(Effect.provide(call, [layer, Logger.remove(Logger.defaultLogger)]))
    const result = Exit.match(exit, {
      onFailure: (cause) => ({ failed: cause.toJSON() }),
      onSuccess: (value) => ({ value })
    })
    expect(JSON.stringify(result)).not.toContain(RawServer.key)
    return shown({
      result,
      received,
      metrics: grown(before, yield* counts),
      spans: spans.map(({ attributes, kind, name, status }) => [
        name,
        kind,
        [...attributes].filter(([key]) => key !== "plaza.wait_ms").toSorted(byName),
        status._tag === "Ended" ? status.exit._tag : status._tag
      ])
    })
  }).pipe(Effect.scoped)

describe("the direct transport behaves as the platform's client", () => {
  for (const [name, call] of Object.entries(calls)) {
    it.live.prop(`for ${name}`, [fc.array(reply, { minLength: 1, maxLength: 3 })], ([replies]) =>
      Effect.gen(function*() {
        expect(yield* observed(direct, call, replies)).toEqual(yield* observed(platform, call, replies))
      }), { fastCheck: { numRuns: 40 } })
  }
})
