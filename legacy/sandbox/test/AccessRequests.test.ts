/**
 * Developer access: requests, decisions and their effect on keys.
 */
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Redacted } from "effect"
import { call, layerInProcess, refusal } from "./support.ts"

const form = { useCase: "Keeps the stock of our shop right.", website: "https://shop.example/about", botName: "Stock keeper" }
const codeOf = (effect: Effect.Effect<unknown, { readonly code: string }>) => Effect.map(Effect.flip(effect), ({ code }) => code)
const newcomer = Effect.flatMap(Sandbox.Sandbox, (sandbox) => Effect.map(sandbox.createAccount({ access: "none" }), ({ id }) => id))

layer(layerInProcess())("a request for access", (it) => {
  it.effect("is pending first, and keys can be created only after its approval", () =>
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

  it.effect("grants no access when it is declined, and can be submitted again", () =>
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

  it.effect("must be decided before the account can submit another one", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const account = yield* newcomer
      yield* sandbox.requestAccess(account, form)
      assert.strictEqual(yield* codeOf(sandbox.requestAccess(account, form)), "CONFLICT")
    }))

  it.effect("is refused for an account that has or had access", () =>
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

  it.effect("can be approved or declined after access was granted meanwhile, which does not change", () =>
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

  it.effect("does not restore access that was suspended or revoked meanwhile: it stays pending until access is restored", () =>
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

  it.effect("requires a use case and a bot name; the website is optional, but must be an address", () =>
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

  it.effect("and its decision require an existing account and an existing request", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.strictEqual(yield* codeOf(sandbox.requestAccess("nobody", form)), "NOT_FOUND")
      assert.strictEqual(yield* codeOf(sandbox.decideAccess("none", "approve")), "NOT_FOUND")
    }))

  it.effect("once approved, access can be suspended, restored and revoked, with effect on its keys", () =>
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
  it.effect("has a name of limited length and only known scopes", () =>
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

  it.effect("is stored without its value", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { apiKey } = yield* sandbox.createKey("1001", { name: "integration" })
      assert.notInclude(JSON.stringify(yield* sandbox.state), Redacted.value(apiKey).slice(4))
    }))
})
