/**
 * Every row of the document's error table, and the order in which a request is refused.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Redacted } from "effect"
import { allScopes } from "../src/Assumptions.ts"
import { call, layerInProcess, messageOf, refusal } from "./support.ts"

const unknownKey = `key_${"x".repeat(40)}`
/** The assumed operations, their scopes, and the result with that scope alone. */
const assumed = [
  ["GET", "/posts/9007199254740993", "posts:read", 200],
  ["PATCH", "/posts/9007199254740993", "posts:write", 400],
  ["DELETE", "/posts/9007199254740993", "posts:write", 403],
  ["GET", "/store", "products:write", 200],
  ["GET", "/store/products", "products:write", 200],
  ["GET", "/store/products/0042", "products:write", 200],
  ["GET", "/store/orders", "orders:write", 200],
  ["GET", "/store/orders/none", "orders:write", 404],
  ["GET", "/conversations/none/messages", "chat:read", 404]
] as const
const picture = () => {
  const form = new FormData()
  form.append("file", new File(["x".repeat(100)], "a.png", { type: "image/png" }))
  return form
}

describe("admission", () => {
  layer(layerInProcess({ assumptions: { maxBodyBytes: 1_000, maxFileBytes: 50, requestsPerWindow: 1_000 } }))((it) => {
    it.effect("a key that is missing, malformed, unknown or under another scheme is refused", () =>
      Effect.gen(function*() {
        const { apiKey } = yield* Sandbox.Sandbox
        assert.strictEqual(refusal(yield* call("GET", "/me", { key: null })), "401 INVALID_API_KEY")
        for (const key of ["", "key_short", unknownKey, `${Redacted.value(apiKey)}x`, Redacted.value(apiKey).toLowerCase()]) {
          assert.strictEqual(refusal(yield* call("GET", "/me", { key })), "401 INVALID_API_KEY")
        }
        const basic = { authorization: `Basic ${Redacted.value(apiKey)}` }
        assert.strictEqual(refusal(yield* call("GET", "/me", { key: null, headers: basic })), "401 INVALID_API_KEY")
      }))

    it.effect("the message of the refusal names the problem", () =>
      Effect.gen(function*() {
        const problems = [
          [{ key: null }, "the API key is missing: send it as \"Authorization: Bearer KEY\""],
          [
            { key: null, headers: { authorization: unknownKey } },
            "the Authorization header is malformed: send \"Authorization: Bearer KEY\""
          ],
          [{ key: unknownKey }, "the API key is malformed, unknown or revoked"]
        ] as const
        for (const [options, problem] of problems) {
          assert.strictEqual(messageOf(yield* call("GET", "/me", options)), problem)
        }
      }))

    it.effect("the name of the scheme is accepted in any letter case", () =>
      Effect.gen(function*() {
        const { apiKey } = yield* Sandbox.Sandbox
        const headers = { authorization: `bearer ${Redacted.value(apiKey)}` }
        assert.strictEqual((yield* call("GET", "/me", { key: null, headers })).status, 200)
      }))

    it.effect("a revoked key is refused from then on, and the other keys stay valid", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const first = yield* sandbox.createKey(id)
        const second = yield* sandbox.createKey(id)
        assert.strictEqual((yield* call("GET", "/me", { key: first.apiKey })).status, 200)
        yield* sandbox.revokeKey(first.id)
        assert.strictEqual(refusal(yield* call("GET", "/me", { key: first.apiKey })), "401 INVALID_API_KEY")
        assert.strictEqual((yield* call("GET", "/me", { key: second.apiKey })).status, 200)
      }))

    it.effect("an account without developer access is refused, suspended as well as revoked, until it is restored", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const { apiKey: key } = yield* sandbox.createKey(id)
        yield* sandbox.setAccess(id, "suspend")
        assert.strictEqual(refusal(yield* call("GET", "/me", { key })), "403 DEVELOPER_ACCESS_REVOKED")
        yield* sandbox.setAccess(id, "revoke")
        assert.strictEqual(refusal(yield* call("GET", "/me", { key })), "403 DEVELOPER_ACCESS_REVOKED")
        yield* sandbox.setAccess(id, "restore")
        assert.strictEqual((yield* call("GET", "/me", { key })).status, 200)
      }))

    it.effect("every operation requires a scope of its own area, and there are 13", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const { apiKey: key } = yield* sandbox.createKey(id, { scopes: [] })
        const requests = [
          ["GET", "/me"],
          ["GET", "/users/1001"],
          ["POST", "/users/1001/follow"],
          ["POST", "/media"],
          ["GET", "/me/posts"],
          ["POST", "/posts"],
          ["POST", "/posts/1/comments"],
          ["POST", "/posts/1/like"],
          ["POST", "/stories"],
          ["PATCH", "/store/products/1/stock"],
          ["POST", "/store/orders/1/ship"],
          ["GET", "/conversations"],
          ["POST", "/conversations/1/messages"]
        ] as const
        const needed = new Set<unknown>()
        for (const [method, path] of requests) {
          const reply = yield* call(method, path, { key })
          assert.strictEqual(refusal(reply), "403 INSUFFICIENT_SCOPE")
          needed.add(/"scope":"([^"]+)"/.exec(reply.text)?.[1])
        }
        assert.strictEqual(needed.size, 13)
        assert.isTrue(needed.has("posts:write"))
        assert.deepStrictEqual(new Set(allScopes), needed)
        const { apiKey: reader } = yield* sandbox.createKey(id, { scopes: ["users:read"] })
        assert.strictEqual((yield* call("GET", "/users/by-username/corner-shop", { key: reader })).status, 200)
        assert.strictEqual(refusal(yield* call("GET", "/me", { key: reader })), "403 INSUFFICIENT_SCOPE")
      }))

    it.effect("an assumed operation requires one of these scopes and succeeds with it", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        for (const [method, path, scope, status] of assumed) {
          const { id } = yield* sandbox.createAccount()
          const without = yield* sandbox.createKey(id, { scopes: allScopes.filter((name) => name !== scope) })
          const withIt = yield* sandbox.createKey(id, { scopes: [scope] })
          const request = method === "PATCH" ? { json: {} } : {}
          const refused = yield* call(method, path, { ...request, key: without.apiKey })
          assert.strictEqual(refusal(refused), "403 INSUFFICIENT_SCOPE", `${method} ${path}`)
          assert.include(refused.text, `"scope":"${scope}"`)
          const done = yield* call(method, path, { ...request, key: withIt.apiKey })
          assert.strictEqual(done.status, status, `${method} ${path}`)
          assert.notInclude(done.text, "INSUFFICIENT_SCOPE")
        }
      }))

    it.effect("an account without photo or cover may read but not write", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount({ cover: false })
        const { apiKey: key } = yield* sandbox.createKey(id)
        const post = call("POST", "/posts", { key, json: { text: "hello" } })
        assert.strictEqual((yield* call("GET", "/me", { key })).status, 200)
        assert.strictEqual(refusal(yield* post), "403 PROFILE_INCOMPLETE")
        yield* sandbox.setProfile(id, { photo: false, cover: true })
        assert.strictEqual(refusal(yield* post), "403 PROFILE_INCOMPLETE")
        yield* sandbox.setProfile(id, { photo: true })
        assert.strictEqual((yield* post).status, 200)
      }))

    it.effect("a body or a file that is too large is refused", () =>
      Effect.gen(function*() {
        const long = { json: { text: "x".repeat(1_000) } }
        assert.strictEqual(refusal(yield* call("POST", "/posts", long)), "413 PAYLOAD_TOO_LARGE")
        assert.strictEqual(refusal(yield* call("POST", "/media", { form: picture() })), "413 PAYLOAD_TOO_LARGE")
      }))

    it.effect("a body that isn't JSON is refused: broken, empty, or not UTF-8", () =>
      Effect.gen(function*() {
        for (const text of ["{\"text\": ", "", "{'text': 1}", "nonsense"]) {
          assert.strictEqual(refusal(yield* call("POST", "/posts", { text })), "400 INVALID_JSON")
        }
        const bytes = Uint8Array.of(0x22, 0xff, 0x22)
        assert.strictEqual(refusal(yield* call("POST", "/posts", { bytes })), "400 INVALID_JSON")
      }))

    it.effect("a body with another content type than JSON is refused with the header's name", () =>
      Effect.gen(function*() {
        for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"]) {
          const reply = yield* call("POST", "/posts", { json: { text: "a" }, headers: { "content-type": type } })
          assert.strictEqual(refusal(reply), "400 VALIDATION_ERROR Content-Type")
        }
        const headers = { "content-type": "Application/JSON; charset=utf-8" }
        assert.strictEqual((yield* call("POST", "/posts", { json: { text: "a" }, headers })).status, 200)
      }))

    it.effect("a missing or invalid field is refused with its name", () =>
      Effect.gen(function*() {
        const cases = [
          ["POST", "/posts", {}, "text"],
          ["POST", "/posts", { text: 5 }, "text"],
          ["POST", "/posts", { text: "" }, "text"],
          ["POST", "/posts", { text: "a\u0000b" }, "text"],
          ["POST", "/posts", { text: "\ud800" }, "text"],
          ["POST", "/posts", { text: "a", mediaIds: "b" }, "mediaIds"],
          ["POST", "/posts", { text: "a", mediaIds: ["media-000001", 7] }, "mediaIds.1"],
          ["POST", "/posts", { text: "a", mediaIds: ["media-000001", "none"] }, "mediaIds.1"],
          ["POST", "/posts", [], "body"],
          ["POST", "/posts", null, "body"],
          ["POST", "/stories", ["no object"], "body"],
          ["PATCH", "/store/products/0042/stock", { stock: "5" }, "stock"],
          ["PATCH", "/store/products/0042/stock", { stock: -1 }, "stock"],
          ["PATCH", "/store/products/0042/stock", { stock: 1.5 }, "stock"],
          ["PATCH", "/store/products/0042/stock", { stock: 1e10 }, "stock"],
          ["PATCH", "/store/products/0042/stock", {}, "stock"],
          ["POST", "/store/orders/500001/ship", { carrier: "", trackingNumber: "1" }, "carrier"],
          ["POST", "/store/orders/500001/ship", { carrier: "DHL" }, "trackingNumber"],
          ["POST", "/conversations/conv_301/messages", { text: "" }, "text"],
          ["GET", "/me/posts?limit=0", undefined, "limit"],
          ["GET", "/me/posts?limit=101", undefined, "limit"],
          ["GET", "/me/posts?limit=2.5", undefined, "limit"],
          ["GET", "/me/posts?limit=", undefined, "limit"],
          ["GET", "/me/posts?limit=ten", undefined, "limit"],
          ["GET", "/me/posts?limit=1e1", undefined, "limit"],
          ["GET", "/me/posts?limit=0x10", undefined, "limit"],
          ["GET", "/me/posts?limit=%2B5", undefined, "limit"],
          ["GET", "/me/posts?limit=%2010", undefined, "limit"],
          ["GET", "/me/posts?limit=5&limit=6", undefined, "limit"],
          ["GET", "/conversations?cursor=invented", undefined, "cursor"],
          ["POST", "/users/1001/follow", undefined, "id"]
        ] as const
        for (const [method, path, json, name] of cases) {
          assert.strictEqual(refusal(yield* call(method, path, { json })), `400 VALIDATION_ERROR ${name}`,
            `${path} ${JSON.stringify(json)}`)
        }
      }))

    it.effect("the text of a post is measured in characters, not in bytes or code units", () =>
      Effect.gen(function*() {
        const limits = layerInProcess({ assumptions: { maxTextLength: 3 } })
        const post = (text: string) => Effect.provide(call("POST", "/posts", { json: { text } }), limits)
        assert.strictEqual((yield* post("😀😀😀")).status, 200)
        assert.strictEqual(refusal(yield* post("aaaa")), "400 VALIDATION_ERROR text")
      }))

    it.effect("an id that is unknown or not visible is not found; the envelope repeats the id", () =>
      Effect.gen(function*() {
        const json = { text: "a", stock: 1, carrier: "a", trackingNumber: "b" }
        for (
          const [method, path] of [
            ["GET", "/users/nobody"],
            ["GET", "/users/by-username/nobody"],
            ["POST", "/users/nobody/follow"],
            ["POST", "/posts/nobody/comments"],
            ["POST", "/posts/nobody/like"],
            ["PATCH", "/store/products/nobody/stock"],
            ["POST", "/store/orders/nobody/ship"],
            ["POST", "/conversations/nobody/messages"]
          ] as const
        ) {
          const reply = yield* call(method, path, method === "GET" ? {} : { json })
          assert.strictEqual(refusal(reply), "404 NOT_FOUND", path)
          assert.include(reply.text, "\"id\":\"nobody\"")
        }
      }))

    it.effect("an earlier check takes precedence over a later one, for all checks of admission", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount({ photo: false })
        const bare = yield* sandbox.createKey(id, { scopes: [] })
        const scoped = yield* sandbox.createKey(id)
        const ship = (key: Redacted.Redacted | null, text: string) => call("POST", "/store/orders/500001/ship", { key, text })
        const large = "{".padEnd(2_000)
        const post = (path: string, key: Redacted.Redacted | null) => call("POST", path, { key, text: large })

        assert.strictEqual(refusal(yield* post("/nowhere", null)), "404 NOT_FOUND")
        assert.strictEqual(refusal(yield* ship(null, large)), "401 INVALID_API_KEY")
        yield* sandbox.setAccess(id, "suspend")
        assert.strictEqual(refusal(yield* ship(bare.apiKey, large)), "403 DEVELOPER_ACCESS_REVOKED")
        yield* sandbox.setAccess(id, "restore")
        assert.strictEqual(refusal(yield* ship(bare.apiKey, large)), "403 INSUFFICIENT_SCOPE")
        assert.strictEqual(refusal(yield* ship(scoped.apiKey, large)), "403 PROFILE_INCOMPLETE")
        yield* sandbox.setProfile(id, { photo: true })
        assert.strictEqual(refusal(yield* ship(scoped.apiKey, large)), "413 PAYLOAD_TOO_LARGE")
        assert.strictEqual(refusal(yield* ship(scoped.apiKey, "{")), "400 INVALID_JSON")
        assert.strictEqual(refusal(yield* ship(scoped.apiKey, "{}")), "400 VALIDATION_ERROR carrier")
        const good = JSON.stringify({ carrier: "DHL", trackingNumber: "1" })
        const elsewhere = call("POST", "/store/orders/none/ship", { key: scoped.apiKey, text: good })
        assert.strictEqual(refusal(yield* elsewhere), "404 NOT_FOUND")
        assert.strictEqual(refusal(yield* ship(scoped.apiKey, good)), "403 FORBIDDEN")
      }))
  })

  layer(layerInProcess({ assumptions: { requestsPerWindow: 1 } }))("the rate", (it) => {
    it.effect("is checked between developer access and the scope", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const { apiKey: key } = yield* sandbox.createKey(id, { scopes: [] })
        assert.strictEqual(refusal(yield* call("GET", "/me", { key })), "403 INSUFFICIENT_SCOPE")
        assert.strictEqual(refusal(yield* call("GET", "/me", { key })), "429 RATE_LIMITED")
        yield* sandbox.setAccess(id, "suspend")
        assert.strictEqual(refusal(yield* call("GET", "/me", { key })), "403 DEVELOPER_ACCESS_REVOKED")
      }))

    it.effect("and developer access are also checked for assumed operations", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const { apiKey: key } = yield* sandbox.createKey(id)
        assert.strictEqual((yield* call("GET", "/store", { key })).status, 200)
        const all = (code: string) =>
          Effect.gen(function*() {
            for (const [method, path] of assumed) {
              assert.strictEqual(refusal(yield* call(method, path, { key })), code, `${method} ${path}`)
            }
          })
        yield* all("429 RATE_LIMITED")
        yield* sandbox.setAccess(id, "suspend")
        yield* all("403 DEVELOPER_ACCESS_REVOKED")
      }))
  })
})
