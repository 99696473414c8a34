/**
 * Seeding over HTTP: with a client derived from the contract, and with invalid requests.
 */
import { FetchHttpClient, HttpApiClient } from "@effect/platform"
import { assert, describe, it, layer } from "@effect/vitest"
import { ControlApi, Sandbox } from "@plaza-legacy/sandbox"
import { DateTime, Effect, Redacted } from "effect"
import { call, control, field, layerInProcess, layerSocket, messageOf, refusal } from "./support.ts"

const client = Effect.gen(function*() {
  const { controlUrl } = yield* Sandbox.Sandbox
  const { seeding } = yield* HttpApiClient.make(ControlApi, { baseUrl: new URL(controlUrl).origin })
  return seeding
})
const shipment = { json: { carrier: "DHL", trackingNumber: "1" } }

layer(layerSocket(), { excludeTestServices: true })("over a socket, a client derived from the contract", (it) => {
  const asClient = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.provide(test, FetchHttpClient.layer)

  it.effect("creates accounts with unusual ids, and everything that refers to them", () =>
    asClient(Effect.gen(function*() {
      const seeding = yield* client
      const id = "A/1 %?#é"
      yield* seeding.createAccount({ payload: { id, username: "awkward", name: "Awk", access: "none", photo: false } })
      const path = { id }
      const asked = yield* seeding.requestAccess({ path, payload: { useCase: "stock", botName: "bot" } })
      assert.deepStrictEqual((yield* seeding.listAccessRequests()).data[0], asked)
      const decided = yield* seeding.decideAccess({ path: { id: asked.id }, payload: { decision: "approve" } })
      assert.strictEqual(decided.status, "approved")
      const made = yield* seeding.createKey({ path, payload: { name: "one", scopes: ["profile:read", "posts:write"] } })
      const key = made.apiKey
      assert.notInclude(JSON.stringify(made), Redacted.value(key))
      assert.strictEqual(field(yield* call("GET", "/me", { key }), "id"), id)
      const write = call("POST", "/posts", { key, json: { text: "a" } })
      assert.strictEqual(refusal(yield* write), "403 PROFILE_INCOMPLETE")
      yield* seeding.setProfile({ path, payload: { photo: true } })
      assert.strictEqual((yield* write).status, 200)
      yield* seeding.setAccess({ path, payload: { move: "suspend" } })
      assert.strictEqual(refusal(yield* write), "403 DEVELOPER_ACCESS_REVOKED")
      yield* seeding.setAccess({ path, payload: { move: "restore" } })
      yield* seeding.revokeKey({ path: { id: made.id } })
      assert.strictEqual(refusal(yield* write), "401 INVALID_API_KEY")
    })))

  it.effect("fills the store and the chat", () =>
    asClient(Effect.gen(function*() {
      const seeding = yield* client
      const { state } = yield* Sandbox.Sandbox
      assert.strictEqual((yield* seeding.setProduct({ payload: { id: "P/1", stock: 3 } })).id, "P/1")
      assert.strictEqual((yield* seeding.setOrder({ payload: { id: "O/1" } })).id, "O/1")
      assert.strictEqual((yield* call("POST", "/store/orders/O%2F1/ship", shipment)).status, 200)
      yield* seeding.setOrder({ payload: { id: "O/2", shipment: shipment.json } })
      assert.strictEqual(refusal(yield* call("POST", "/store/orders/O%2F2/ship", shipment)), "409 CONFLICT")
      const { id: peerId } = yield* seeding.createAccount({ payload: {} })
      const { id } = yield* seeding.createConversation({ payload: { peerId } })
      const send = call("POST", `/conversations/${id}/messages`, { json: { text: "a" } })
      assert.strictEqual(refusal(yield* send), "403 CHAT_NOT_ALLOWED")
      yield* seeding.setRelation({ payload: { from: peerId, to: "1001", follows: true } })
      assert.strictEqual((yield* send).status, 200)
      const createdAt = DateTime.unsafeMake("2026-01-02T03:04:05.006Z")
      const post = yield* seeding.createPost({ payload: { accountId: peerId, text: "theirs", createdAt } })
      const kept = (yield* state).posts.find((each) => each.id === post.id)
      assert.deepInclude({ ...kept }, { authorId: peerId, text: "theirs", createdAt })
      assert.strictEqual((yield* call("POST", `/posts/${post.id}/like`)).status, 204)
    })))

  it.effect("gets the errors of the interface", () =>
    asClient(Effect.gen(function*() {
      const seeding = yield* client
      const error = yield* Effect.flip(seeding.setAccess({ path: { id: "nobody" }, payload: { move: "suspend" } }))
      assert.strictEqual(error._tag, "NotFound")
    })))
})

