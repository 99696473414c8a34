/**
 * Every code of the document's table, the conditions of single endpoints, and the order in which a request that is wrong in
 * several ways is refused, over a socket. `docs/sandbox-rules.md` lists the test of each rule.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect } from "effect"
import { call, control, field, layerSocket, refusal, someone } from "../support.ts"

const state = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)
const shop = "1001"
const shipment = { carrier: "DHL", trackingNumber: "1" }

layer(layerSocket({ assumptions: { requestsPerWindow: 10_000, maxBodyBytes: 2_000, maxFileBytes: 100 } }), { excludeTestServices: true })(
  "a refusal",
  (it) => {
    it.effect("is JSON of one shape for every refusal: an error with a code and a message", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const { apiKey: bare } = yield* sandbox.createKey(id, { scopes: [] })
        for (
          const reply of [
            yield* call("GET", "/nowhere"),
            yield* call("DELETE", "/me"),
            yield* call("GET", "/users/%zz"),
            yield* call("GET", "/me", { key: null }),
            yield* call("GET", "/me", { key: bare }),
            yield* call("POST", "/posts", { text: "{" }),
            yield* call("POST", "/posts", { json: {} }),
            yield* call("POST", "/posts", { json: { text: "x".repeat(3_000) } }),
            yield* call("PATCH", "/store/products/TIDE-TIN-01/stock", { json: { stock: 1 } })
          ]
        ) {
          assert.isAtLeast(reply.status, 400)
          assert.match(reply.headers["content-type"] ?? "", /^application\/json/)
          assert.match(refusal(reply), new RegExp(`^${reply.status} [A-Z_]+`))
        }
      }))

    it.effect("may have further fields: a validation error names the field", () =>
      Effect.gen(function*() {
        assert.include((yield* call("POST", "/posts", { json: { text: 7 } })).text, "\"field\":\"text\"")
      }))

    it.effect("of a user who is blocked, blocks, is private or is suspended has USER_UNAVAILABLE", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id, key, username } = yield* someone
        const post = String(field(yield* call("POST", "/posts", { key, json: { text: "a" } }), "id"))
        const calls = [
          ["GET", `/users/${id}`],
          ["GET", `/users/by-username/${username}`],
          ["POST", `/users/${id}/follow`],
          ["POST", `/posts/${post}/like`],
          ["POST", `/posts/${post}/comments`]
        ] as const
        for (
          const [set, unset] of [
            [sandbox.setProfile(id, { availability: "suspended" }), sandbox.setProfile(id, { availability: "available" })],
            [sandbox.setProfile(id, { availability: "private" }), sandbox.setProfile(id, { availability: "available" })],
            [sandbox.setRelation(shop, id, { blocks: true }), sandbox.setRelation(shop, id, { blocks: false })],
            [sandbox.setRelation(id, shop, { blocks: true }), sandbox.setRelation(id, shop, { blocks: false })]
          ] as const
        ) {
          yield* set
          for (const [method, path] of calls) {
            assert.strictEqual(refusal(yield* call(method, path, method === "GET" ? {} : { json: { text: "a" } })), "403 USER_UNAVAILABLE",
              path)
          }
          yield* unset
          assert.strictEqual((yield* call("GET", `/users/${id}`)).status, 200)
        }
      }))

    it.effect("of a message has CHAT_NOT_ALLOWED if the recipient has neither written nor follows", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        for (const change of [{ hasWritten: true }, { follows: true }]) {
          const { id } = yield* someone
          const conversation = yield* sandbox.createConversation({ peerId: id })
          const send = call("POST", `/conversations/${conversation}/messages`, { json: { text: "a" } })
          assert.strictEqual(refusal(yield* send), "403 CHAT_NOT_ALLOWED")
          yield* sandbox.setRelation(id, shop, change)
          assert.strictEqual((yield* send).status, 200)
        }
      }))

    it.effect("of a message has CHAT_BLOCKED if either side blocked the other", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        for (const side of ["there", "back"] as const) {
          const { id } = yield* someone
          const conversation = yield* sandbox.createConversation({ peerId: id })
          yield* sandbox.setRelation(id, shop, { hasWritten: true, follows: true })
          yield* side === "there" ? sandbox.setRelation(shop, id, { blocks: true }) : sandbox.setRelation(id, shop, { blocks: true })
          assert.strictEqual(refusal(yield* call("POST", `/conversations/${conversation}/messages`, { json: { text: "a" } })),
            "403 CHAT_BLOCKED")
        }
      }))

    it.effect("of a store that blocked the caller has STORE_BLOCKED", () =>
      Effect.gen(function*() {
        assert.strictEqual(refusal(yield* call("PATCH", "/store/products/K17-GUM/stock", { json: { stock: 1 } })), "403 STORE_BLOCKED")
        assert.strictEqual(refusal(yield* call("POST", "/store/orders/K-1/ship", { json: shipment })), "403 STORE_BLOCKED")
      }))

    it.effect("of a change to another account's resource has FORBIDDEN, and nothing changes", () =>
      Effect.gen(function*() {
        const { key } = yield* someone
        const before = yield* state
        assert.strictEqual(refusal(yield* call("PATCH", "/store/products/0042/stock", { key, json: { stock: 1 } })), "403 FORBIDDEN")
        assert.strictEqual(refusal(yield* call("POST", "/store/orders/500001/ship", { key, json: shipment })), "403 FORBIDDEN")
        const { posts: [post] } = before
        assert.strictEqual(refusal(yield* call("PATCH", `/posts/${String(post?.id)}`, { key, json: { text: "mine" } })), "403 FORBIDDEN")
        assert.deepStrictEqual(yield* state, before)
      }))

    it.effect("of any unknown resource has NOT_FOUND", () =>
      Effect.gen(function*() {
        const json = { text: "a", stock: 1, ...shipment }
        for (
          const [method, path] of [
            ["GET", "/users/none"],
            ["GET", "/users/by-username/none"],
            ["POST", "/users/none/follow"],
            ["POST", "/posts/none/comments"],
            ["POST", "/posts/none/like"],
            ["PATCH", "/store/products/none/stock"],
            ["POST", "/store/orders/none/ship"],
            ["POST", "/conversations/none/messages"]
          ] as const
        ) {
          assert.strictEqual(refusal(yield* call(method, path, method === "GET" ? {} : { json })), "404 NOT_FOUND", path)
        }
      }))

    it.effect("of a resource that the caller can't see is the same as of an unknown one", () =>
      Effect.gen(function*() {
        const { key } = yield* someone
        const send = (conversation: string) => call("POST", `/conversations/${conversation}/messages`, { key, json: { text: "a" } })
        const [foreign, none] = [yield* send("conv_301"), yield* send("conv_999")]
        assert.deepStrictEqual([refusal(foreign), refusal(none)], ["404 NOT_FOUND", "404 NOT_FOUND"])
        assert.strictEqual(foreign.text.replaceAll("301", "999"), none.text)
      }))

    it.effect("of a body or a file that is too large has PAYLOAD_TOO_LARGE", () =>
      Effect.gen(function*() {
        assert.strictEqual(refusal(yield* call("POST", "/posts", { json: { text: "x".repeat(2_000) } })), "413 PAYLOAD_TOO_LARGE")
        const form = new FormData()
        form.append("file", new File(["x".repeat(101)], "a.txt", { type: "text/plain" }))
        assert.strictEqual(refusal(yield* call("POST", "/media", { form })), "413 PAYLOAD_TOO_LARGE")
      }))

    it.effect("for a failure of the service is 500 in the same shape", () =>
      Effect.gen(function*() {
        yield* control("POST", "/faults", { json: { kind: "status", when: "before", status: 500 } })
        assert.strictEqual(refusal(yield* call("GET", "/me")), "500 INTERNAL_ERROR")
        assert.strictEqual((yield* call("GET", "/me")).status, 200)
      }))

    it.effect("repeats for the same request, and changes nothing", () =>
      Effect.gen(function*() {
        const before = yield* state
        for (
          const [method, path, request, refused] of [
            ["POST", "/posts", { text: "{" }, "400 INVALID_JSON"],
            ["POST", "/posts", { json: {} }, "400 VALIDATION_ERROR text"],
            ["POST", "/posts", { key: null, json: { text: "a" } }, "401 INVALID_API_KEY"],
            ["PATCH", "/store/products/K17-GUM/stock", { json: { stock: 1 } }, "403 STORE_BLOCKED"],
            ["POST", "/posts/none/like", {}, "404 NOT_FOUND"],
            ["POST", "/posts", { json: { text: "x".repeat(2_000) } }, "413 PAYLOAD_TOO_LARGE"]
          ] as const
        ) {
          for (let time = 0; time < 2; time++) {
            assert.strictEqual(refusal(yield* call(method, path, request)), refused)
          }
        }
        assert.deepStrictEqual(yield* state, before)
      }))
  }
)

/** All errors of shipping an order, in order of precedence. */
const wrongs = [
  ["route", "404 NOT_FOUND"],
  ["key", "401 INVALID_API_KEY"],
  ["access", "403 DEVELOPER_ACCESS_REVOKED"],
  ["rate", "429 RATE_LIMITED"],
  ["scope", "403 INSUFFICIENT_SCOPE"],
  ["profile", "403 PROFILE_INCOMPLETE"],
  ["size", "413 PAYLOAD_TOO_LARGE"],
  ["json", "400 INVALID_JSON"],
  ["fields", "400 VALIDATION_ERROR carrier"],
  ["existence", "404 NOT_FOUND"],
  ["store", "403 STORE_BLOCKED"],
  ["owner", "403 FORBIDDEN"],
  ["conflict", "409 CONFLICT"]
] as const
type Wrong = typeof wrongs[number][0]

