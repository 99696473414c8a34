/**
 * The host names that a sandbox on a socket accepts, so that no foreign page reaches it by its own name that resolves
 * to this machine.
 */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Layer, Redacted } from "effect"
import * as Sockets from "./sockets.ts"
import { layerSocket } from "./support.ts"

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
  "evil.example",
  "evil.example:4010",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "127.evil.example",
  "192.168.0.7",
  "evil@localhost",
  "localhost/evil",
  "a b",
  "localhost:80:80",
  ""
]

describe("bound to this machine, a sandbox", () => {
  it.live("accepts this machine's own names with any port: for the interface, the control API and the pages", () =>
    Effect.gen(function*() {
      for (const host of own) {
        for (const path of paths) {
          assert.strictEqual(Sockets.statusOf(yield* statusOf(path, host)), "200", `${path} for ${host ?? "no host"}`)
        }
      }
    }).pipe(Effect.provide(layerSocket())))

  it.live("refuses every other name, in the envelope and with the reason", () =>
    Effect.gen(function*() {
      for (const host of foreign) {
        for (const path of paths) {
          const received = yield* statusOf(path, host)
          assert.strictEqual(Sockets.statusOf(received), "403", `${path} for ${host}`)
          assert.strictEqual(Sockets.errorOf(received)?.[0], "FORBIDDEN")
          assert.match(received, /the Host of this request is not allowed: use localhost or 127\.0\.0\.1/)
        }
      }
      const proxied = yield* statusOf("/open/v1/me", "localhost", "http://evil.example/open/v1/me")
      assert.strictEqual(Sockets.statusOf(proxied), "403")
    }).pipe(Effect.provide(layerSocket())))
})

describe("bound to another address, a sandbox", () => {
  it.live("refuses every name that is neither this machine's own nor allowed", () =>
    Effect.gen(function*() {
      for (const host of own) {
        assert.strictEqual(Sockets.statusOf(yield* statusOf("/open/v1/me", host)), "200", host)
      }
      for (const host of [...foreign, "sandbox:4010"]) {
        for (const path of paths) {
          assert.strictEqual(Sockets.statusOf(yield* statusOf(path, host)), "403", `${path} for ${host}`)
        }
      }
    }).pipe(Effect.provide(layerSocket({ host: "0.0.0.0" }))))

  it.live("accepts the allowed hosts, with any port and in any letter case", () =>
    Effect.gen(function*() {
      for (const host of ["sandbox", "Sandbox:4010", "192.168.0.7:80", "[fd00::7]:4010", "localhost"]) {
        for (const path of paths) {
          assert.strictEqual(Sockets.statusOf(yield* statusOf(path, host)), "200", `${path} for ${host}`)
        }
      }
      assert.strictEqual(Sockets.statusOf(yield* statusOf("/open/v1/me", "sandbox.example")), "403")
    }).pipe(Effect.provide(layerSocket({ host: "0.0.0.0", allowedHosts: ["sandbox", "192.168.0.7", "fd00::7"] }))))

  it.live("accepts every host if * is allowed", () =>
    Effect.gen(function*() {
      assert.strictEqual(Sockets.statusOf(yield* statusOf("/open/v1/me", "anything.example:1")), "200")
    }).pipe(Effect.provide(layerSocket({ host: "0.0.0.0", allowedHosts: ["*"] }))))

  it.effect("does not start with an invalid allowed host", () =>
    Effect.gen(function*() {
      for (const host of ["", "a b", "http://sandbox", "sandbox:4010", "user@sandbox", "*.example"]) {
        const error = yield* Effect.flip(Effect.scoped(Layer.build(Sandbox.layerServer({ allowedHosts: [host] }))))
        assert.include(error.message, `"${host}"`)
      }
    }))
})
