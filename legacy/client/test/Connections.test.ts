/**
 * How the client on Node connects: through which proxy, trusting whom, for how long, and what a lost connection costs.
 */
import { HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Chat, Media, Posts, Profiles } from "@plaza-legacy/client"
import { ConversationId, PostId } from "@plaza-legacy/domain"
import { ConfigProvider, Effect, Layer, Schedule, Stream } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import * as Http from "node:http"
import * as Net from "node:net"
import * as NodeClient from "../src/node.ts"
import * as RawServer from "./support/RawServer.ts"
import { selfSigned } from "./support/SelfSigned.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const say = Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("1"), "hello"))
const answer: RawServer.Handler = (request, response) => {
  request.resume().on("end", () => RawServer.answerJson(response, { id: "1", text: "hello", mediaId: "1" }))
}
const over = (baseUrl: string, options: NodeClient.Options = {}, timeout = "30 seconds" as const) =>
  RawServer.layerPlaza(baseUrl, Layer.orDie(NodeClient.layerWith(options)), { retry: Schedule.stop, timeout, rateLimit: 10_000 })

/** A server that accepts connections and sends nothing. */
const mute = Effect.acquireRelease(
  Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
    const sockets = new Set<Net.Socket>()
    const server = Net.createServer((socket) => {
      sockets.add(socket.on("error", () => {}))
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({
        port,
        close: () => {
          sockets.forEach((socket) => socket.destroy())
          server.close()
        }
      }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

type Mode = "pass" | "refuse" | "hang up"

/** A proxy that connects every tunnel to one port of this machine. */
const proxyTo = (port: number, mode: Mode = "pass") =>
  Effect.acquireRelease(
    Effect.async<
      {
        readonly address: string
        readonly asked: ReadonlyArray<readonly [string | undefined, string | undefined]>
        readonly close: () => void
      }
    >(
      (resume) => {
        const asked: Array<readonly [string | undefined, string | undefined]> = []
        const sockets = new Set<Net.Socket>()
        const server = Http.createServer()
        server.on("connection", (socket) => sockets.add(socket.on("error", () => {})))
        server.on("connect", (request, socket, head) => {
          asked.push([request.url, request.headers["proxy-authorization"]])
          if (mode === "refuse") {
            socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
          } else if (mode === "hang up") {
            socket.destroy()
          } else {
            const target = Net.connect(port, "127.0.0.1", () => {
              socket.write("HTTP/1.1 200 OK\r\n\r\n")
              target.write(head)
              target.pipe(socket).pipe(target)
            })
            sockets.add(target.on("error", () => {}))
          }
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const own = typeof address === "object" && address !== null ? address.port : 0
          resume(Effect.succeed({
            address: `127.0.0.1:${own}`,
            asked,
            close: () => {
              sockets.forEach((socket) => socket.destroy())
              server.close()
            }
          }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )

const elsewhere = "https://service.test:9/open/v1"

describe("a proxy", () => {
  it.scopedLive("receives CONNECT requests for the service, with its user and password", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      const { address, asked } = yield* proxyTo(server.port)
      yield* Effect.provide(Effect.zipRight(me, say), over(elsewhere, { proxy: `http://user:p%40ss@${address}`, ca: selfSigned.cert }))
      const credentials = `Basic ${Buffer.from("user:p@ss").toString("base64")}`
      expect(asked).toEqual([["service.test:9", credentials], ["service.test:9", credentials]])
      expect(server.seen.map(({ headers }) => headers["proxy-authorization"])).toEqual([undefined, undefined])
    }))

  it.scopedLive("comes from the environment, with or without a scheme", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      const { address, asked } = yield* proxyTo(server.port)
      const withVariables = (baseUrl: string, variables: ReadonlyArray<readonly [string, string]>) =>
        Effect.provide(
          me,
          Layer.provide(over(baseUrl, { ca: selfSigned.cert }), Layer.setConfigProvider(ConfigProvider.fromMap(new Map(variables))))
        )
      yield* withVariables(elsewhere, [["HTTPS_PROXY", `http://${address}`], ["NO_PROXY", "127.0.0.1"]])
      yield* withVariables(elsewhere, [["https_proxy", `http://${address}`], ["HTTPS_PROXY", "http://127.0.0.1:1"]])
      expect(asked).toHaveLength(2)
      yield* withVariables(elsewhere, [["HTTPS_PROXY", `user:50%off@${address}`]])
      expect(asked[2]).toEqual(["service.test:9", `Basic ${Buffer.from("user:50%off").toString("base64")}`])
      expect(server.seen).toHaveLength(3)
    }))

  it.scopedLive("is not used for a service on this machine, wherever it is set", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      const { address, asked } = yield* proxyTo(server.port)
      yield* Effect.provide(Effect.zipRight(me, say), over(server.baseUrl, { proxy: `http://${address}`, ca: selfSigned.cert }))
      expect(asked).toEqual([])
      expect(server.seen).toHaveLength(2)
    }))

  it.scopedLive("that can't be reached is named in the reason", () =>
    Effect.gen(function*() {
      for (const [proxy, reason] of [["127.0.0.1:1", "PROXY_ECONNREFUSED"], ["[::1]:1", "PROXY_ECONNREFUSED"]] as const) {
        expect(yield* Effect.flip(Effect.provide(say, over(elsewhere, { proxy })))).toMatchObject({ _tag: "ConnectionFailed", reason })
      }
    }))

  for (const [mode, reason] of [["refuse", "PROXY_REFUSED"], ["hang up", "PROXY_CLOSED"]] as const) {
    it.scopedLive(`that will ${mode} is a connection that failed, since nothing was sent`, () =>
      Effect.gen(function*() {
        const { address } = yield* proxyTo(1, mode)
        const layer = over(elsewhere, { proxy: `http://${address}` })
        expect(yield* Effect.flip(Effect.provide(say, layer))).toMatchObject({ _tag: "ConnectionFailed", reason })
        const upload = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a", content: Stream.make(new Uint8Array(9)) }))
        expect(yield* Effect.flip(Effect.provide(upload, layer))).toMatchObject({ _tag: "ConnectionFailed", reason })
      }))
  }

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
        expect(yield* Effect.flip(Effect.scoped(Layer.build(NodeClient.layerWith(options))))).toMatchObject({
          _tag: "InvalidSettings",
          setting
        })
      }
      const variables = Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["HTTPS_PROXY", "ftp://nowhere"]])))
      const failure = yield* Effect.flip(Effect.scoped(Layer.build(Layer.provide(NodeClient.layerWith({}), variables))))
      expect(failure).toMatchObject({ _op: "InvalidData", path: ["HTTPS_PROXY"] })
    }))
})

