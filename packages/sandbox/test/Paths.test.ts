/**
 * Routes: ids with any characters, and unknown paths.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { anyOf, oneOf, unicode } from "@plaza/testing/Generators"
import { Arbitrary, Effect, Redacted, Schema } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import { connect } from "node:net"
import { call, layerInProcess, layerSocket, refusal } from "./support.ts"

/** Valid path segments: not empty, not `.` or `..`, well-formed. */
const sendable = Arbitrary.filter(unicode({ minLength: 1, maxLength: 200 }), (id) => id !== "." && id !== "..")
const anyId = oneOf<string>(
  sendable,
  anyOf(["a/b?c=1#d", "007", "1e3", "%2F", "%", "..%2f..", "\u0000", "a b", "+", "ü", "😀", "\\", ":id", "me", "by-username"])
)
const NotFound = Schema.Struct({ error: Schema.Struct({ code: Schema.Literal("NOT_FOUND"), id: Schema.String }) })
const readNotFound = Schema.decodeUnknownSync(NotFound)

describe("paths", () => {
  it.effect("an address of another host is unknown in process", () =>
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const error = yield* Effect.flip(client.get("http://127.0.0.1:1/open/v1/me"))
      assert.strictEqual(error.reason._tag, "TransportError")
      assert.propertyVal(error.reason.cause, "code", "ENOTFOUND")
    }).pipe(Effect.provide(layerInProcess())))

  layer(layerInProcess({ assumptions: { requestsPerWindow: 100_000 } }))((it) => {
    it.effect.prop("any id arrives as one segment, unchanged", [anyId], ([id]) =>
      Effect.gen(function*() {
        const unknown = `${id}-unknown`
        const { json } = yield* call("GET", `/users/${encodeURIComponent(unknown)}`)
        assert.strictEqual(readNotFound(json).error.id, unknown)
        const inside = yield* call("POST", `/posts/${encodeURIComponent(unknown)}/like`)
        assert.strictEqual(readNotFound(inside.json).error.id, unknown)
      }), { arbitrary: { runs: 100 } })

    it.effect.prop("a product with any id is found, and its id is unchanged", [Arbitrary.filter(anyId, (id) => !id.includes("\0"))],
      ([id]) =>
        Effect.gen(function*() {
          const sandbox = yield* Sandbox.Sandbox
          yield* sandbox.setProduct({ id })
          const { json } = yield* call("PATCH", `/store/products/${encodeURIComponent(id)}/stock`, { json: { stock: 3 } })
          assert.deepStrictEqual(json, { id, name: id, stock: 3 })
        }), { arbitrary: { runs: 100 } })

    it.effect("the seeded ids that are hard to put in a path are found", () =>
      Effect.gen(function*() {
        for (const id of ["CAP/RED L", "Ä-7", "SET #3", "50%-OFF-BOX", "BOX?MYSTERY", "ŁÓDŹ-PRINT", "0042", "007"]) {
          const { status } = yield* call("PATCH", `/store/products/${encodeURIComponent(id)}/stock`, { json: { stock: 3 } })
          assert.strictEqual(status, 200, id)
        }
      }))

    it.effect("\"007\" is not \"7\"", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* call("GET", "/users/007")).status, 200)
        assert.strictEqual(refusal(yield* call("GET", "/users/7")), "404 NOT_FOUND")
      }))

    it.effect("unknown routes are not found, with or without a key", () =>
      Effect.gen(function*() {
        for (const path of ["/", "/nowhere", "/me/", "/users/", "/users//follow", "/users/1001/follow/more", "/Me", "/me/posts/1"]) {
          assert.strictEqual(refusal(yield* call("GET", path)), "404 NOT_FOUND", path)
          assert.strictEqual(refusal(yield* call("GET", path, { key: null })), "404 NOT_FOUND", path)
        }
      }))

    it.effect("an unknown method of a path is not found", () =>
      Effect.gen(function*() {
        for (
          const [method, path] of [["POST", "/me"], ["GET", "/posts"], ["DELETE", "/me/posts"], ["PUT", "/posts/1"], ["POST", "/store"], [
            "OPTIONS",
            "/me"
          ], ["PATCH", "/stories"]] as const
        ) {
          assert.strictEqual(refusal(yield* call(method, path)), "404 NOT_FOUND", `${method} ${path}`)
        }
        const head = yield* call("HEAD", "/me")
        assert.deepStrictEqual([head.status, head.text], [404, ""])
      }))

    it.effect("a path that isn't well-formed percent-encoding is refused", () =>
      Effect.gen(function*() {
        for (const path of ["/users/%", "/users/%zz", "/users/%ff", "/%c3%28"]) {
          assert.strictEqual(refusal(yield* call("GET", path)), "400 VALIDATION_ERROR path", path)
        }
      }))

    it.effect("percent-encoded route names are accepted too", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* call("GET", "/m%65")).status, 200)
      }))

    it.effect("other paths than /open/v1 and /sandbox are unknown", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const client = yield* HttpClient.HttpClient
        for (const path of ["", "/me", "/open/v2/me", "/open/v1", "/open/v1me", "/sandboxes"]) {
          const response = yield* client.get(new URL(path, sandbox.baseUrl))
          assert.strictEqual(response.status, 404)
          assert.include(yield* response.text, "\"code\":\"NOT_FOUND\"")
        }
      }))
  })

  layer(layerSocket(), { excludeTestServices: true })("over a socket", (it) => {
    it.effect("unknown routes, wrong methods and malformed paths get the envelope", () =>
      Effect.gen(function*() {
        assert.strictEqual(refusal(yield* call("GET", "/nowhere")), "404 NOT_FOUND")
        assert.strictEqual(refusal(yield* call("OPTIONS", "/me")), "404 NOT_FOUND")
        assert.strictEqual(refusal(yield* call("GET", "/users/%zz")), "400 VALIDATION_ERROR path")
        const head = yield* call("HEAD", "/nowhere")
        assert.deepStrictEqual([head.status, head.text], [404, ""])
      }))

    it.effect("an id with a slash arrives as one segment through another client too", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const client = yield* HttpClient.HttpClient
        const response = yield* client.get(`${sandbox.baseUrl}/users/a%2Fb%3Fc%3D1%23d`, {
          headers: { authorization: `Bearer ${Redacted.value(sandbox.apiKey)}` }
        })
        assert.strictEqual(readNotFound(yield* response.json).error.id, "a/b?c=1#d")
      }).pipe(Effect.provide(FetchHttpClient.layer)))

    /** The response to these bytes until the connection closes. */
    const exchange = (lines: ReadonlyArray<string>) =>
      Effect.flatMap(Sandbox.Sandbox, ({ baseUrl }) =>
        Effect.callback<string>((resume) => {
          const { hostname, port } = new URL(baseUrl)
          let received = ""
          const socket = connect(Number(port), hostname, () => socket.write(`${lines.join("\r\n")}\r\n\r\n`))
          socket.on("data", (chunk) => {
            received += chunk.toString()
          }).on("close", () => resume(Effect.succeed(received)))
        }))

    it.effect("malformed HTTP gets the envelope", () =>
      Effect.gen(function*() {
        for (
          const lines of [["NONSENSE"], ["GET /open/v1/me HTTP/1.1", "host: localhost", "bad header"], [
            "GET /open/v1/me HTTP/1.1",
            `x: ${"y".repeat(100_000)}`
          ]]
        ) {
          const received = yield* exchange(lines)
          assert.match(received, /^HTTP\/1\.1 400 Bad Request\r\n/)
          assert.include(received, "{\"error\":{\"code\":\"VALIDATION_ERROR\"")
        }
      }))

    it.effect("a request without a host, with an unknown expectation or with an absolute target is handled as usual", () =>
      Effect.gen(function*() {
        for (
          const lines of [
            ["GET /open/v1/me HTTP/1.1", "connection: close"],
            ["GET /open/v1/me HTTP/1.1", "host: localhost", "expect: wonders", "connection: close"],
            ["GET /open/v1/me HTTP/1.1", "host: localhost", "connection: upgrade, close", "upgrade: h2c"],
            ["GET http://localhost/open/v1/me HTTP/1.1", "host: localhost", "connection: close"]
          ]
        ) {
          const received = yield* exchange(lines)
          assert.match(received, /^HTTP\/1\.1 401 /)
          assert.include(received, "\"code\":\"INVALID_API_KEY\"")
        }
      }))
  })
})
