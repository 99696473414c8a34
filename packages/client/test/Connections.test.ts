/**
 * How the client on Node connects: through which proxy, trusting whom, for how long, and what a lost connection costs.
 */
import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, Media, Plaza, Posts, Profiles } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { ConversationId, PostId } from "@plaza/domain"
import { selfSigned } from "@plaza/testing/SelfSigned"
import { Cause, ConfigProvider, Context, Effect, Exit, Fiber, Layer, Schedule, Stream } from "effect"
import { HttpClient } from "effect/http"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { createSecureServer } from "node:http2"
import { type AddressInfo, connect, type Socket } from "node:net"
import { Worker } from "node:worker_threads"
import { vi } from "vitest"
import * as RawServer from "./support/RawServer.ts"
import type { Refusing } from "./support/RefusingService.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const say = Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("1"), "hello"))
const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("1")))
const upload = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a", content: Stream.make(new Uint8Array(9)) }))

type Call = Effect.Effect<unknown, ClientError.Failure, Plaza.Services>
const calls: ReadonlyArray<readonly [name: string, call: Call]> = [["a write", say], ["a read", me], ["an upload", upload]]

const answer: RawServer.Handler = (request, response) => {
  request.resume().on("end", () => RawServer.answerJson(response, { id: "1", text: "hello", mediaId: "1" }))
}
const over = (baseUrl: string, options: NodeClient.Options = {}, client: Partial<Plaza.Options> = {}) =>
  RawServer.layerPlaza(baseUrl, Layer.orDie(NodeClient.layerWith(options)), { retry: Schedule.recurs(0), rateLimit: 10_000, ...client })
