/**
 * Access: asking for it, the decision, and what follows from it for keys.
 */
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Redacted } from "effect"
import { call, layerInProcess, refusal } from "./support.js"

const form = { useCase: "Keeps the stock of our shop right.", website: "https://shop.example/about", botName: "Stock keeper" }
const codeOf = (effect: Effect.Effect<unknown, { readonly code: string }>) => Effect.map(Effect.flip(effect), ({ code }) => code)
const newcomer = Effect.flatMap(Sandbox.Sandbox, (sandbox) => Effect.map(sandbox.createAccount({ access: "none" }), ({ id }) => id))

layer(layerInProcess())("a request for access", (it) => {
  it.effect("is pending first, and only its approval opens the way to keys", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const account = yield* newcomer
      const asked = yield* sandbox.requestAccess(account, form)
      assert.strictEqual(asked.status, "pending")
      assert.isNull(asked.decidedAt)
      assert.strictEqual(yield* codeOf(sandbox.createKey(account)), "CONFLICT")
      const approved = yield* sandbox.decideAccess(asked.id, "approve")
      assert.strictEqual(approved.status, "approved")
      assert.isNotNull(approved.decidedAt)
      const { apiKey } = yield* sandbox.createKey(account)
      assert.strictEqual((yield* call("GET", "/me", { key: apiKey })).status, 200)
    }))

  it.effect("leaves no access when it is declined, and may be made again", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const account = yield* newcomer
      const first = yield* sandbox.requestAccess(account, form)
      yield* sandbox.decideAccess(first.id, "decline")
      assert.strictEqual(yield* codeOf(sandbox.createKey(account)), "CONFLICT")
      const second = yield* sandbox.requestAccess(account, form)
      assert.notStrictEqual(second.id, first.id)
      yield* sandbox.decideAccess(second.id, "approve")
      yield* sandbox.createKey(account)
    }))

  it.effect("waits for its decision before the account may ask again", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const account = yield* newcomer
      yield* sandbox.requestAccess(account, form)
      assert.strictEqual(yield* codeOf(sandbox.requestAccess(account, form)), "CONFLICT")
    }))

  it.effect("is of no use to an account that has access, or had it", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      for (const access of ["granted", "suspended", "revoked"] as const) {
        const { id } = yield* sandbox.createAccount({ access })
        assert.strictEqual(yield* codeOf(sandbox.requestAccess(id, form)), "CONFLICT", access)
      }
    }))

  it.effect("is decided once", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      for (const decision of ["approve", "decline"] as const) {
        const { id } = yield* sandbox.requestAccess(yield* newcomer, form)
        yield* sandbox.decideAccess(id, decision)
        assert.strictEqual(yield* codeOf(sandbox.decideAccess(id, "approve")), "CONFLICT")
        assert.strictEqual(yield* codeOf(sandbox.decideAccess(id, "decline")), "CONFLICT")
      }
    }))

  it.effect("is approved or declined as ever when access was granted meanwhile, which stays as it is", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      for (const decision of ["approve", "decline"] as const) {
        const account = yield* newcomer
        const { id } = yield* sandbox.requestAccess(account, form)
        yield* sandbox.setAccess(account, "grant")
        assert.strictEqual((yield* sandbox.decideAccess(id, decision)).status, decision === "approve" ? "approved" : "declined")
        const { apiKey } = yield* sandbox.createKey(account)
        assert.strictEqual((yield* call("GET", "/me", { key: apiKey })).status, 200)
      }
    }))

  it.effect("gives back no access that was suspended or revoked meanwhile: it stays pending until that is settled", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      for (const move of ["suspend", "revoke"] as const) {
        const account = yield* newcomer
        const { id } = yield* sandbox.requestAccess(account, form)
        yield* sandbox.setAccess(account, "grant")
        yield* sandbox.setAccess(account, move)
        assert.strictEqual(yield* codeOf(sandbox.decideAccess(id, "approve")), "CONFLICT")
        yield* sandbox.setAccess(account, "restore")
        assert.strictEqual((yield* sandbox.decideAccess(id, "approve")).status, "approved")
      }
    }))

  it.effect("needs a use case and a bot name; the website is optional, but an address", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const account = yield* newcomer
      const wrong: ReadonlyArray<readonly [string, object]> = [
        ["useCase", { useCase: "" }],
        ["useCase", { useCase: " \n" }],
        ["useCase", { useCase: "x".repeat(5_001) }],
        ["botName", { botName: "" }],
        ["botName", { botName: "x".repeat(101) }],
        ["website", { website: "" }],
        ["website", { website: "shop.example" }],
        ["website", { website: "javascript:alert(1)" }],
        ["website", { website: `https://${"x".repeat(2_000)}` }]
      ]
      for (const [field, change] of wrong) {
        const error = yield* Effect.flip(sandbox.requestAccess(account, { ...form, ...change }))
        assert.deepStrictEqual([error.code, error.details], ["VALIDATION_ERROR", { field }])
      }
      const { useCase, botName } = form
      assert.isNull((yield* sandbox.requestAccess(account, { useCase, botName })).website)
    }))

  it.effect("and its decision need an account and a request that are there", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.strictEqual(yield* codeOf(sandbox.requestAccess("nobody", form)), "NOT_FOUND")
      assert.strictEqual(yield* codeOf(sandbox.decideAccess("none", "approve")), "NOT_FOUND")
    }))

  it.effect("once approved, access can be suspended, given back and revoked, and its keys follow", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const account = yield* newcomer
      yield* sandbox.decideAccess((yield* sandbox.requestAccess(account, form)).id, "approve")
      const { apiKey } = yield* sandbox.createKey(account)
      const me = call("GET", "/me", { key: apiKey })
      for (
        const [move, outcome] of [
          ["suspend", "403 DEVELOPER_ACCESS_REVOKED"],
          ["restore", undefined],
          ["revoke", "403 DEVELOPER_ACCESS_REVOKED"]
        ] as const
      ) {
        yield* sandbox.setAccess(account, move)
        const reply = yield* me
        assert.strictEqual(reply.status === 200 ? undefined : refusal(reply), outcome, move)
      }
    }))
})

layer(layerInProcess())("a key", (it) => {
  it.effect("is named within bounds and takes scopes that there are", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      for (
        const [field, options] of [
          ["name", { name: "" }],
          ["name", { name: "x".repeat(101) }],
          ["scopes.1", { scopes: ["posts:write", "posts:burn"] }]
        ] as const
      ) {
        const error = yield* Effect.flip(sandbox.createKey("1001", options))
        assert.deepStrictEqual([error.code, error.details], ["VALIDATION_ERROR", { field }])
      }
    }))

  it.effect("is kept without its value", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { apiKey } = yield* sandbox.createKey("1001", { name: "integration" })
      assert.notInclude(JSON.stringify(yield* sandbox.state), Redacted.value(apiKey).slice(4))
    }))
})
