/**
 * A sandbox on a socket: it listens on this machine only, limits requests, logs no key
 * and stops on request.
 */
import { FileSystem } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Cause, Duration, Effect, Exit, HashMap, Layer, Logger, LogLevel, Redacted, Schedule, Scope } from "effect"
import { connect } from "node:net"
import { networkInterfaces } from "node:os"
import * as Sockets from "./sockets.ts"
import { call, layerInProcess, layerSocket, refusal } from "./support.ts"

const reachable = (host: string, port: number) =>
  Effect.async<boolean>((resume) => {
    const socket = connect(port, host)
    const tell = (answer: boolean) => {
      socket.destroy()
      resume(Effect.succeed(answer))
    }
    socket.on("error", () => tell(false)).on("connect", () => tell(true))
  })
const outside = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  .filter(({ family, internal }) => family === "IPv4" && !internal)
  .map(({ address }) => address)

describe("a sandbox on a socket", () => {
  it.live("listens on this machine only by default, and on another host if one is set", () =>
    Effect.gen(function*() {
      for (const [options, isOpen] of [[{}, false], [{ host: "0.0.0.0" }, true]] as const) {
        yield* Effect.gen(function*() {
          const { hostname, port } = new URL((yield* Sandbox.Sandbox).baseUrl)
          assert.strictEqual(hostname, "127.0.0.1")
          assert.isTrue(yield* reachable("127.0.0.1", Number(port)))
          for (const address of outside) {
            assert.strictEqual(yield* reachable(address, Number(port)), isOpen, address)
          }
        }).pipe(Effect.provide(Sandbox.layerServer(options)))
      }
    }))
})

layer(layerSocket(), { excludeTestServices: true })("a request on a socket", (it) => {
  it.scoped("is refused with the envelope if its headers exceed 16 KiB, few large or many small ones", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 4_000 }, (_, index) => `a${index}:b`)
      for (const headers of [[`x: ${"y".repeat(17_000)}`], many]) {
        const { closed, socket } = yield* Sockets.open
        socket.write(Sockets.lines("GET /open/v1/me HTTP/1.1", "host: localhost", ...headers, "", ""))
        const received = yield* closed
        assert.strictEqual(Sockets.statusOf(received), "400")
        assert.deepStrictEqual(Sockets.errorOf(received), ["VALIDATION_ERROR", "the headers are larger than 16384 bytes"])
      }
    }))

  it.scoped("keeps all of its headers below that, however many there are", () =>
    Effect.gen(function*() {
      const { closed, socket } = yield* Sockets.open
      const many = Array.from({ length: 2_500 }, () => "a:b")
      socket.write(
        Sockets.lines("GET /open/v1/me HTTP/1.1", "host: localhost", ...many, yield* Sockets.bearer, "connection: close", "", "")
      )
      assert.strictEqual(Sockets.statusOf(yield* closed), "200")
    }))

  it.scoped("is refused with the envelope if it is malformed, or a CONNECT", () =>
    Effect.gen(function*() {
      const key = yield* Sockets.bearer
      for (
        const [request, status] of [
          ["\u0016\u0003\u0001 TLS", "400"],
          ["GET /open/v1/me HTTP/9.9\r\n\r\n", "400"],
          ["POST /open/v1/posts HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n", "400"],
          ["POST /open/v1/posts HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", "400"],
          [
            Sockets.lines("POST /open/v1/posts HTTP/1.1", "host: localhost", key, "content-type: application/json",
              "transfer-encoding: chunked", "", "zz", ""),
            "400"
          ],
          ["CONNECT elsewhere:443 HTTP/1.1\r\nhost: elsewhere:443\r\n\r\n", "404"]
        ] as const
      ) {
        const { closed, socket } = yield* Sockets.open
        socket.write(request)
        const received = yield* closed
        assert.strictEqual(Sockets.statusOf(received), status, request)
        assert.match(received, /\{"error":\{"code":"\w+","message":"[^"]+"/)
      }
      assert.strictEqual((yield* call("GET", "/me")).status, 200)
    }))

  it.scoped("may be pipelined: responses have the order of the requests", () =>
    Effect.gen(function*() {
      const { closed, socket } = yield* Sockets.open
      const key = yield* Sockets.bearer
      const request = (path: string, ...more: ReadonlyArray<string>) =>
        Sockets.lines(`GET /open/v1${path} HTTP/1.1`, "host: localhost", ...more, "", "")
      socket.write(request("/me", key) + request("/nowhere") + request("/me") + request("/me", key, "connection: close"))
      const received = yield* closed
      assert.deepStrictEqual(received.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 401", "HTTP/1.1 200"])
    }))
})

const withFile = <A, E>(use: (data: string) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.scoped(
    Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.flatMap(fs.makeTempDirectoryScoped(), (folder) => use(`${folder}/sandbox.db`)))
  ).pipe(Effect.provide(NodeContext.layer))

describe("a key", () => {
  for (const [way, make] of [["in process", layerInProcess], ["over a socket", layerSocket]] as const) {
    it.live(`appears in no log at any level, ${way}: not after success, a refusal or a failure of the sandbox`, () =>
      withFile((data) =>
        Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const told: Array<string> = []
          const logger = Logger.make(({ annotations, cause, message, spans }) => {
            told.push(JSON.stringify([message, HashMap.toEntries(annotations), [...spans]]) + Cause.pretty(cause))
          })
          const keys = yield* Effect.gen(function*() {
            const sandbox = yield* Sandbox.Sandbox
            const { id } = yield* sandbox.createAccount()
            const made = yield* sandbox.createKey(id)
            const unknown = `key_${"x".repeat(40)}`
            yield* call("GET", "/me", { key: made.apiKey })
            yield* call("POST", "/posts", { key: made.apiKey, text: "{" })
            yield* call("GET", "/me", { key: unknown })
            yield* sandbox.addFault({ kind: "status", when: "after", status: 500 })
            yield* call("GET", "/me")
            yield* fs.remove(`${data}-media`, { recursive: true })
            const form = new FormData()
            form.append("file", new File(["x"], "a.txt", { type: "a/b" }))
            assert.strictEqual(refusal(yield* call("POST", "/media", { key: made.apiKey, form })), "500 INTERNAL_ERROR")
            yield* sandbox.revokeKey(made.id)
            yield* call("GET", "/me", { key: made.apiKey })
            return [Redacted.value(sandbox.apiKey), Redacted.value(made.apiKey), unknown]
          }).pipe(
            Effect.provide(Layer.provideMerge(make({ data }), Logger.replace(Logger.defaultLogger, logger))),
            Logger.withMinimumLogLevel(LogLevel.All)
          )
          assert.include(told.join("\n"), "sandbox.storage_failed")
          for (const key of keys) {
            assert.notInclude(told.join("\n"), key.slice("key_".length))
          }
        })
      ))
  }
})