const environment = (env: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

/** Accepts connections and sends nothing. Returns its port. */
const mute = RawServer.makeNet(() => {})

/** Connects a socket to another port of this machine. */
const pass = (socket: Socket, port: number) => {
  const target = connect(port, "127.0.0.1").on("error", () => socket.destroy()).on("close", () => socket.destroy())
  socket.on("close", () => target.destroy())
  socket.pipe(target).pipe(socket)
}

/** Accepts connections, and connects them to another port once they are released. */
const holding = (target: number) =>
  Effect.gen(function*() {
    const held: Array<Socket> = []
    let isReleased = false
    const port = yield* RawServer.makeNet((socket) => isReleased ? pass(socket, target) : held.push(socket))
    const release = () => {
      isReleased = true
      held.forEach((socket) => pass(socket, target))
    }
    return { held, port, release }
  })

const elsewhere = "https://service.test:9/open/v1"

describe("a proxy", () => {
  it.live("receives CONNECT requests for the service, with its user and password", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      const { address, asked } = yield* RawServer.makeProxy(server.port)
      yield* Effect.provide(Effect.andThen(me, say), over(elsewhere, { proxy: `http://user:p%40ss@${address}`, ca: selfSigned.cert }))
      const credentials = `Basic ${Buffer.from("user:p@ss").toString("base64")}`
      expect(asked).toEqual([["service.test:9", credentials], ["service.test:9", credentials]])
      expect(server.seen.map(({ headers }) => headers["proxy-authorization"])).toEqual([undefined, undefined])
    }))

  it.live("receives CONNECT requests for a service on plain http as well", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer)
      const { address, asked } = yield* RawServer.makeProxy(server.port)
      yield* Effect.provide(
        Effect.andThen(me, say),
        over("http://service.test/open/v1", { proxy: address }, { allowInsecureHttp: true })
      )
      expect(asked.map(([url]) => url)).toEqual(["service.test:80", "service.test:80"])
      expect(server.seen.map(({ path }) => path)).toEqual(["/open/v1/me", "/open/v1/conversations/1/messages"])
    }))

  it.live("comes from the environment, with or without a scheme", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      const { address, asked } = yield* RawServer.makeProxy(server.port)
      const withVariables = (variables: Record<string, string>) =>
        Effect.provide(me, Layer.provide(over(elsewhere, { ca: selfSigned.cert }), environment(variables)))
      yield* withVariables({ HTTPS_PROXY: `http://${address}`, NO_PROXY: "127.0.0.1" })
      yield* withVariables({ https_proxy: `http://${address}`, HTTPS_PROXY: "http://127.0.0.1:1" })
      expect(asked).toHaveLength(2)
      yield* withVariables({ HTTPS_PROXY: `user:50%off@${address}` })
      expect(asked[2]).toEqual(["service.test:9", `Basic ${Buffer.from("user:50%off").toString("base64")}`])
      expect(server.seen).toHaveLength(3)
    }))

  it.live("is not used for a service on this machine, wherever it is set", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      const { address, asked } = yield* RawServer.makeProxy(server.port)
      yield* Effect.provide(Effect.andThen(me, say), over(server.baseUrl, { proxy: `http://${address}`, ca: selfSigned.cert }))
      expect(asked).toEqual([])
      expect(server.seen).toHaveLength(2)
    }))

  const failing: ReadonlyArray<readonly [what: string, tunnel: RawServer.Tunnel, reason: string]> = [
    ["refuses the tunnel", "HTTP/1.1 403 Forbidden\r\n\r\n", "PROXY_REFUSED"],
    ["can't reach the service", "HTTP/1.1 502 Bad Gateway\r\n\r\n", "PROXY_REFUSED"],
    ["requires a user and a password", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "PROXY_AUTHENTICATION"],
    ["closes the connection", "", "PROXY_CLOSED"],
    ["does not speak HTTP", "SMTP ready\r\n\r\n", "PROXY_INVALID_RESPONSE"],
    ["does not respond", undefined, "PROXY_TIMEOUT"]
  ]
  for (const [what, tunnel, reason] of failing) {
    it.live(`that ${what} is named by a failure, and nothing was sent`, () =>
      Effect.gen(function*() {
        const { address, asked } = yield* RawServer.makeProxy(tunnel)
        const layer = over(elsewhere, { proxy: `http://user:secret@${address}`, connectTimeout: "300 millis" })
        yield* Effect.gen(function*() {
          // Each call tries again.
          for (const [, call] of calls) {
            const failure = yield* Effect.flip(call)
            expect(failure).toMatchObject({ _tag: "ConnectionFailed", reason })
            expect(failure.message).toContain(`can't connect to service.test:9 through the proxy http://${address} (${reason})`)
            expect(failure.message).not.toContain("secret")
          }
        }).pipe(Effect.provide(layer))
        expect(asked.length).toBeGreaterThanOrEqual(3)
      }))
  }

  it.live("that can't be reached is named by a failure", () =>
    Effect.gen(function*() {
      for (const proxy of ["127.0.0.1:1", "[::1]:1"]) {
        const failure = yield* Effect.flip(Effect.provide(say, over(elsewhere, { proxy })))
        expect(failure).toMatchObject({ _tag: "ConnectionFailed" })
        expect(failure.message).toMatch(/^can't connect to service\.test:9 through the proxy http:\/\/\S+:1 \(PROXY_E\w+\)/)
      }
    }))

  it.live("is named by the failure of a connection that breaks behind it", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((request) => request.socket.destroy(), "https")
      const { address } = yield* RawServer.makeProxy(server.port)
      const failure = yield* Effect.flip(Effect.provide(me, over(elsewhere, { proxy: address, ca: selfSigned.cert })))
      expect(failure).toMatchObject({ _tag: "ConnectionLost" })
      expect(failure.message).toContain(`the connection to service.test:9 through the proxy http://${address} broke`)
    }))

  it.live("is not blamed for the certificate of the service", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      const { address } = yield* RawServer.makeProxy(server.port)
      const failure = yield* Effect.flip(Effect.provide(say, over(elsewhere, { proxy: address })))
      expect(failure).toMatchObject({ _tag: "ConnectionFailed", reason: "DEPTH_ZERO_SELF_SIGNED_CERT" })
    }))

  it.effect("with an invalid URL fails the layer with the option's name, as do invalid durations", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [string, NodeClient.Options]> = [
        ["proxy", { proxy: "socks5://proxy:1080" }],
        ["proxy", { proxy: "" }],
        ["keepAlive", { keepAlive: 0 }],
        // The test passes what a program without types can pass.
        ["keepAlive", { keepAlive: "4s" as "4 seconds" }],
        ["connectTimeout", { connectTimeout: -1 }],
        ["connectTimeout", { connectTimeout: Number.POSITIVE_INFINITY }]
      ]
      for (const [setting, options] of wrong) {
        expect(yield* Effect.flip(Layer.build(NodeClient.layerWith(options)))).toMatchObject({ _tag: "InvalidSettings", setting })
      }
      const failure = yield* Effect.flip(Layer.build(NodeClient.layerWith({}))).pipe(
        Effect.provide(environment({ HTTPS_PROXY: "ftp://nowhere" }))
      )
      expect(failure).toMatchObject({ _tag: "ConfigError" })
      expect(failure.message).toContain(`at ["HTTPS_PROXY"]`)
    }))
})

