/**
 * Reading the store and the messages of a conversation, in process and on a socket.
 */
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect } from "effect"
import { call, field, layerInProcess, layerSocket, pageOf, refusal, someone } from "./support.ts"

const shop = "1001"
const options = { assumptions: { requestsPerWindow: 10_000 } }

/** The items of a page. */
const items = (path: string, request: Parameters<typeof call>[2] = {}) =>
  Effect.map(call("GET", path, request), (reply) => field(reply, "data"))

for (const [way, world] of [["in process", layerInProcess(options)], ["over a socket", layerSocket(options)]] as const) {
  layer(world, { excludeTestServices: true })(`the store, ${way}`, (it) => {
    it.effect("has the id of its owner", () =>
      Effect.gen(function*() {
        const { id, key, username } = yield* someone
        assert.deepStrictEqual((yield* call("GET", "/store")).json, { ownerId: shop, name: "The Corner Shop" })
        assert.deepStrictEqual((yield* call("GET", "/store", { key })).json, { ownerId: id, name: username })
      }))

    it.effect("lists only its own products and orders, newest first", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id: accountId, key } = yield* someone
        const name = yield* sandbox.setProduct({ id: `a ${accountId}`, accountId, stock: 3 })
        const other = yield* sandbox.setProduct({ id: `b ${accountId}`, accountId, stock: 0 })
        const order = yield* sandbox.setOrder({ id: `o ${accountId}`, accountId })
        assert.deepStrictEqual(yield* items("/store/products", { key }), [
          { id: other, name: other, stock: 0 },
          { id: name, name, stock: 3 }
        ])
        assert.deepStrictEqual(yield* items("/store/orders", { key }), [{ id: order, state: "not shipped" }])
        assert.strictEqual(pageOf(yield* call("GET", "/store/orders?limit=100")).ids.length, 30)
        assert.notInclude(pageOf(yield* call("GET", "/store/products?limit=100")).ids, name)
      }))

    it.effect("returns a product with the stock that was set, whatever its id", () =>
      Effect.gen(function*() {
        for (const id of ["CAP/RED L", "50%-OFF-BOX", "0042"]) {
          const path = `/store/products/${encodeURIComponent(id)}`
          const set = yield* call("PATCH", `${path}/stock`, { json: { stock: 17 } })
          assert.deepStrictEqual((yield* call("GET", path)).json, set.json)
          assert.strictEqual(field(set, "stock"), 17)
        }
      }))

    it.effect("shows its products to others, unless it blocked them or its owner is not available to them", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id, key } = yield* someone
        const read = call("GET", "/store/products/0042", { key })
        assert.strictEqual((yield* read).status, 200)
        assert.strictEqual(refusal(yield* call("GET", "/store/products/K17-GUM")), "403 STORE_BLOCKED")
        yield* sandbox.setRelation(shop, id, { blocksFromStore: true })
        assert.strictEqual(refusal(yield* read), "403 STORE_BLOCKED")
        yield* sandbox.setRelation(shop, id, { blocks: true })
        assert.strictEqual(refusal(yield* read), "403 USER_UNAVAILABLE")
        yield* sandbox.setRelation(shop, id, { blocks: false, blocksFromStore: false })
        assert.strictEqual((yield* read).status, 200)
        yield* sandbox.setProduct({ id: "of the away", accountId: id })
        for (const availability of ["private", "suspended"] as const) {
          yield* sandbox.setProfile(id, { availability })
          assert.strictEqual(refusal(yield* call("GET", "/store/products/of%20the%20away")), "403 USER_UNAVAILABLE")
        }
      }))

    it.effect("returns an order only to its owner, with the shipment once it is shipped", () =>
      Effect.gen(function*() {
        const order = call("GET", "/store/orders/000021")
        const { key } = yield* someone
        assert.deepStrictEqual((yield* order).json, { id: "000021", state: "not shipped" })
        const shipped = yield* call("POST", "/store/orders/000021/ship", { json: { carrier: "DHL", trackingNumber: "0034" } })
        assert.deepStrictEqual((yield* order).json, { id: "000021", state: "shipped", carrier: "DHL", trackingNumber: "0034" })
        assert.deepStrictEqual(shipped.json, (yield* order).json)
        assert.strictEqual(refusal(yield* call("GET", "/store/orders/000021", { key })), "403 FORBIDDEN")
        assert.strictEqual(refusal(yield* call("GET", "/store/orders/T-1")), "403 FORBIDDEN")
        assert.strictEqual(refusal(yield* call("GET", "/store/orders/K-1")), "403 STORE_BLOCKED")
      }))

    it.effect("returns not found for an unknown product, order or conversation, and the envelope repeats the id", () =>
      Effect.gen(function*() {
        for (const path of ["/store/products/no%2Fne", "/store/orders/no%2Fne", "/conversations/no%2Fne/messages"]) {
          const reply = yield* call("GET", path)
          assert.strictEqual(refusal(reply), "404 NOT_FOUND", path)
          assert.include(reply.text, "\"id\":\"no/ne\"")
        }
      }))

    it.effect("may be read without photo and cover", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id, key } = yield* someone
        yield* sandbox.setProfile(id, { cover: false, photo: false })
        for (const path of ["/store", "/store/products", "/store/orders"]) {
          assert.strictEqual((yield* call("GET", path, { key })).status, 200, path)
        }
      }))
  })

  layer(world, { excludeTestServices: true })(`a conversation, ${way}`, (it) => {
    it.effect("has the messages of both sides, newest first, each side in its own conversation", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id, key } = yield* someone
        yield* sandbox.setRelation(id, shop, { follows: true })
        const there = yield* sandbox.createConversation({ peerId: id })
        const back = yield* sandbox.createConversation({ accountId: id, peerId: shop })
        const pathOf = (conversation: string) => `/conversations/${conversation}/messages`
        assert.deepStrictEqual(yield* items(pathOf(there)), [])
        const { json: question } = yield* call("POST", pathOf(there), { json: { text: "?" } })
        const { json: answer } = yield* call("POST", pathOf(back), { key, json: { text: "!" } })
        assert(typeof question === "object" && typeof answer === "object")
        assert.deepStrictEqual(yield* items(pathOf(there)), [{ ...answer, conversationId: there }, question])
        assert.deepStrictEqual(yield* items(pathOf(back), { key }), [answer, { ...question, conversationId: back }])
      }))

    it.effect("of others can't be read", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* someone
        const theirs = yield* sandbox.createConversation({ accountId: id, peerId: "1002" })
        assert.strictEqual(refusal(yield* call("GET", `/conversations/${theirs}/messages`)), "404 NOT_FOUND")
      }))

    it.effect("can be read by its owner after a block, which refuses new messages", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* someone
        yield* sandbox.setRelation(id, shop, { follows: true })
        const path = `/conversations/${yield* sandbox.createConversation({ peerId: id })}/messages`
        const sent = yield* call("POST", path, { json: { text: "before" } })
        yield* sandbox.setRelation(id, shop, { blocks: true })
        assert.strictEqual(refusal(yield* call("POST", path, { json: { text: "after" } })), "403 CHAT_BLOCKED")
        assert.deepStrictEqual(yield* items(path), [sent.json])
      }))
  })
}
