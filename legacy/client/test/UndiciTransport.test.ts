import { HttpClient, HttpClientRequest } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Posts, Profiles } from "@plaza-legacy/client"
import { PostId } from "@plaza-legacy/domain"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import * as NodeClient from "../src/node.ts"
import * as RawServer from "./support/RawServer.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const comment = (text: string) => Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("1"), text))

const against = (server: RawServer.RawServer, http = NodeClient.layer) =>
  RawServer.layerPlaza(server.baseUrl, http, { retry: Schedule.stop })

describe("a call on Node's client", () => {
  it.scopedLive("reads a response in chunks that split the bytes of a character", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_, response) => {
        const bytes = Buffer.from(JSON.stringify({ id: "1", username: "zoë" }))
        const middle = bytes.indexOf(0xc3) + 1
        response.writeHead(200, { "content-type": "application/json" })
        response.write(bytes.subarray(0, middle), () => response.end(bytes.subarray(middle)))
      })
      expect(yield* Effect.provide(me, against(server))).toMatchObject({ username: "zoë" })
    }))

  it.scopedLive("reads a response with a byte order mark", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end("\uFEFF{\"id\":\"1\"}")
      })
      expect(yield* Effect.provide(me, against(server))).toMatchObject({ id: "1" })
    }))

  it.scopedLive("waits for the final response after an informational one", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_, response) => {
        response.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => RawServer.answerJson(response, { id: "1" }))
      })
      expect(yield* Effect.provide(me, against(server))).toMatchObject({ id: "1" })
    }))

  it.scopedLive("sends its body as JSON, with its length", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_, response) => RawServer.answerJson(response, { text: "zoë" }))
      yield* Effect.provide(comment("zoë"), against(server))
      expect(server.seen[0]?.headers).toMatchObject({ "content-type": "application/json", "content-length": "15" })
    }))

  it.scopedLive("applies the changes of an HttpClient that the application derived", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_, response) => RawServer.answerJson(response, { id: "1" }))
      const tagged = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.setHeader("x-shop", "north")))
      )
      yield* Effect.provide(me, against(server, Layer.provide(tagged, NodeClient.layer)))
      expect(server.seen[0]?.headers).toMatchObject({ "x-shop": "north" })
    }))

  it.scopedLive("keeps the application's AsyncLocalStorage, on connections that other calls use", () =>
    Effect.gen(function*() {
      const storage = new AsyncLocalStorage<string>()
      const server = yield* RawServer.make((_, response) => RawServer.answerJson(response, { id: "1" }))
      const context = yield* Layer.build(against(server))
      const call = Effect.as(Effect.provide(me, context), Effect.sync(() => storage.getStore()))
      const runIn = (name: string) => Effect.promise(() => storage.run(name, () => Effect.runPromise(Effect.flatten(call))))
      const names = Array.from({ length: 10 }, (_, index) => `caller ${index}`)
      expect(yield* Effect.forEach(names, runIn)).toEqual(names)
      expect(server.sockets()).toBeLessThan(names.length)
    }))

  it.scopedLive("that is interrupted before it has a connection is never sent", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_, response) => RawServer.answerJson(response, { id: "1", text: "hello" }))
      const context = yield* Layer.build(against(server))
      const fiber = yield* Effect.fork(Effect.provide(comment("hello"), context))
      // Far enough to be handed over, not far enough for a connection, which takes the system's answer.
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      yield* Effect.provide(me, context)
      expect(server.seen.map(({ method }) => method)).toEqual(["GET"])
    }))
})
