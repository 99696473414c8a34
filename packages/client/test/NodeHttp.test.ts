/** The HTTP client of short processes: what it knows about a call whose connection did not open. */
import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, type Plaza, Posts, Profiles } from "@plaza/client"
import * as NodeHttp from "@plaza/client/node-http"
import { ConversationId, PostId } from "@plaza/domain"
import * as SwallowedPackets from "@plaza/testing/SwallowedPackets"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { HttpClient } from "effect/http"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { vi } from "vitest"
import * as RawServer from "./support/RawServer.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const say = Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("1"), "hello"))
const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("1")))

type Call = Effect.Effect<unknown, ClientError.Failure, Plaza.Services>
const calls: ReadonlyArray<readonly [name: string, call: Call]> = [["a write", say], ["a read", me], ["a repeatable write", like]]

const answer: RawServer.Handler = (request, response) => {
  request.resume().on("end", () => RawServer.answerJson(response, { id: "1", text: "hello" }))
}
const over = (baseUrl: string, options: Partial<Plaza.Options> = {}) =>
  RawServer.layerPlaza(baseUrl, NodeHttp.layer, { retry: Schedule.recurs(0), rateLimit: 10_000, ...options })

const baseUrlOf = (port: number, scheme: "http" | "https" = "http") => `${scheme}://127.0.0.1:${port}/open/v1`

/** Accepts connections and sends nothing, so that a TLS handshake hangs. */
const mute = RawServer.makeNet(() => {})

describe("a call that must not be sent twice, by node:http", () => {
  for (const [what, call] of calls) {
    it.live(`was not sent if the network swallows packets: ${what}`, () =>
      Effect.gen(function*() {
        const layer = over(baseUrlOf(yield* SwallowedPackets.port), { timeout: "100 millis" })
        expect(yield* Effect.flip(Effect.provide(call, layer))).toMatchObject({ _tag: "ConnectionFailed", reason: "CONNECT_TIMEOUT" })
      }))
  }

  it.live("was not sent if the TLS handshake hangs", () =>
    Effect.gen(function*() {
      const layer = over(baseUrlOf(yield* mute, "https"), { timeout: "100 millis" })
      expect(yield* Effect.flip(Effect.provide(say, layer))).toMatchObject({ _tag: "ConnectionFailed", reason: "CONNECT_TIMEOUT" })
    }))

  it.live("may have been sent if the service does not respond", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(() => {})
      const failure = yield* Effect.flip(Effect.provide(say, over(server.baseUrl, { timeout: "100 millis" })))
      expect(failure).toMatchObject({ _tag: "OutcomeUnknown" })
      expect(server.seen).toHaveLength(1)
    }))

  it.live("was not sent if connecting takes longer than 10 seconds, whatever the timeout", () =>
    Effect.gen(function*() {
      const sockets: Array<Socket> = []
      const port = yield* RawServer.makeNet((socket) => sockets.push(socket))
      const services = yield* Layer.build(over(baseUrlOf(port, "https"), { timeout: "1 hour" }))
      // Only timers that begin now.
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })),
        () => Effect.sync(() => vi.useRealTimers())
      )
      const fiber = yield* Effect.forkChild(Effect.flip(Effect.provideContext(say, services)))
      yield* Effect.callback<void>((resume) => {
        const look = () => sockets.length > 0 ? resume(Effect.void) : setImmediate(look)
        look()
      })
      yield* Effect.sync(() => vi.advanceTimersByTime(10_000))
      expect(yield* Fiber.join(fiber)).toMatchObject({
        _tag: "ConnectionFailed",
        message: expect.stringContaining("ETIMEDOUT") as unknown
      })
    }))

  it.live("is not sent if the process was suspended for longer than that while it connected", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer)
      const now = performance.now.bind(performance)
      // The clock jumps between the beginning of the connection and its end.
      const jump = () => vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 11_000)
      const suspend = () => process.nextTick(jump)
      yield* Effect.acquireRelease(
        Effect.sync(() => subscribe("net.client.socket", suspend)),
        () => Effect.sync(() => unsubscribe("net.client.socket", suspend))
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.restoreAllMocks()))
      expect(yield* Effect.flip(Effect.provide(say, over(server.baseUrl)))).toMatchObject({ _tag: "ConnectionFailed", reason: "ETIMEDOUT" })
      expect(server.seen).toEqual([])
    }))

  it.live("leaves no connection behind if it is interrupted while it connects", () =>
    Effect.gen(function*() {
      const open = new Set<Socket>()
      const port = yield* RawServer.makeNet((socket) => {
        open.add(socket.resume())
        socket.on("close", () => open.delete(socket))
      })
      const services = yield* Layer.build(over(baseUrlOf(port, "https")))
      for (const [, call] of calls) {
        const fiber = yield* Effect.forkChild(Effect.provideContext(call, services))
        yield* RawServer.until("the client connects", () => open.size === 1)
        yield* Fiber.interrupt(fiber)
        yield* RawServer.until("the connection is closed", () => open.size === 0)
      }
    }))

  it.live("was not sent, also with an HttpClient that the application derived", () =>
    Effect.gen(function*() {
      const derived = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, HttpClient.mapRequest((request) => request))
      )
      const layer = RawServer.layerPlaza(baseUrlOf(yield* mute, "https"), Layer.provide(derived, NodeHttp.layer), {
        retry: Schedule.recurs(0),
        timeout: "100 millis"
      })
      expect(yield* Effect.flip(Effect.provide(say, layer))).toMatchObject({ _tag: "ConnectionFailed", reason: "CONNECT_TIMEOUT" })
    }))

  it.live("was not sent if nobody listens, or if the certificate is not trusted", () =>
    Effect.gen(function*() {
      const failureOf = (baseUrl: string) => Effect.flip(Effect.provide(say, over(baseUrl)))
      expect(yield* failureOf(baseUrlOf(1))).toMatchObject({ _tag: "ConnectionFailed", reason: "ECONNREFUSED" })
      const server = yield* RawServer.make(answer, "https")
      expect(yield* failureOf(server.baseUrl)).toMatchObject({ _tag: "ConnectionFailed", reason: "DEPTH_ZERO_SELF_SIGNED_CERT" })
      expect(server.seen).toEqual([])
    }))

  it.live("may have been sent if the connection breaks", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((request) => request.socket.destroy())
      expect(yield* Effect.flip(Effect.provide(say, over(server.baseUrl)))).toMatchObject({ _tag: "OutcomeUnknown" })
    }))

  it.live("has a connection of its own", () =>
    Effect.gen(function*() {
      const ports = new Set<number | undefined>()
      const server = yield* RawServer.make((request, response) => {
        ports.add(request.socket.remotePort)
        answer(request, response)
      })
      yield* Effect.provide(Effect.replicateEffect(Effect.andThen(me, say), 5), over(server.baseUrl))
      expect(ports.size).toBe(10)
    }))
})