describe("Bun, which has a stand-in for undici", () => {
  it.effect("gets a message that names the HTTP client to use", () =>
    Effect.gen(function*() {
      vi.stubGlobal("process", Object.create(process, { versions: { value: { ...process.versions, bun: "1.4.5" } } }))
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllGlobals()))
      const failure = yield* Effect.flip(Layer.build(NodeClient.layerWith({ proxy: false })))
      expect(failure).toMatchObject({ _tag: "InvalidSettings" })
      expect(failure.message).toMatch(/Bun doesn't have; use FetchHttpClient\.layer of effect\/http$/)
      for (const layer of [NodeClient.layer, NodeClient.layerConfig]) {
        const exit = yield* Effect.exit(Layer.build(layer))
        expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toContain("use FetchHttpClient.layer")
      }
    }))
})

describe("a certificate", () => {
  it.live("of the application's own authority is trusted in addition to the others", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      yield* Effect.provide(me, over(server.baseUrl, { ca: [selfSigned.cert] }))
      expect(yield* Effect.flip(Effect.provide(say, over(server.baseUrl)))).toMatchObject({ reason: "DEPTH_ZERO_SELF_SIGNED_CERT" })
      expect(server.seen).toHaveLength(1)
    }))
})

describe("a call that must not be sent twice", () => {
  it.live("fails with ConnectionFailed if it times out before it has a connection", () =>
    Effect.gen(function*() {
      const port = yield* mute
      const layer = RawServer.layerPlaza(`https://127.0.0.1:${port}/open/v1`, NodeClient.layer, {
        retry: Schedule.recurs(0),
        timeout: "100 millis"
      })
      expect(yield* Effect.flip(Effect.provide(say, layer))).toMatchObject({ _tag: "ConnectionFailed", reason: "CONNECT_TIMEOUT" })
    }))

  it.live("fails with ConnectionFailed if connecting times out", () =>
    Effect.gen(function*() {
      const port = yield* mute
      const failure = yield* Effect.flip(Effect.provide(say, over(`https://127.0.0.1:${port}/open/v1`, { connectTimeout: "100 millis" })))
      expect(failure).toMatchObject({ _tag: "ConnectionFailed", reason: "UND_ERR_CONNECT_TIMEOUT" })
    }))

  for (const [what, call] of calls) {
    for (const through of ["", " through a proxy"]) {
      it.live(`is never sent later if it failed before it had a connection: ${what}${through}`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make(answer, "https")
          const { port, release } = yield* holding(server.port)
          const [baseUrl, proxy] = through === ""
            ? [`https://127.0.0.1:${port}/open/v1`, false as const]
            : [elsewhere, (yield* RawServer.makeProxy(port)).address]
          const services = yield* Layer.build(over(baseUrl, { ca: selfSigned.cert, proxy }, { timeout: "200 millis" }))
          const failure = yield* Effect.flip(Effect.provideContext(call, services))
          expect(failure).toMatchObject({ _tag: "ConnectionFailed", reason: "CONNECT_TIMEOUT" })
          release()
          yield* Effect.provideContext(Plaza.withTimeout("10 seconds")(like), services)
          expect(server.seen.map(({ path }) => path)).toEqual(["/open/v1/posts/1/like"])
        }))
    }

    it.live(`is never sent later if it is interrupted before it has a connection: ${what}`, () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make(answer, "https")
        const { held, port, release } = yield* holding(server.port)
        const services = yield* Layer.build(over(`https://127.0.0.1:${port}/open/v1`, { ca: selfSigned.cert }))
        const fiber = yield* Effect.forkChild(Effect.provideContext(call, services))
        yield* RawServer.until("the client connects", () => held.length === 1)
        yield* Fiber.interrupt(fiber)
        release()
        yield* Effect.provideContext(like, services)
        expect(server.seen.map(({ path }) => path)).toEqual(["/open/v1/posts/1/like"])
      }))
  }

  it.live("leaves no connection behind if it is interrupted while it connects", () =>
    Effect.gen(function*() {
      const open = new Set<Socket>()
      const port = yield* RawServer.makeNet((socket) => {
        open.add(socket.resume())
        socket.on("close", () => open.delete(socket))
      })
      const services = yield* Layer.build(over(`https://127.0.0.1:${port}/open/v1`))
      for (const [, call] of calls) {
        const fiber = yield* Effect.forkChild(Effect.provideContext(call, services))
        yield* RawServer.until("the client connects", () => open.size === 1)
        yield* Fiber.interrupt(fiber)
        yield* RawServer.until("the connection is closed", () => open.size === 0)
      }
    }), 5_000)

  it.live("does not wait for the connection of a call before it", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      let connections = 0
      // Every second connection opens.
      const port = yield* RawServer.makeNet((socket) => {
        if (++connections % 2 === 0) pass(socket, server.port)
      })
      const services = yield* Layer.build(over(`https://127.0.0.1:${port}/open/v1`, { ca: selfSigned.cert }, { timeout: "200 millis" }))
      for (const [, call] of calls) {
        expect(yield* Effect.flip(Effect.provideContext(call, services))).toMatchObject({ _tag: "ConnectionFailed" })
        yield* Effect.provideContext(call, services)
      }
    }))

  it.live("is not sent if the process was suspended for longer than that while it connected", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer)
      const suspend = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
      yield* Effect.acquireRelease(
        Effect.sync(() => subscribe("net.client.socket", suspend)),
        () => Effect.sync(() => unsubscribe("net.client.socket", suspend))
      )
      const failure = yield* Effect.flip(Effect.provide(say, over(server.baseUrl, { connectTimeout: "100 millis" })))
      expect(failure).toMatchObject({ _tag: "ConnectionFailed", reason: "UND_ERR_CONNECT_TIMEOUT" })
      expect(server.seen).toEqual([])
    }))

  it.live("fails with ConnectionFailed then, also with an HttpClient that the application derived", () =>
    Effect.gen(function*() {
      const port = yield* mute
      const wrapped = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, HttpClient.mapRequest((request) => request))
      )
      const http = Layer.provide(wrapped, Layer.orDie(NodeClient.layerWith({ connectTimeout: "100 millis" })))
      const layer = RawServer.layerPlaza(`https://127.0.0.1:${port}/open/v1`, http, { retry: Schedule.recurs(0) })
      expect(yield* Effect.flip(Effect.provide(say, layer))).toMatchObject({ _tag: "ConnectionFailed", reason: "UND_ERR_CONNECT_TIMEOUT" })
    }))

  it.live("has a connection of its own, while other calls share connections", () =>
    Effect.gen(function*() {
      const ports = new Map<string, Set<number | undefined>>([["GET", new Set()], ["POST", new Set()]])
      const server = yield* RawServer.make((request, response) => {
        ports.get(request.method ?? "")?.add(request.socket.remotePort)
        answer(request, response)
      })
      yield* Effect.provide(Effect.replicateEffect(Effect.andThen(me, say), 5), over(server.baseUrl))
      expect([ports.get("GET")?.size, ports.get("POST")?.size]).toEqual([1, 5])
      ports.get("POST")?.clear()
      yield* Effect.provide(Effect.replicateEffect(like, 10), over(server.baseUrl))
      // One call can begin while undici still puts the connection of the one before it away.
      expect(ports.get("POST")?.size).toBeLessThanOrEqual(2)
    }))

  it.live("uses HTTP/1.1 with a service that offers HTTP/2", () =>
    Effect.gen(function*() {
      const versions: Array<string> = []
      const server = createSecureServer({ ...selfSigned, allowHTTP1: true }, (request, response) => {
        versions.push(request.httpVersion)
        request.resume().on("end", () => response.end(JSON.stringify({ id: "1", text: "hello" })))
      })
      const port = yield* RawServer.listen(server)
      yield* Effect.provide(Effect.andThen(me, say), over(`https://127.0.0.1:${port}/open/v1`, { ca: selfSigned.cert }))
      expect(versions).toEqual(["1.1", "1.1"])
    }))

  it.live("succeeds with a service that closes idle connections at once", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((request, response) => {
        // Closes without a hint, at about the moment at which the next request would go out.
        response.on("finish", () => setTimeout(() => request.socket.destroy(), 1))
        request.resume().on("end", () => RawServer.answerJson(response, { text: "hello" }, 201, { connection: "keep-alive" }))
      })
      yield* Effect.provide(Effect.replicateEffect(Effect.andThen(say, Effect.sleep("1 millis")), 200), over(server.baseUrl))
      expect(server.seen).toHaveLength(200)
    }))
})

