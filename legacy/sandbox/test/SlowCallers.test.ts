/**
 * A sandbox on a socket with slow callers: every wait has a timeout.
 */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Duration, Effect, Exit, Layer, Schedule, Scope } from "effect"
import * as Sockets from "./sockets.ts"
import { call, layerSocket } from "./support.ts"

const short = Duration.millis(100)
const long = Duration.minutes(10)
const timeouts = { headers: long, request: long, response: long, idle: long, stop: long }

describe("a slow caller", () => {
  it.scopedLive("that does not finish its headers gets an error and a closed connection", () =>
    Effect.gen(function*() {
      const silent = yield* Sockets.open
      const slow = yield* Sockets.open
      slow.socket.write("GET /open/v1/me HTTP/1.1\r\nhost: localhost\r\n")
      for (const { closed } of [silent, slow]) {
        const received = yield* closed
        assert.strictEqual(Sockets.statusOf(received), "400")
        assert.deepStrictEqual(Sockets.errorOf(received), ["VALIDATION_ERROR", "the request took too long to arrive"])
      }
    }).pipe(Effect.provide(layerSocket({ timeouts: { ...timeouts, headers: short } }))))

  it.scopedLive("that does not finish its body gets an error and a closed connection, and nothing is written", () =>
    Effect.gen(function*() {
      const before = yield* (yield* Sandbox.Sandbox).state
      for (const [path, type] of [["/posts", "application/json"], ["/media", "multipart/form-data; boundary=b"]] as const) {
        const { closed, socket } = yield* Sockets.open
        socket.write(
          Sockets.lines(`POST /open/v1${path} HTTP/1.1`, "host: localhost", yield* Sockets.bearer, `content-type: ${type}`,
            "content-length: 100", "", "{\"text\":")
        )
        const received = yield* closed
        assert.strictEqual(Sockets.statusOf(received), "400", path)
        assert.deepStrictEqual(Sockets.errorOf(received), ["VALIDATION_ERROR", "the request took too long to arrive"])
      }
      assert.deepStrictEqual(yield* (yield* Sandbox.Sandbox).state, before)
    }).pipe(Effect.provide(layerSocket({ timeouts: { ...timeouts, headers: short, request: short } }))))

  it.scopedLive("that does not finish a refused request gets one response, not two", () =>
    Effect.gen(function*() {
      const { closed, socket } = yield* Sockets.open
      socket.write(
        Sockets.lines("POST /open/v1/posts HTTP/1.1", "host: localhost", yield* Sockets.bearer, "content-type: application/json",
          "content-length: 9999999", "", "{")
      )
      const received = yield* closed
      assert.strictEqual(Sockets.statusOf(received), "413")
      assert.strictEqual(received.split("HTTP/1.1").length, 2)
    }).pipe(Effect.provide(layerSocket({ timeouts: { ...timeouts, headers: short, request: short } }))))

  it.scopedLive("without a further request loses the connection without a response", () =>
    Effect.gen(function*() {
      const { closed, socket } = yield* Sockets.open
      socket.write(Sockets.lines("GET /open/v1/me HTTP/1.1", "host: localhost", "", ""))
      const received = yield* closed
      assert.strictEqual(Sockets.statusOf(received), "401")
      assert.strictEqual(received.split("HTTP/1.1").length, 2)
    }).pipe(Effect.provide(layerSocket({ timeouts: { ...timeouts, idle: short } }))))

  it.live("that does not read the response loses the connection", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(
        layerSocket({ timeouts: { ...timeouts, response: short }, assumptions: { maxTextLength: 500_000 } }),
        scope
      )
      yield* Effect.gen(function*() {
        const text = "x".repeat(500_000)
        yield* Effect.replicateEffect(call("POST", "/posts", { json: { text } }), 40, { discard: true })
        const { closed, socket } = yield* Sockets.open
        socket.pause()
        socket.write(Sockets.lines("GET /open/v1/me/posts?limit=100 HTTP/1.1", "host: localhost", yield* Sockets.bearer, "", ""))
        const { requests } = yield* Sandbox.Sandbox
        yield* requests.pipe(
          Effect.repeat({ until: (all) => all.at(-1)?.operation === "listPosts", schedule: Schedule.spaced("5 millis") })
        )
        // A stop waits for every response in flight, so it ends because this one was cancelled.
        yield* Scope.close(scope, Exit.void)
        // The system's buffers can still be read; the rest never arrives.
        socket.resume()
        assert.isBelow((yield* closed).length, 40 * text.length)
      }).pipe(Effect.provide(context), Effect.scoped)
    }))
})