layer(layerInProcess())("an invalid seeding request", (it) => {
  it.effect("is refused with the envelope and the field's name in one sentence", () =>
    Effect.gen(function*() {
      const { createAccount, state } = yield* Sandbox.Sandbox
      yield* createAccount({ id: "taken" })
      const before = yield* state
      for (
        const [method, path, json, expected] of [
          ["POST", "/accounts", { photo: "yes" }, "400 VALIDATION_ERROR photo"],
          ["POST", "/accounts", { foto: true }, "400 VALIDATION_ERROR foto"],
          ["POST", "/accounts", { access: "maybe" }, "400 VALIDATION_ERROR access"],
          ["POST", "/accounts", { id: "" }, "400 VALIDATION_ERROR id"],
          ["POST", "/accounts", { name: "a".repeat(501) }, "400 VALIDATION_ERROR name"],
          ["POST", "/accounts", { id: "taken" }, "409 CONFLICT"],
          ["POST", "/accounts", [], "400 VALIDATION_ERROR body"],
          ["PATCH", "/accounts/1001", { availability: 1 }, "400 VALIDATION_ERROR availability"],
          ["PATCH", "/accounts/nobody", {}, "404 NOT_FOUND"],
          ["POST", "/accounts/1001/access", { move: "ban" }, "400 VALIDATION_ERROR move"],
          ["POST", "/accounts/1001/access", { move: "restore" }, "409 CONFLICT"],
          ["POST", "/accounts/1001/access-requests", { botName: "b" }, "400 VALIDATION_ERROR useCase"],
          ["POST", "/accounts/1001/access-requests", { useCase: "u", botName: "b", site: "s" }, "400 VALIDATION_ERROR site"],
          ["POST", "/access-requests/none/decision", { decision: "approve" }, "404 NOT_FOUND"],
          ["POST", "/access-requests/none/decision", { decision: "perhaps" }, "400 VALIDATION_ERROR decision"],
          ["POST", "/accounts/1001/keys", { scopes: "posts:write" }, "400 VALIDATION_ERROR scopes"],
          ["POST", "/keys/none/revoke", undefined, "404 NOT_FOUND"],
          ["PATCH", "/relations", { from: "1001" }, "400 VALIDATION_ERROR to"],
          ["PATCH", "/relations", { from: "1001", to: "1002", blocked: true }, "400 VALIDATION_ERROR blocked"],
          ["POST", "/posts", { text: "" }, "400 VALIDATION_ERROR text"],
          ["POST", "/posts", { text: "a", mediaIds: ["none"] }, "400 VALIDATION_ERROR mediaIds.0"],
          ["POST", "/posts", { text: "a", createdAt: "yesterday" }, "400 VALIDATION_ERROR createdAt"],
          ["PUT", "/products", { id: "P", stock: -1 }, "400 VALIDATION_ERROR stock"],
          ["PUT", "/products", { stock: 1 }, "400 VALIDATION_ERROR id"],
          ["PUT", "/orders", { id: "O", accountId: "nobody" }, "404 NOT_FOUND"],
          ["PUT", "/orders", { id: "O", shipment: { carrier: "DHL" } }, "400 VALIDATION_ERROR shipment.trackingNumber"],
          ["PUT", "/orders", { id: "O", shipment: { carrier: "", trackingNumber: "1" } }, "400 VALIDATION_ERROR shipment.carrier"],
          ["POST", "/conversations", { peerId: "1002", messages: [{ text: "" }] }, "400 VALIDATION_ERROR messages.0.text"]
        ] as const
      ) {
        const reply = yield* control(method, path, json === undefined ? {} : { json })
        assert.strictEqual(refusal(reply), expected, reply.text)
        assert.notInclude(messageOf(reply), "\n")
      }
      assert.deepStrictEqual(yield* state, before)
    }))
})

describe("seeding", () => {
  it.effect("lists every allowed value", () =>
    Effect.gen(function*() {
      assert.include(messageOf(yield* control("POST", "/accounts/1001/access", { json: { move: "ban" } })),
        "grant, suspend, revoke, restore")
      assert.include(messageOf(yield* control("PATCH", "/accounts/1001", { json: { availability: "x" } })), "available, private, suspended")
      assert.include(messageOf(yield* control("POST", "/faults", { json: { kind: "drop", when: "x" } })), "before, after")
      const kinds = messageOf(yield* control("POST", "/faults", { json: { kind: "x" } }))
      for (const kind of ["delay", "status", "drop", "cut", "slow", "garbage"]) {
        assert.include(kinds, kind)
      }
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("assigns a number that is not in use as an id", () =>
    Effect.gen(function*() {
      const { createAccount } = yield* Sandbox.Sandbox
      const { id } = yield* createAccount()
      const next = String(Number(id) + 2)
      yield* createAccount({ id: next })
      assert.strictEqual((yield* createAccount()).id, String(Number(id) + 3))
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("an account that received a message in a conversation may reply", () =>
    Effect.gen(function*() {
      const { createAccount, createConversation, state } = yield* Sandbox.Sandbox
      const { id: peerId } = yield* createAccount()
      const id = yield* createConversation({ peerId, messages: [{ text: "Is it open?" }, { text: "It is.", isOwn: true }] })
      const { messages } = yield* state
      assert.deepStrictEqual(messages.map(({ conversationId, senderId, text }) => [conversationId, senderId, text]), [
        [id, peerId, "Is it open?"],
        [id, "1001", "It is."]
      ])
      assert.strictEqual((yield* call("POST", `/conversations/${id}/messages`, { json: { text: "a" } })).status, 200)
    }).pipe(Effect.provide(layerInProcess())))
})