describe("a certificate", () => {
  it.scopedLive("of the application's own authority is trusted in addition to the others", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make(answer, "https")
      yield* Effect.provide(me, over(server.baseUrl, { ca: [selfSigned.cert] }))
      expect(yield* Effect.flip(Effect.provide(say, over(server.baseUrl)))).toMatchObject({ reason: "DEPTH_ZERO_SELF_SIGNED_CERT" })
      expect(server.seen).toHaveLength(1)
    }))
})

describe("a call that must not be sent twice", () => {
  it.scopedLive("fails with ConnectionFailed if it times out before it has a connection", () =>
    Effect.gen(function*() {
      const { port } = yield* mute
      const layer = RawServer.layerPlaza(`https://127.0.0.1:${port}/open/v1`, NodeClient.layer, {
        retry: Schedule.stop,
        timeout: "100 millis"
      })
      expect(yield* Effect.flip(Effect.provide(say, layer))).toMatchObject({ _tag: "ConnectionFailed", reason: "CONNECT_TIMEOUT" })
    }))

  it.scopedLive("fails with ConnectionFailed if connecting times out", () =>
    Effect.gen(function*() {
      const { port } = yield* mute
      const failure = yield* Effect.flip(Effect.provide(say, over(`https://127.0.0.1:${port}/open/v1`, { connectTimeout: "100 millis" })))
      expect(failure).toMatchObject({ _tag: "ConnectionFailed", reason: "UND_ERR_CONNECT_TIMEOUT" })
    }))

  it.scopedLive("is not sent if the process was suspended for longer than that while it connected", () =>
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

  it.scopedLive("fails with ConnectionFailed then, also with an HttpClient that the application derived", () =>
    Effect.gen(function*() {
      const { port } = yield* mute
      const wrapped = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, HttpClient.mapRequest((request) => request))
      )
      const http = Layer.provide(wrapped, Layer.orDie(NodeClient.layerWith({ connectTimeout: "100 millis" })))
      const layer = RawServer.layerPlaza(`https://127.0.0.1:${port}/open/v1`, http, { retry: Schedule.stop })
      expect(yield* Effect.flip(Effect.provide(say, layer))).toMatchObject({ _tag: "ConnectionFailed", reason: "UND_ERR_CONNECT_TIMEOUT" })
    }))

  it.scopedLive("has a connection of its own, while other calls share connections", () =>
    Effect.gen(function*() {
      const ports = new Map<string, Set<number | undefined>>([["GET", new Set()], ["POST", new Set()]])
      const server = yield* RawServer.make((request, response) => {
        ports.get(request.method ?? "")?.add(request.socket.remotePort)
        answer(request, response)
      })
      const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("1")))
      yield* Effect.provide(Effect.replicateEffect(Effect.zipRight(me, say), 5), over(server.baseUrl))
      expect([ports.get("GET")?.size, ports.get("POST")?.size]).toEqual([1, 5])
      ports.get("POST")?.clear()
      yield* Effect.provide(Effect.replicateEffect(like, 10), over(server.baseUrl))
      // One call can begin while undici still puts the connection of the one before it away.
      expect(ports.get("POST")?.size).toBeLessThanOrEqual(2)
    }))

  it.scopedLive("succeeds with a service that closes idle connections at once", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((request, response) => {
        // Closes without a hint, at about the moment at which the next request would go out.
        response.on("finish", () => setTimeout(() => request.socket.destroy(), 1))
        request.resume().on("end", () => RawServer.answerJson(response, { text: "hello" }, 201, { connection: "keep-alive" }))
      })
      yield* Effect.provide(Effect.replicateEffect(Effect.zipLeft(say, Effect.sleep("1 millis")), 200), over(server.baseUrl))
      expect(server.seen).toHaveLength(200)
    }))
})