describe("a stop", () => {
  it.live("closes waiting connections, and leaves no port, no lock and no file of its own", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(layerSocket({ data, timeouts: { stop: Duration.minutes(10) } }), scope)
        yield* Effect.gen(function*() {
          const { baseUrl, requests } = yield* Sandbox.Sandbox
          const uploading = yield* Sockets.open
          uploading.socket.write(Sockets.lines(
            "POST /open/v1/media HTTP/1.1",
            "host: localhost",
            yield* Sockets.bearer,
            "content-type: multipart/form-data; boundary=b",
            "content-length: 1000",
            "",
            "--b"
          ))
          const posting = yield* Sockets.open
          posting.socket.write(
            Sockets.lines("POST /open/v1/posts HTTP/1.1", "host: localhost", yield* Sockets.bearer, "content-type: application/json",
              "content-length: 1000", "", "{")
          )
          const idle = yield* Sockets.open
          yield* requests.pipe(Effect.repeat({ until: (all) => all.length === 2, schedule: Schedule.spaced("5 millis") }))
          yield* Scope.close(scope, Exit.void)
          for (const { closed } of [uploading, posting, idle]) {
            assert.strictEqual(yield* closed, "")
          }
          assert.isFalse(yield* reachable("127.0.0.1", Number(new URL(baseUrl).port)))
          assert.deepStrictEqual(yield* fs.readDirectory(`${data}-media`), [])
        }).pipe(Effect.provide(context))
        assert.deepStrictEqual([...(yield* fs.readDirectory(data.slice(0, data.lastIndexOf("/"))))].sort(), [
          "sandbox.db",
          "sandbox.db-media"
        ])
        assert.strictEqual((yield* Effect.provide(call("GET", "/me"), layerInProcess({ data }))).status, 200)
      }).pipe(Effect.scoped)
    ))

  const text = "x".repeat(500_000)
  for (
    const [what, takes, stop] of [
      ["waits for a response that the caller is reading", true, Duration.minutes(10)],
      ["waits at most for the timeout for one that is not read", false, Duration.millis(100)]
    ] as const
  ) {
    it.live(what, () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const timeouts = { response: Duration.minutes(10), stop }
        const context = yield* Layer.buildWithScope(layerSocket({ timeouts, assumptions: { maxTextLength: text.length } }), scope)
        yield* Effect.gen(function*() {
          yield* Effect.replicateEffect(call("POST", "/posts", { json: { text } }), 40, { discard: true })
          const { closed, socket } = yield* Sockets.open
          if (!takes) {
            socket.pause()
          }
          socket.write(Sockets.lines("GET /open/v1/me/posts?limit=100 HTTP/1.1", "host: localhost", yield* Sockets.bearer, "", ""))
          const { requests } = yield* Sandbox.Sandbox
          yield* requests.pipe(Effect.repeat({
            until: (all) => all.at(-1)?.operation === "listPosts" && all.at(-1)?.status === 200,
            schedule: Schedule.spaced("5 millis")
          }))
          yield* Scope.close(scope, Exit.void)
          socket.resume()
          const length = (yield* closed).length
          assert.isTrue(takes ? length > 40 * text.length : length < 40 * text.length, `${length} bytes`)
        }).pipe(Effect.provide(context), Effect.scoped)
      }))
  }
})
