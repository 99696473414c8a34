import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, Media, Plaza, Posts, Profiles, Store } from "@plaza/client"
import { ConversationId, PostId, ProductId } from "@plaza/domain"
import { Effect, Layer, Schedule, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { AsyncLocalStorage } from "node:async_hooks"
import * as OnSandbox from "./support/OnSandbox.ts"
import * as Prism from "./support/Prism.ts"
import * as RawServer from "./support/RawServer.ts"
import { isNodeHttp, runtimes } from "./support/Runtimes.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const comment = Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("1"), "hello"))
const once = { retry: Schedule.recurs(0) }

const lists = () =>
  Effect.gen(function*() {
    const posts = yield* Posts
    const chat = yield* Chat
    for (const list of [posts.list, chat.list]) {
      const whole = yield* Stream.runCollect<{ readonly id: string }, ClientError.Failure, never>(list())
      const byTwo = yield* Stream.runCollect<{ readonly id: string }, ClientError.Failure, never>(list({ pageSize: 2, limit: 7 }))
      expect(byTwo).toEqual(whole.slice(0, 7))
      expect(whole.length).toBeGreaterThan(3)
    }
    expect(yield* Effect.flip(chat.send(ConversationId.make("no/such?one"), "hello"))).toMatchObject({ _tag: "NotFound" })
  })
const roomy = { sandbox: { assumptions: { requestsPerWindow: 1_000 } } }

Prism.itThrough("lists are complete and in order, and messages can be sent", lists(), roomy)

for (const [client, http] of runtimes) {
  describe(`by ${client}`, () => {
    const against = <A, E>(
      server: RawServer.RawServer,
      call: Effect.Effect<A, E, Plaza.Services>,
      options: Partial<Plaza.Options> = once
    ) => Effect.provide(call, RawServer.layerPlaza(server.baseUrl, http, options))

    it.live("a refused connection fails with ConnectionFailed", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* Effect.scoped(RawServer.make(() => {}))
        const failure = yield* Effect.flip(Effect.provide(comment, RawServer.layerPlaza(baseUrl, http, once)))
        expect(failure).toMatchObject({ _tag: "ConnectionFailed", reason: "ECONNREFUSED" })
        expect(failure.message).toContain("check the base URL")
      }))

    it.live("an untrusted certificate is rejected before the key is sent", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((_, response) => RawServer.answerJson(response, { id: "1" }), "https")
        expect(yield* Effect.flip(against(server, comment))).toMatchObject({
          _tag: "ConnectionFailed",
          reason: "DEPTH_ZERO_SELF_SIGNED_CERT"
        })
        expect(server.seen).toEqual([])
      }))

    it.live("an https URL of a service without TLS fails with ConnectionFailed", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((_, response) => RawServer.answerJson(response, { id: "1" }))
        const layer = RawServer.layerPlaza(server.baseUrl.replace("http:", "https:"), http, once)
        const failure = yield* Effect.flip(Effect.provide(comment, layer))
        expect([failure._tag, "reason" in failure && failure.reason]).toEqual(["ConnectionFailed", "ERR_SSL_WRONG_VERSION_NUMBER"])
        expect(server.seen).toEqual([])
      }))

    for (const status of [301, 302, 303, 307, 308]) {
      it.live(`a ${status} is not followed: neither the key nor the write goes elsewhere`, () =>
        Effect.gen(function*() {
          const elsewhere = yield* RawServer.make((_, response) => RawServer.answerJson(response, { id: "1", text: "hello" }))
          const server = yield* RawServer.make((_, response) => {
            response.writeHead(status, { location: elsewhere.baseUrl }).end("moved")
          })
          expect(yield* Effect.flip(against(server, me))).toMatchObject({ _tag: "UnrecognizedError", status })
          expect(yield* Effect.flip(against(server, comment))).toMatchObject({
            _tag: "OutcomeUnknown",
            cause: { _tag: "UnrecognizedError", status }
          })
          expect(server.seen.map(({ method }) => method)).toEqual(["GET", "POST"])
          expect(elsewhere.seen).toEqual([])
        }))
    }

    it.live("a connection that the service closed between two requests is not reused", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((request, response) => {
          response.on("finish", () => request.socket.end())
          RawServer.answerJson(response, { id: "1", text: "hello" }, 200, { connection: "keep-alive" })
        })
        yield* against(
          server,
          Effect.forEach(Array.from({ length: 5 }), () =>
            Effect.andThen(comment, RawServer.until("the connection is closed", () => server.sockets() === 0)))
        )
        expect(server.seen).toHaveLength(5)
      }))

    it.live("a response without a body is a success", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((_, response) => {
          response.writeHead(204).end()
        })
        yield* against(server, Effect.flatMap(Posts, ({ like }) => like(PostId.make("1"))))
        const product = yield* against(server, Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 3)))
        expect(product).toEqual({ id: "p", stock: 3 })
      }))

    it.live("a request has its method, path, key and body", () =>
      Effect.gen(function*() {
        const bodies: Array<string> = []
        const server = yield* RawServer.make((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
            bodies.push(Buffer.concat(chunks).toString())
            RawServer.answerJson(response, { id: "1", text: "hello" })
          })
        })
        yield* against(server, Effect.andThen(me, comment))
        yield* against(
          server,
          Plaza.request({ method: "DELETE", path: "/posts/%2F", query: { a: "b c&d" }, response: Schema.Unknown })
        )
        expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
          "GET /open/v1/me",
          "POST /open/v1/posts/1/comments",
          "DELETE /open/v1/posts/%2F?a=b+c%26d"
        ])
        expect(bodies).toEqual(["", "{\"text\":\"hello\"}", ""])
        expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(Array.from({ length: 3 }, () => `Bearer ${RawServer.key}`))
        expect(server.seen.map(({ headers }) => headers["content-type"])).toEqual([undefined, "application/json", undefined])
        expect(server.seen.map(({ headers }) => headers["content-length"])).toEqual([undefined, "16", undefined])
        // Trace headers are not for the service.
        expect(server.seen.flatMap(({ headers }) => [headers["traceparent"], headers["b3"]].filter((header) => header !== undefined)))
          .toEqual([])
      }))

    it.live("a response may split the bytes of a character, and begin with a byte order mark", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((_, response) => {
          const bytes = Buffer.from(`\uFEFF${JSON.stringify({ id: "1", username: "zoë" })}`)
          const middle = bytes.indexOf(0xc3) + 1
          response.writeHead(200, { "content-type": "application/json" })
          response.write(bytes.subarray(0, middle), () => response.end(bytes.subarray(middle)))
        })
        expect(yield* against(server, me)).toMatchObject({ username: "zoë" })
      }))

    it.live("a call has the headers of an HttpClient that the application derived", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((request, response) => {
          request.resume()
          RawServer.answerJson(response, { id: "1", text: "hello" })
        })
        const tagged = Layer.effect(
          HttpClient.HttpClient,
          Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.setHeader("x-shop", "north")))
        )
        yield* Effect.provide(Effect.andThen(me, comment), RawServer.layerPlaza(server.baseUrl, Layer.provide(tagged, http), once))
        expect(server.seen.map(({ headers }) => headers["x-shop"])).toEqual(["north", "north"])
      }))

    it.live("a call keeps the application's AsyncLocalStorage, on connections that other calls use", () =>
      Effect.gen(function*() {
        const storage = new AsyncLocalStorage<string>()
        const server = yield* RawServer.make((_, response) => RawServer.answerJson(response, { id: "1" }))
        const services = yield* Layer.build(RawServer.layerPlaza(server.baseUrl, http, once))
        const call = Effect.andThen(Effect.provideContext(me, services), Effect.sync(() => storage.getStore()))
        const runIn = (name: string) => Effect.promise(() => storage.run(name, () => Effect.runPromise(call)))
        const names = Array.from({ length: 10 }, (_, index) => `caller ${index}`)
        expect(yield* Effect.forEach(names, runIn)).toEqual(names)
      }))

    it.live("lists are complete and in order, and messages can be sent", () => Effect.provide(lists(), OnSandbox.onSocket(roomy, http)))

    const large = Stream.forever(Stream.succeed(new Uint8Array(64 * 1024))).pipe(Stream.take(1_000))
    it.live("an upload of known length has a Content-Length, except on fetch", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((request, response) => {
          request.resume().on("end", () => RawServer.answerJson(response, { mediaId: "1" }))
        })
        const content = Stream.make(new Uint8Array(10))
        yield* against(server, Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.bin", content, size: 10 })))
        expect(server.seen.map(({ headers }) => [headers["content-length"] !== undefined, headers["transfer-encoding"]])).toEqual([
          client === "fetch" ? [false, "chunked"] : [true, undefined]
        ])
      }))

    const uploadLarge = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.bin", content: large }))
    const tooLarge = JSON.stringify({ error: { code: "PAYLOAD_TOO_LARGE", message: "too large" } })

    const isHeard = (failure: ClientError.Failure) => {
      if (isNodeHttp(client) && failure._tag === "ConnectionLost") {
        // It closes the connection under itself when the answer comes early, and whether it has read it is chance.
        expect(failure.message).toContain("too large")
      } else {
        expect(failure._tag).toBe("PayloadTooLarge")
      }
    }

    it.live("a refusal of an upload is read while the upload is in flight", () =>
      Effect.gen(function*() {
        // Answers at the first bytes, and lets the rest go by.
        const server = yield* RawServer.make((request, response) => {
          request.once("data", () => {
            response.writeHead(413, { "content-type": "application/json" }).end(tooLarge)
            request.resume()
          })
        })
        isHeard(yield* Effect.flip(against(server, uploadLarge)))
        expect(server.seen).toHaveLength(1)
        yield* RawServer.until("nothing is left open", () => server.busy() === 0)
      }))

    it.live("a refusal followed by a closed connection is read, or the call fails with ConnectionLost", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((request, response) => {
          request.once("data", () => {
            response.writeHead(413, { "content-type": "application/json", connection: "close" }).end(tooLarge, () => {
              request.socket.end()
            })
          })
        })
        const failure = yield* Effect.flip(against(server, uploadLarge))
        isHeard(failure)
        yield* RawServer.until("nothing is left open", () => server.sockets() === 0)
      }))

    it.live("a connection that closes during an upload fails with a message about the likely cause", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((request) => {
          request.once("data", () => request.socket.destroy())
        })
        for (const content of [large, new Uint8Array(30_000_000)]) {
          const upload = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.bin", content }))
          const failure = yield* Effect.flip(against(server, upload))
          expect(failure._tag).toBe("ConnectionLost")
          expect(failure.message).toMatch(
            /^the connection to 127\.0\.0\.1:\d+ broke .* while the client sent the file; the file may be too large for the service$/
          )
        }
        yield* RawServer.until("nothing is left open", () => server.sockets() === 0)
      }))
  })
}

it.live("a RequestInit of the application is kept, except its redirect mode", () =>
  Effect.gen(function*() {
    const server = yield* RawServer.make((_, response) => {
      response.writeHead(302, { location: "/elsewhere" }).end()
    })
    const asked: Array<RequestInit | undefined> = []
    const own: typeof fetch = (input, init) => {
      asked.push(init)
      return fetch(input, init)
    }
    const layer = RawServer.layerPlaza(
      server.baseUrl,
      FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, own))),
      once
    ).pipe(Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { credentials: "omit", redirect: "follow" })))
    const failure = yield* Effect.flip(Effect.provide(me, layer))
    expect(failure._tag).toBe("UnrecognizedError")
    expect(asked).toMatchObject([{ credentials: "omit", redirect: "manual" }])
  }))
