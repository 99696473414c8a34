/**
 * The effect of each area on the state, and the conditional errors of the document.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { defaults } from "../src/Assumptions.ts"
import { operations as served } from "../src/InterfaceApi.ts"
import { openApi } from "../src/OpenApiDocument.ts"
import { call, field, layerInProcess, refusal, someone } from "./support.ts"

const isMethod = Schema.is(Schema.Literals(["GET", "POST", "PATCH", "DELETE"]))
const state = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)
const shop = "1001"

describe("the contract", () => {
  it.effect("every operation of the document and every assumed one has a handler", () =>
    Effect.gen(function*() {
      const paths = Object.entries(openApi(defaults).paths)
      let operations = 0
      for (const [path, methods] of paths) {
        for (const method of Object.keys(methods)) {
          operations++
          const name = method.toUpperCase()
          assert(isMethod(name))
          const reply = yield* call(name, path.replace(/\{\w+\}/g, "none"), { key: null })
          assert.strictEqual(refusal(reply), "401 INVALID_API_KEY", `${name} ${path}`)
        }
      }
      assert.strictEqual(operations, served.size)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("every response has its own request id", () =>
    Effect.gen(function*() {
      const ids = [
        (yield* call("GET", "/me")).headers["x-request-id"],
        (yield* call("GET", "/nowhere")).headers["x-request-id"],
        (yield* call("GET", "/me", { key: null })).headers["x-request-id"]
      ]
      assert.strictEqual(new Set(ids).size, 3)
      assert.notInclude(ids, undefined)
    }).pipe(Effect.provide(layerInProcess())))
})

layer(layerInProcess({ assumptions: { requestsPerWindow: 10_000 } }))("profiles", (it) => {
  it.effect("/me describes the account that owns the key", () =>
    Effect.gen(function*() {
      const { id, key, username } = yield* someone
      assert.deepInclude((yield* call("GET", "/me", { key })).json, { id, username })
      assert.deepInclude((yield* call("GET", "/me")).json, { id: shop, username: "corner-shop" })
    }))

  it.effect("a profile is found by id and by username", () =>
    Effect.gen(function*() {
      const { id, username } = yield* someone
      for (const path of [`/users/${id}`, `/users/by-username/${username}`]) {
        assert.deepInclude((yield* call("GET", path)).json, { id, username })
      }
    }))

  it.effect("a user that is suspended, private or blocked either way is not available", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id, username } = yield* someone
      const unavailable = Effect.gen(function*() {
        for (
          const [method, path] of [["GET", `/users/${id}`], ["GET", `/users/by-username/${username}`], [
            "POST",
            `/users/${id}/follow`
          ]] as const
        ) {
          assert.strictEqual(refusal(yield* call(method, path)), "403 USER_UNAVAILABLE")
        }
      })
      yield* sandbox.setProfile(id, { availability: "suspended" })
      yield* unavailable
      yield* sandbox.setProfile(id, { availability: "private" })
      yield* unavailable
      yield* sandbox.setProfile(id, { availability: "available" })
      yield* sandbox.setRelation(id, shop, { blocks: true })
      yield* unavailable
      yield* sandbox.setRelation(id, shop, { blocks: false })
      yield* sandbox.setRelation(shop, id, { blocks: true })
      yield* unavailable
      yield* sandbox.setRelation(shop, id, { blocks: false })
      assert.strictEqual((yield* call("GET", `/users/${id}`)).status, 200)
    }))

  it.effect("a private account stays visible to its followers and to itself", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id, key } = yield* someone
      assert.strictEqual((yield* call("POST", `/users/${id}/follow`)).status, 204)
      yield* sandbox.setProfile(id, { availability: "private" })
      assert.strictEqual((yield* call("GET", `/users/${id}`)).status, 200)
      assert.strictEqual((yield* call("GET", `/users/${id}`, { key })).status, 200)
    }))

  it.effect("following twice leaves the same state as once", () =>
    Effect.gen(function*() {
      const { id, key } = yield* someone
      const following = Effect.map(state,
        ({ relations }) => relations.filter(({ follows, from }) => follows && from === id).map(({ to }) => to))
      for (let time = 0; time < 2; time++) {
        const reply = yield* call("POST", `/users/${shop}/follow`, { key })
        assert.deepStrictEqual([reply.status, reply.text], [204, ""])
        assert.deepStrictEqual(yield* following, [shop])
      }
    }))
})

layer(layerInProcess({ assumptions: { requestsPerWindow: 10_000 } }))("posts", (it) => {
  it.effect("a post is created with text, media and the time, and a body of a like is ignored", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("1234 millis")
      const json = { text: "Ünï 😀\n\"x\"", mediaIds: ["media-000001"] }
      const reply = yield* call("POST", "/posts", { json })
      assert.strictEqual(reply.status, 200)
      assert.deepInclude(reply.json, { ...json, createdAt: "1970-01-01T00:00:01.234Z" })
      const id = String(field(reply, "id"))
      const { posts } = yield* state
      assert.deepStrictEqual(posts.filter((post) => post.id === id).map(({ mediaIds, text }) => ({ text, mediaIds: mediaIds.map(String) })),
        [json])
      assert.strictEqual((yield* call("POST", `/posts/${id}/like`, { text: "{" })).status, 204)
    }))

  it.effect("ids of posts are strings beyond the precision of a double", () =>
    Effect.gen(function*() {
      const reply = yield* call("POST", "/posts", { json: { text: "a" } })
      const id = String(field(reply, "id"))
      assert.isTrue(BigInt(id) > BigInt(Number.MAX_SAFE_INTEGER))
    }))

  it.effect("media may be omitted or null; media of another account are refused", () =>
    Effect.gen(function*() {
      const { key } = yield* someone
      assert.deepInclude((yield* call("POST", "/posts", { json: { text: "a" } })).json, { mediaIds: [] })
      assert.deepInclude((yield* call("POST", "/posts", { json: { text: "a", mediaIds: null } })).json, { mediaIds: [] })
      const reply = yield* call("POST", "/posts", { key, json: { text: "a", mediaIds: ["media-000001"] } })
      assert.strictEqual(refusal(reply), "400 VALIDATION_ERROR mediaIds.0")
    }))

  it.effect("a refused post stores nothing", () =>
    Effect.gen(function*() {
      const before = yield* state
      yield* call("POST", "/posts", { json: { text: "a", mediaIds: ["media-000001", "none"] } })
      assert.deepStrictEqual((yield* state).posts, before.posts)
    }))

  it.effect("comments are kept one by one, likes once", () =>
    Effect.gen(function*() {
      const { id, key } = yield* someone
      const { posts: [post] } = yield* state
      for (let time = 0; time < 2; time++) {
        const reply = yield* call("POST", `/posts/${String(post?.id)}/comments`, { key, json: { text: "nice" } })
        assert.strictEqual(field(reply, "text"), "nice")
        assert.strictEqual((yield* call("POST", `/posts/${String(post?.id)}/like`, { key })).status, 204)
      }
      const after = yield* state
      assert.strictEqual(after.comments.filter((comment) => comment.authorId === id && comment.postId === post?.id).length, 2)
      assert.strictEqual(after.likes.filter((like) => like.accountId === id).length, 1)
    }))

  it.effect("a post of a user who isn't available can't be liked or commented on", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id, key } = yield* someone
      const post = yield* call("POST", "/posts", { key, json: { text: "mine" } })
      yield* sandbox.setRelation(id, shop, { blocks: true })
      const path = `/posts/${String(field(post, "id"))}`
      assert.strictEqual(refusal(yield* call("POST", `${path}/like`)), "403 USER_UNAVAILABLE")
      assert.strictEqual(refusal(yield* call("POST", `${path}/comments`, { json: { text: "a" } })), "403 USER_UNAVAILABLE")
    }))
})

layer(layerInProcess())("the store", (it) => {
  const stockOf = (id: string) => Effect.map(state, ({ products }) => products.find((product) => product.id === id)?.stock)
  const setStock = (id: string, stock: number) => call("PATCH", `/store/products/${encodeURIComponent(id)}/stock`, { json: { stock } })

  it.effect("stock is set, also to zero and to the maximum, and the response is the updated product", () =>
    Effect.gen(function*() {
      for (const stock of [7, 0, 1_000_000_000, 0]) {
        assert.deepInclude((yield* setStock("MUG-BLUE-350", stock)).json, { id: "MUG-BLUE-350", stock })
        assert.strictEqual(yield* stockOf("MUG-BLUE-350"), stock)
      }
    }))

  it.effect("an order is shipped once; a second call is a conflict and changes nothing", () =>
    Effect.gen(function*() {
      const ship = (carrier: string) => call("POST", "/store/orders/000021/ship", { json: { carrier, trackingNumber: "00340" } })
      assert.deepInclude((yield* ship("DHL")).json, { id: "000021", carrier: "DHL", trackingNumber: "00340" })
      assert.strictEqual(refusal(yield* ship("UPS")), "409 CONFLICT")
      const order = (yield* state).orders.find(({ id }) => id === "000021")
      assert.deepStrictEqual(order?.shipment, { carrier: "DHL", trackingNumber: "00340" })
    }))

  it.effect("products and orders of another store can't be changed; a store that blocked the caller is reported as such", () =>
    Effect.gen(function*() {
      const shipment = { json: { carrier: "DHL", trackingNumber: "1" } }
      assert.strictEqual(refusal(yield* setStock("TIDE-TIN-01", 1)), "403 FORBIDDEN")
      assert.strictEqual(refusal(yield* call("POST", "/store/orders/T-1/ship", shipment)), "403 FORBIDDEN")
      assert.strictEqual(refusal(yield* setStock("K17-GUM", 1)), "403 STORE_BLOCKED")
      assert.strictEqual(refusal(yield* call("POST", "/store/orders/K-1/ship", shipment)), "403 STORE_BLOCKED")
      assert.strictEqual(yield* stockOf("K17-GUM"), 10)
    }))
})

layer(layerInProcess())("chat", (it) => {
  const send = (conversation: string) => call("POST", `/conversations/${conversation}/messages`, { json: { text: "hello" } })

  it.effect("an account that has written or follows can receive messages; every message is stored", () =>
    Effect.gen(function*() {
      for (const conversation of ["conv_301", "conv_302", "conv_303"]) {
        const reply = yield* send(conversation)
        assert.deepInclude(reply.json, { text: "hello", conversationId: conversation, senderId: shop })
      }
      yield* send("conv_301")
      assert.strictEqual((yield* state).messages.filter(({ conversationId }) => conversationId === "conv_301").length, 2)
    }))

  it.effect("an account that has neither written nor follows can't receive messages, until either changes", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.strictEqual(refusal(yield* send("conv_306")), "403 CHAT_NOT_ALLOWED")
      const peer = (yield* state).conversations.find(({ id }) => id === "conv_306")?.peerId ?? ""
      yield* sandbox.setRelation(peer, shop, { hasWritten: true })
      assert.strictEqual((yield* send("conv_306")).status, 200)
    }))

  it.effect("a block on either side refuses messages", () =>
    Effect.gen(function*() {
      assert.strictEqual(refusal(yield* send("conv_307")), "403 CHAT_BLOCKED")
      assert.strictEqual(refusal(yield* send("conv_308")), "403 CHAT_BLOCKED")
    }))

  it.effect("a suspended user isn't available", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const id = yield* sandbox.createConversation({ peerId: "1011" })
      assert.strictEqual(refusal(yield* send(id)), "403 USER_UNAVAILABLE")
    }))

  it.effect("a conversation of others can't be seen", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* someone
      const conversation = yield* sandbox.createConversation({ accountId: id, peerId: "1002" })
      assert.strictEqual(refusal(yield* send(conversation)), "404 NOT_FOUND")
      assert.notInclude((yield* call("GET", "/conversations?limit=100")).text, conversation)
    }))

  it.effect("an account that received a message may reply", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id, key } = yield* someone
      yield* sandbox.setRelation(id, shop, { follows: true })
      const there = yield* sandbox.createConversation({ peerId: id })
      const back = yield* sandbox.createConversation({ accountId: id, peerId: shop })
      const answer = call("POST", `/conversations/${back}/messages`, { key, json: { text: "hi" } })
      assert.strictEqual(refusal(yield* answer), "403 CHAT_NOT_ALLOWED")
      yield* send(there)
      assert.strictEqual((yield* answer).status, 200)
    }))
})

layer(layerInProcess())("stories", (it) => {
  it.effect("any JSON object is accepted and stored unchanged", () =>
    Effect.gen(function*() {
      const story = { media: ["a"], nested: { "__proto__x": null, n: 1.5 }, "": "empty" }
      assert.strictEqual((yield* call("POST", "/stories", { json: story })).status, 200)
      assert.deepStrictEqual((yield* state).stories.at(-1)?.payload, story)
    }))

  it.effect("an object that is nested too deeply to serialize is refused and causes no failure", () =>
    Effect.gen(function*() {
      const text = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
      assert.strictEqual(refusal(yield* call("POST", "/stories", { text })), "400 VALIDATION_ERROR body")
    }))
})
