/**
 * The seeding operations and their errors.
 */
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Redacted } from "effect"
import { call, layerInProcess } from "./support.ts"

const codeOf = (effect: Effect.Effect<unknown, { readonly code: string }>) => Effect.map(Effect.flip(effect), ({ code }) => code)

layer(layerInProcess())("seeding", (it) => {
  it.effect("an account holds at most 5 active keys; a revoked one makes room", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount()
      const keys = yield* Effect.replicateEffect(sandbox.createKey(id), 5)
      assert.strictEqual(yield* codeOf(sandbox.createKey(id)), "CONFLICT")
      yield* sandbox.revokeKey(keys[0]?.id ?? "")
      const { apiKey } = yield* sandbox.createKey(id)
      assert.strictEqual((yield* call("GET", "/me", { key: apiKey })).status, 200)
      const values = new Set([...keys, { apiKey }].map((key) => Redacted.value(key.apiKey)))
      assert.strictEqual(values.size, 6)
      for (const value of values) {
        assert.match(value, /^key_[A-Za-z0-9]{40}$/)
      }
    }))

  it.effect("keys are created only while developer access is granted", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount({ access: "none" })
      assert.strictEqual(yield* codeOf(sandbox.createKey(id)), "CONFLICT")
      yield* sandbox.setAccess(id, "grant")
      assert.strictEqual((yield* call("GET", "/me", { key: (yield* sandbox.createKey(id)).apiKey })).status, 200)
    }))

  it.effect("developer access changes only as the interface says", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount()
      assert.strictEqual(yield* codeOf(sandbox.setAccess(id, "restore")), "CONFLICT")
      yield* sandbox.setAccess(id, "revoke")
      assert.strictEqual(yield* codeOf(sandbox.setAccess(id, "suspend")), "CONFLICT")
    }))

  it.effect("unknown items can't be changed", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      for (
        const attempt of [
          sandbox.setProfile("nobody", {}),
          sandbox.setAccess("nobody", "suspend"),
          sandbox.createKey("nobody"),
          sandbox.revokeKey("none"),
          sandbox.setRelation("nobody", "1001", {}),
          sandbox.setRelation("1001", "nobody", {}),
          sandbox.setProduct({ id: "a", accountId: "nobody" }),
          sandbox.setOrder({ id: "a", accountId: "nobody" }),
          sandbox.createConversation({ peerId: "nobody" })
        ]
      ) {
        assert.strictEqual(yield* codeOf(attempt), "NOT_FOUND")
      }
    }))

  it.effect("an id and a username are unique", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.createAccount({ id: "x1", username: "x-one" })
      assert.strictEqual(yield* codeOf(sandbox.createAccount({ id: "x1" })), "CONFLICT")
      assert.strictEqual(yield* codeOf(sandbox.createAccount({ username: "x-one" })), "CONFLICT")
    }))

  it.effect("a relation changes only in the given fields", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id } = yield* sandbox.createAccount()
      yield* sandbox.setRelation(id, "1001", { follows: true })
      yield* sandbox.setRelation(id, "1001", { hasWritten: true })
      const relation = (yield* sandbox.state).relations.find(({ from }) => from === id)
      assert.deepInclude({ ...relation }, { follows: true, hasWritten: true, blocks: false, blocksFromStore: false })
    }))

  it.effect("a product or an order with a known id is replaced", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.setProduct({ id: "P/1", stock: 4 })
      yield* sandbox.setProduct({ id: "P/1", name: "Renamed", stock: 6 })
      const json = { carrier: "DHL", trackingNumber: "1" }
      yield* sandbox.setOrder({ id: "O/1" })
      assert.strictEqual((yield* call("POST", "/store/orders/O%2F1/ship", { json })).status, 200)
      yield* sandbox.setOrder({ id: "O/1" })
      assert.strictEqual((yield* call("POST", "/store/orders/O%2F1/ship", { json })).status, 200)
      const { orders, products } = yield* sandbox.state
      assert.deepInclude({ ...products.find(({ id }) => id === "P/1") }, { name: "Renamed", stock: 6 })
      assert.strictEqual(orders.filter(({ id }) => id === "O/1").length, 1)
    }))

  it.effect("values that the interface would refuse are refused here too", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.strictEqual(yield* codeOf(sandbox.setProduct({ id: "P", stock: -1 })), "VALIDATION_ERROR")
      assert.strictEqual(yield* codeOf(sandbox.setProduct({ id: "" })), "VALIDATION_ERROR")
      assert.strictEqual(yield* codeOf(sandbox.createAccount({ id: "\0" })), "VALIDATION_ERROR")
    }))
})