/** Starts the service in a worker. Returns its port. */
const refusingService = (workerData: Refusing) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly worker: Worker; readonly port: number }>((resume) => {
        const worker = new Worker(new URL("./support/RefusingService.ts", import.meta.url), { workerData })
        worker.once("message", ({ port }: AddressInfo) => resume(Effect.succeed({ worker, port })))
        worker.once("error", (error) => resume(Effect.die(error)))
      }),
      ({ worker }) => Effect.promise(() => worker.terminate())
    ),
    ({ port }) => port
  )

describe("an early refusal of an upload is read although the connection breaks", () => {
  const pieces = (size: number) => Stream.rechunk(Stream.fromIterable(Array.from({ length: 200 }, () => new Uint8Array(size))), 1)
  const contents: Readonly<Record<string, Uint8Array | Stream.Stream<Uint8Array>>> = {
    "in large pieces": pieces(64 * 1024),
    "in small pieces": pieces(4 * 1024),
    "in memory": new Uint8Array(10_000_000)
  }
  for (const scheme of ["http", "https"] as const) {
    for (const [how, readsOn] of [["reads on", true], ["stops reading", false]] as const) {
      it.live(`over ${scheme}, from a service that ${how}`, () =>
        Effect.gen(function*() {
          const port = yield* refusingService({ scheme, readsOn })
          const services = yield* Layer.build(over(`${scheme}://127.0.0.1:${port}/open/v1`, { ca: selfSigned.cert }))
          const { upload } = Context.get(services, Media)
          for (const [what, content] of Object.entries(contents)) {
            for (let round = 0; round < 10; round++) {
              expect([what, (yield* Effect.flip(upload({ fileName: "a.bin", content })))._tag]).toEqual([what, "PayloadTooLarge"])
            }
          }
        }))
    }
  }
})
