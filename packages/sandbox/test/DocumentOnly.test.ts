/**
 * A sandbox with `undocumented: false`: exactly the document.
 */
import { assert, layer } from "@effect/vitest"
import { names, operations } from "@plaza/domain/Operations"
import { Sandbox } from "@plaza/sandbox"
import { Effect } from "effect"
import { openApi } from "../src/OpenApiDocument.ts"
import * as Sockets from "./sockets.ts"
import { call, field, layerInProcess, layerSocket, messageOf, refusal, someone } from "./support.ts"

const bare = { assumptions: false } as const
const json = { text: "hello", mediaIds: ["media-000001"] }

const assumed = Object.entries(openApi({ undocumented: true }).paths).flatMap(([path, methods]) =>
  Object.keys(methods).filter((method) => !(method in (openApi({ undocumented: false }).paths[path] ?? {})))
    .map((method) => [method, path.replace("{id}", "1")] as const)
)

for (const [way, world] of [["in process", layerInProcess(bare)], ["over a socket", layerSocket(bare)]] as const) {
  layer(world, { excludeTestServices: true })(`without assumptions, ${way}`, (it) => {
    it.effect("an assumed path is unknown, before the key is checked", () =>
      Effect.gen(function*() {
        assert.strictEqual(assumed.length, 9)
        for (const [name, path] of assumed) {
          const method = name === "get" ? "GET" : name === "patch" ? "PATCH" : "DELETE"
          const reply = yield* call(method, path, { key: null })
          assert.strictEqual(refusal(reply), "404 NOT_FOUND", `${method} ${path}`)
          assert.include(reply.text, "there is no endpoint")
        }
      }))

    it.effect("a response has only the fields of the document", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* call("GET", "/me")).json, { id: "1001", username: "corner-shop" })
        const post = yield* call("POST", "/posts", { json })
        assert.hasAllKeys(post.json, ["createdAt", "id", "mediaIds", "text"])
        const path = `/posts/${String(field(post, "id"))}`
        assert.deepStrictEqual((yield* call("POST", `${path}/comments`, { json: { text: "nice" } })).json, { text: "nice" })
        assert.deepStrictEqual((yield* call("PATCH", "/store/products/0042/stock", { json: { stock: 3 } })).json, { id: "0042", stock: 3 })
        const shipment = { carrier: "DHL", trackingNumber: "0034" }
        assert.deepStrictEqual((yield* call("POST", "/store/orders/000021/ship", { json: shipment })).json, { id: "000021", ...shipment })
        assert.deepStrictEqual((yield* call("POST", "/conversations/conv_301/messages", { json: { text: "hi" } })).json, { text: "hi" })
        const list = field(yield* call("GET", "/conversations?limit=1"), "data")
        assert.deepStrictEqual(list, [{ id: "conv_308" }])
      }))

    it.effect("any story is accepted, and the response has no body", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const reply = yield* call("POST", "/stories", { json: { any: ["thing"] } })
        assert.deepStrictEqual([reply.status, reply.text], [204, ""])
        assert.deepStrictEqual((yield* sandbox.state).stories.at(-1)?.payload, { any: ["thing"] })
      }))

    it.effect("an error has only a code and a message, and the message names the invalid field", () =>
      Effect.gen(function*() {
        const { id, key } = yield* Effect.flatMap(Sandbox.Sandbox, (sandbox) =>
          Effect.gen(function*() {
            const { id } = yield* sandbox.createAccount()
            const { apiKey } = yield* sandbox.createKey(id, { scopes: ["posts:write"] })
            return { id, key: apiKey }
          }))
        const replies = {
          text: yield* call("POST", "/posts", { key, json: { text: 1 } }),
          limit: yield* call("GET", "/me/posts?limit=0"),
          "mediaIds.0": yield* call("POST", "/posts", { key, json: { text: "a", mediaIds: ["none"] } }),
          "Content-Type": yield* call("POST", "/posts", { key, text: "{}", headers: { "content-type": "text/plain" } }),
          path: yield* call("GET", "/users/%zz"),
          none: yield* call("GET", "/users/none"),
          scope: yield* call("GET", "/me", { key }),
          "": yield* call("POST", "/store/orders/none/ship", { json: { carrier: "a", trackingNumber: "b" } })
        }
        assert.strictEqual(typeof id, "string")
        for (const [name, reply] of Object.entries(replies)) {
          assert.hasAllKeys(field(reply, "error"), ["code", "message"], name)
          assert.include(messageOf(reply), name)
        }
      }))

    it.effect("all operations of the document are served", () =>
      Effect.gen(function*() {
        const { key } = yield* someone
        for (const name of names) {
          const { method, path } = operations[name]
          const reply = yield* call(method, path.replace(/:\w+/, "none"), { key })
          assert.notInclude(reply.text, "there is no endpoint", name)
        }
      }))
  })
}

layer(layerSocket(bare), { excludeTestServices: true })("without assumptions, a refusal of malformed HTTP", (it) => {
  it.effect("has only a code and a message", () =>
    Effect.gen(function*() {
      for (const head of ["nonsense", Sockets.lines("GET /open/v1/me HTTP/1.1", `x: ${"y".repeat(17_000)}`)]) {
        const { closed, socket } = yield* Sockets.open
        socket.write(Sockets.lines(head, "", ""))
        const { error } = JSON.parse(/\{.*\}/s.exec(yield* closed)?.[0] ?? "{}") as { readonly error: unknown }
        assert.hasAllKeys(error, ["code", "message"])
      }
    }))
})

layer(layerInProcess({ assumptions: { undocumented: false, maxTextLength: 3 } }))("some changed assumptions", (it) => {
  it.effect("assumptions can be changed while the assumed paths stay unknown", () =>
    Effect.gen(function*() {
      assert.strictEqual(refusal(yield* call("POST", "/posts", { json: { text: "four" } })), "400 VALIDATION_ERROR")
      assert.strictEqual(refusal(yield* call("GET", "/store")), "404 NOT_FOUND")
    }))
})