describe("an early refusal of an upload is read although the connection breaks", () => {
  const large = Stream.take(Stream.repeatValue(new Uint8Array(64 * 1024)), 200)
  // Each piece goes out before the event loop reads again, and so one meets the end of the connection before the answer.
  const byPieces = Stream.tap(
    Stream.take(Stream.repeatValue(new Uint8Array(4 * 1024)), 200),
    () =>
      Effect.async<void>((resume) => {
        setImmediate(() => resume(Effect.void))
      })
  )
  const tooLarge = JSON.stringify({ error: { code: "PAYLOAD_TOO_LARGE", message: "too large" } })
  for (const scheme of ["http", "https"] as const) {
    for (const [how, goOn] of [["reads on", true], ["stops reading", false]] as const) {
      it.scopedLive(`over ${scheme}, from a service that ${how}`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make((request, response) => {
            request.once("data", () => {
              request.pause()
              response.writeHead(413, { "content-type": "application/json", connection: "close" }).end(tooLarge, () => {
                if (goOn) {
                  request.resume()
                }
                request.socket.destroySoon()
              })
            })
          }, scheme)
          yield* Effect.gen(function*() {
            const { upload } = yield* Media
            for (const content of [large, new Uint8Array(10_000_000), byPieces, large, new Uint8Array(10_000_000), byPieces]) {
              expect((yield* Effect.flip(upload({ fileName: "a.bin", content })))._tag).toBe("PayloadTooLarge")
            }
          }).pipe(Effect.provide(over(server.baseUrl, { ca: selfSigned.cert })))
        }))
    }
  }
})