/** Ships an order with all of these wrong. */
const ship = (wrong: ReadonlySet<Wrong>) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const caller = (yield* sandbox.createAccount()).id
    const owner = wrong.has("owner") || wrong.has("store") ? (yield* sandbox.createAccount()).id : caller
    const order = yield* sandbox.setOrder({ id: `order of ${caller}`, accountId: owner })
    const path = `/store/orders/${encodeURIComponent(order)}/ship`
    const { apiKey } = yield* sandbox.createKey(caller, wrong.has("scope") ? { scopes: [] } : {})
    if (wrong.has("conflict")) {
      const { apiKey: key } = yield* sandbox.createKey(owner)
      assert.strictEqual((yield* call("POST", path, { key, json: shipment })).status, 200)
    }
    if (wrong.has("store")) {
      yield* sandbox.setRelation(owner, caller, { blocksFromStore: true })
    }
    if (wrong.has("profile")) {
      yield* sandbox.setProfile(caller, { photo: false })
    }
    if (wrong.has("rate")) {
      yield* call("GET", "/me", { key: apiKey })
    }
    if (wrong.has("access")) {
      yield* sandbox.setAccess(caller, "suspend")
    }
    const json = JSON.stringify({ carrier: wrong.has("fields") ? "" : "DHL", trackingNumber: "1" })
    return yield* call("POST", (wrong.has("existence") ? "/store/orders/none/ship" : path) + (wrong.has("route") ? "/there" : ""), {
      key: wrong.has("key") ? `key_${"x".repeat(40)}` : apiKey,
      text: (wrong.has("size") ? " ".repeat(3_000) : "") + (wrong.has("json") ? json.slice(0, -1) : json)
    })
  })

