/**
 * The request log: the rule that decided each request, and reading pages of it.
 */
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Schema } from "effect"
import { call, control, layerInProcess, messageOf, refusal, type Request } from "./support.ts"

const readLog = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) }))

const last = Effect.flatMap(Sandbox.Sandbox, ({ requests }) => Effect.map(requests, (all) => all.at(-1)))

/** The rule that decided a call; the log has it together with the message of the response. */
const decided = (method: "GET" | "POST" | "PATCH", path: string, request: Request = {}) =>
  Effect.gen(function*() {
    const reply = yield* call(method, path, request)
    const record = yield* last
    if (reply.status >= 400) {
      assert.strictEqual(record?.reason, messageOf(reply))
    }
    return record?.rule
  })

layer(layerInProcess({ assumptions: { requestsPerWindow: 60, dailyQuota: 80, maxBodyBytes: 500 } }))("the request log", (it) => {
  it.effect("has the rule of admission that refused a request", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.strictEqual(yield* decided("GET", "/nowhere"), "admission.route")
      assert.strictEqual(yield* decided("GET", "/me", { key: null }), "admission.key")
      const { id } = yield* sandbox.createAccount({ photo: false })
      const { apiKey: key } = yield* sandbox.createKey(id, { scopes: ["posts:write"] })
      assert.strictEqual(yield* decided("GET", "/me", { key }), "admission.scope")
      assert.strictEqual(yield* decided("POST", "/posts", { key, json: { text: "a" } }), "admission.profile")
      yield* sandbox.setAccess(id, "suspend")
      assert.strictEqual(yield* decided("GET", "/me", { key }), "admission.access")
      assert.strictEqual(yield* decided("POST", "/posts", { text: "{" }), "admission.json")
      assert.strictEqual(yield* decided("POST", "/posts", { json: { text: 1 } }), "admission.fields")
      assert.strictEqual(yield* decided("POST", "/posts", { json: { text: "a".repeat(600) } }), "admission.size")
    }))

  it.effect("has the rule of the operation that refused a request, or the operation that accepted it", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { conversations } = yield* sandbox.state
      const withPeer = (username: string) =>
        Effect.map(sandbox.state, ({ accounts }) => {
          const peer = accounts.find((account) => account.username === username)
          return `/conversations/${conversations.find(({ peerId }) => peerId === peer?.id)?.id ?? ""}/messages`
        })
      const message = { json: { text: "a" } }
      assert.strictEqual(yield* decided("POST", yield* withPeer("ana.ruiz"), message), "chat.sendMessage")
      assert.strictEqual(yield* decided("POST", yield* withPeer("greta"), message), "chat.block")
      assert.strictEqual(yield* decided("POST", yield* withPeer("farid"), message), "chat.spam")
      assert.strictEqual(yield* decided("POST", "/conversations/none/messages", message), "chat.unknown")
      assert.strictEqual(yield* decided("PATCH", "/store/products/K17-GUM/stock", { json: { stock: 1 } }), "store.block")
      assert.strictEqual(yield* decided("PATCH", "/store/products/TIDE-TIN-01/stock", { json: { stock: 1 } }), "store.owner")
      assert.strictEqual(yield* decided("PATCH", "/store/products/0042/stock", { json: { stock: -1 } }), "store.fields")
      const shipment = { json: { carrier: "DHL", trackingNumber: "1" } }
      assert.strictEqual(yield* decided("POST", "/store/orders/500001/ship", shipment), "store.shipOrder")
      assert.strictEqual(yield* decided("POST", "/store/orders/500001/ship", shipment), "store.state")
      const jonas = (yield* sandbox.state).accounts.find(({ availability }) => availability === "suspended")
      assert.strictEqual(yield* decided("GET", `/users/${jonas?.id ?? ""}`), "users.unavailable")
    }))

  it.effect("distinguishes rate and quota", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      yield* Effect.replicateEffect(call("GET", "/me"), 60)
      assert.strictEqual(yield* decided("GET", "/me"), "admission.rate")
      yield* sandbox.advanceClock("1 minute")
      yield* Effect.replicateEffect(call("GET", "/me"), 20)
      assert.strictEqual(yield* decided("GET", "/me"), "admission.quota")
    }))

  it.effect("has the fault that stopped a request, and the rule if the fault only changed the response", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      yield* sandbox.addFault({ kind: "status", when: "before", status: 500 })
      yield* call("GET", "/me")
      assert.deepInclude(yield* last, { status: null, rule: "fault", reason: "stopped before the service by fault_1" })
      yield* sandbox.addFault({ kind: "status", when: "after", status: 500 })
      yield* call("GET", "/me")
      assert.deepInclude(yield* last, { status: 200, rule: "profiles.getMe", deliveredStatus: 500 })
    }))

  it.effect("has the one that stopped a request beside others: not a delay, and not a fault in place of a gateway", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      const first = yield* sandbox.addFault({ kind: "delay", when: "after", millis: 0, times: 2 })
      const second = yield* sandbox.addFault({ kind: "status", when: "before", status: 500 })
      yield* call("GET", "/me")
      assert.deepInclude(yield* last, { rule: "fault", reason: "stopped before the service by fault_2", faults: [first, second] })
      yield* sandbox.setLatitude({ gatewayStatus: 307, gatewayStatusEvery: 1 })
      yield* call("GET", "/me")
      assert.deepInclude(yield* last, {
        rule: "gateway",
        reason: "stopped before the service by gatewayStatus 307 of the service variant",
        faults: [first]
      })
      yield* sandbox.setLatitude({ gatewayStatus: null })
    }))

  it.effect("is read after a request, by operation, by rule and with a limit", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      yield* call("GET", "/me")
      yield* call("GET", "/users/nobody")
      yield* call("GET", "/me")
      yield* call("GET", "/me", { key: null })
      const ids = (yield* sandbox.requests).map(({ id }) => id)
      const read = (query: string) => Effect.map(control("GET", `/requests?${query}`), ({ json }) => readLog(json).data.map(({ id }) => id))
      assert.deepStrictEqual(yield* read(""), ids)
      assert.deepStrictEqual(yield* read(`after=${ids[1] ?? ""}`), ids.slice(2))
      assert.deepStrictEqual(yield* read(`after=${ids[3] ?? ""}`), [])
      assert.deepStrictEqual(yield* read("after=req_999999"), ids)
      assert.deepStrictEqual(yield* read("limit=1"), ids.slice(3))
      assert.deepStrictEqual(yield* read("rule=admission.key"), ids.slice(3))
      assert.deepStrictEqual(yield* read("operation=getMe&rule=profiles.getMe&limit=1"), ids.slice(2, 3))
      for (
        const [query, name] of [["after=x", "after"], ["limit=0", "limit"], ["limit=x", "limit"], ["opration=getMe", "opration"]] as const
      ) {
        assert.strictEqual(refusal(yield* control("GET", `/requests?${query}`)), `400 VALIDATION_ERROR ${name}`)
      }
    }))
})
