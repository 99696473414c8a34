/**
 * Which host names a sandbox on a socket answers for, so that no page elsewhere reaches it by a name of its own that leads
 * to this machine.
 */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Redacted } from "effect"
import * as Sockets from "./sockets.js"
import { layerSocket } from "./support.js"

const statusOf = (path: string, host: string | undefined, target = path) =>
  Effect.scoped(Effect.gen(function*() {
    const { apiKey } = yield* Sandbox.Sandbox
    const { closed, socket } = yield* Sockets.open
    socket.write(Sockets.lines(
      `GET ${target} HTTP/1.1`,
      ...(host === undefined ? [] : [`host: ${host}`]),
      `authorization: Bearer ${Redacted.value(apiKey)}`,
      "connection: close",
      "",
      ""
    ))
    return yield* closed
  }))

const paths = ["/open/v1/me", "/sandbox/health", "/"]
const own = ["localhost", "LOCALHOST:1", "127.0.0.1:80", "127.8.9.1", "[::1]:4010", "sandbox.localhost:9", undefined]
const foreign = [
  "evil.example", "evil.example:4010", "localhost.evil.example", "127.0.0.1.evil.example", "127.evil.example", "192.168.0.7",
  "evil@localhost", "localhost/evil", "a b", "localhost:80:80", ""
]

describe("bound to this machine, a sandbox", () => {
  it.live("answers for this machine's own names, whatever the port: the interface, the control interface and the pages", () =>
    Effect.gen(function*() {
      for (const host of own) {
        for (const path of paths) {
          assert.strictEqual(Sockets.statusOf(yield* statusOf(path, host)), "200", `${path} for ${host ?? "no host"}`)
        }
      }
    }).pipe(Effect.provide(layerSocket())))

  it.live("refuses every other name, in the envelope and with a sentence that says why", () =>
    Effect.gen(function*() {
      for (const host of foreign) {
        for (const path of paths) {
          const received = yield* statusOf(path, host)
          assert.strictEqual(Sockets.statusOf(received), "403", `${path} for ${host}`)
          assert.strictEqual(Sockets.errorOf(received)?.[0], "FORBIDDEN")
          assert.match(received, /answers for its own names, such as localhost and 127\.0\.0\.1/)
        }
      }
      const proxied = yield* statusOf("/open/v1/me", "localhost", "http://evil.example/open/v1/me")
      assert.strictEqual(Sockets.statusOf(proxied), "403")
    }).pipe(Effect.provide(layerSocket())))
})

describe("bound to another address, a sandbox", () => {
  it.live("answers the interface under any name, and steering and pages under this machine's own", () =>
    Effect.gen(function*() {
      assert.strictEqual(Sockets.statusOf(yield* statusOf("/open/v1/me", "sandbox:4010")), "200")
      assert.strictEqual(Sockets.statusOf(yield* statusOf("/sandbox/health", "sandbox:4010")), "403")
      assert.strictEqual(Sockets.statusOf(yield* statusOf("/", "sandbox:4010")), "403")
      assert.strictEqual(Sockets.statusOf(yield* statusOf("/sandbox/health", "localhost")), "200")
    }).pipe(Effect.provide(layerSocket({ host: "0.0.0.0" }))))
})