describe("the order of refusals", () => {
  layer(layerSocket({ assumptions: { requestsPerWindow: 1, maxBodyBytes: 2_000 } }), { excludeTestServices: true })((it) => {
    it.effect("refuses nothing when nothing is wrong", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* ship(new Set())).status, 200)
      }))

    for (const [index, [wrong, refused]] of wrongs.entries()) {
      const later = wrongs.slice(index + 1).map(([name]) => name)
      it.effect(`checks the ${wrong} before every later check, alone and together`, () =>
        Effect.gen(function*() {
          for (const others of [[], ...later.map((name) => [name]), later]) {
            assert.strictEqual(refusal(yield* ship(new Set([wrong, ...others]))), refused, others.join())
          }
        }))
    }
  })

  layer(layerSocket(), { excludeTestServices: true })((it) => {
    it.effect("checks in chat a block before an unavailable user, and both before the anti-spam rule", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* someone
        const conversation = yield* sandbox.createConversation({ peerId: id })
        const send = Effect.map(call("POST", `/conversations/${conversation}/messages`, { json: { text: "a" } }), refusal)
        assert.strictEqual(yield* send, "403 CHAT_NOT_ALLOWED")
        yield* sandbox.setProfile(id, { availability: "suspended" })
        assert.strictEqual(yield* send, "403 USER_UNAVAILABLE")
        yield* sandbox.setRelation(id, shop, { blocks: true })
        assert.strictEqual(yield* send, "403 CHAT_BLOCKED")
      }))
  })
})
