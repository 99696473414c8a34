/**
 * The document's rules on access and keys, over a socket. `docs/sandbox-rules.md` lists
 * the test of each rule.
 */
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Redacted } from "effect"
import { operations } from "../../src/InterfaceApi.ts"
import { call, control, field, layerSocket, refusal, someone, Transport } from "../support.ts"

/** Every endpoint. Key and profile are checked before the id, so any id does. */
const endpoints = [...operations.values()].map(({ method, path }) => ({ method, path: path.replace(/:\w+/, "1") }))

const form = { useCase: "Keeps the stock of our shop right.", website: "https://shop.example", botName: "Stock keeper" }
const newcomer = Effect.flatMap(Sandbox.Sandbox, ({ createAccount }) => Effect.map(createAccount({ access: "none" }), ({ id }) => id))
const ask = (account: string, json: Readonly<Record<string, unknown>> = form) =>
  control("POST", `/accounts/${account}/access-requests`, { json })
const decide = (request: unknown, decision: string) =>
  control("POST", `/access-requests/${String(request)}/decision`, { json: { decision } })
const makeKey = (account: string, json: Readonly<Record<string, unknown>> = {}) => control("POST", `/accounts/${account}/keys`, { json })
/** A page for a visitor who acts for an account. */
const page = (path: string, account: string) =>
  Effect.gen(function*() {
    const { webUrl } = yield* Sandbox.Sandbox
    const { send } = yield* Transport
    return (yield* send("GET", new URL(path, webUrl).href, { key: null, headers: { cookie: `plaza_account=${account}` } })).text
  })
const value = (reply: Parameters<typeof field>[0]) => String(field(reply, "apiKey"))

layer(layerSocket({ assumptions: { requestsPerWindow: 10_000 } }), { excludeTestServices: true })("access", (it) => {
  it.effect("is requested with a use case, a bot name and an optional website", () =>
    Effect.gen(function*() {
      const account = yield* newcomer
      assert.strictEqual(refusal(yield* ask(account, { ...form, useCase: "" })), "400 VALIDATION_ERROR useCase")
      assert.strictEqual(refusal(yield* ask(account, { ...form, botName: "" })), "400 VALIDATION_ERROR botName")
      const { website: _, ...without } = form
      const asked = yield* ask(account, without)
      assert.strictEqual(asked.status, 200)
      assert.deepInclude(asked.json, without)
    }))

  it.effect("is pending until the decision, then approved or declined", () =>
    Effect.gen(function*() {
      for (const [decision, status] of [["approve", "approved"], ["decline", "declined"]] as const) {
        const asked = yield* ask(yield* newcomer)
        assert.strictEqual(field(asked, "status"), "pending")
        assert.strictEqual(field(yield* decide(field(asked, "id"), decision), "status"), status)
        assert.strictEqual(refusal(yield* decide(field(asked, "id"), "approve")), "409 CONFLICT")
      }
    }))

  it.effect("has its status on the page of the request, and its bot name on the operator page and in the list of keys", () =>
    Effect.gen(function*() {
      const account = yield* newcomer
      const developers = page("/settings/developers", account)
      const asked = yield* ask(account, { ...form, botName: "Rosie the bot" })
      assert.include(yield* developers, "pending")
      assert.include(yield* page("/operator", account), "Rosie the bot")
      yield* decide(field(asked, "id"), "approve")
      assert.include(yield* developers, "approved")
      yield* makeKey(account, { name: "The key of a bot" })
      const [, keys = ""] = (yield* developers).split("The key of a bot")
      assert.include(keys, "Rosie the bot")
    }))

  it.effect("allows keys only after approval", () =>
    Effect.gen(function*() {
      const account = yield* newcomer
      assert.strictEqual(refusal(yield* makeKey(account)), "409 CONFLICT")
      const asked = yield* ask(account)
      assert.strictEqual(refusal(yield* makeKey(account)), "409 CONFLICT")
      yield* decide(field(asked, "id"), "approve")
      assert.strictEqual((yield* call("GET", "/me", { key: value(yield* makeKey(account)) })).status, 200)
    }))

  it.effect("that is suspended or revoked refuses every call, writes and reads", () =>
    Effect.gen(function*() {
      const { id, key } = yield* someone
      for (const move of ["suspend", "revoke"] as const) {
        yield* control("POST", `/accounts/${id}/access`, { json: { move } })
        const reply = yield* call("GET", "/me", { key })
        assert.strictEqual(refusal(reply), "403 DEVELOPER_ACCESS_REVOKED")
        assert.include(reply.text, "support@sandbox.localhost")
        assert.strictEqual(refusal(yield* call("POST", "/posts", { key, json: { text: "a" } })), "403 DEVELOPER_ACCESS_REVOKED")
      }
    }))

  it.effect("acts on the account that owns the key", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* someone, yield* someone]
      assert.strictEqual(field(yield* call("GET", "/me", { key: one.key }), "id"), one.id)
      const post = yield* call("POST", "/posts", { key: two.key, json: { text: "by two" } })
      const { posts } = yield* (yield* Sandbox.Sandbox).state
      assert.strictEqual(posts.find(({ id }) => id === field(post, "id"))?.authorId, two.id)
    }))

  it.effect("of an account without photo or cover allows only reads: every write is refused", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      for (const lacking of [{ photo: false }, { cover: false }]) {
        const { id } = yield* sandbox.createAccount(lacking)
        const { apiKey: key } = yield* sandbox.createKey(id)
        for (const { method, path } of endpoints.filter(({ method }) => method !== "GET")) {
          assert.strictEqual(refusal(yield* call(method, path, { key, json: {} })), "403 PROFILE_INCOMPLETE", path)
        }
        for (const path of ["/me", "/users/1002", "/users/by-username/chloe", "/me/posts", "/conversations"]) {
          assert.strictEqual((yield* call("GET", path, { key })).status, 200, path)
        }
        yield* control("PATCH", `/accounts/${id}`, { json: { photo: true, cover: true } })
        assert.strictEqual((yield* call("POST", "/posts", { key, json: { text: "a" } })).status, 200)
      }
    }))
})

layer(layerSocket({ assumptions: { requestsPerWindow: 10_000 } }), { excludeTestServices: true })("a key", (it) => {
  it.effect("is sent as a bearer token in the Authorization header, and nowhere else", () =>
    Effect.gen(function*() {
      const key = Redacted.value((yield* Sandbox.Sandbox).apiKey)
      assert.strictEqual((yield* call("GET", "/me", { key: null, headers: { authorization: `Bearer ${key}` } })).status, 200)
      for (
        const headers of [{}, { authorization: key }, { authorization: `Basic ${key}` }, { "x-api-key": key }, { cookie: `key=${key}` }]
      ) {
        assert.strictEqual(refusal(yield* call("GET", "/me", { key: null, headers })), "401 INVALID_API_KEY", Object.keys(headers).join())
      }
      assert.strictEqual(refusal(yield* call("GET", `/me?key=${key}`, { key: null })), "401 INVALID_API_KEY")
    }))

  it.effect("is required by every endpoint", () =>
    Effect.gen(function*() {
      for (const { method, path } of endpoints) {
        assert.strictEqual(refusal(yield* call(method, path, { key: null })), "401 INVALID_API_KEY", `${method} ${path}`)
      }
    }))

  it.effect("is a prefix, an underscore and 40 characters; any other form is refused", () =>
    Effect.gen(function*() {
      const { id } = yield* someone
      const made = value(yield* makeKey(id))
      assert.match(made, /^key_[A-Za-z0-9]{40}$/)
      assert.strictEqual((yield* call("GET", "/me", { key: made })).status, 200)
      for (const key of [made.slice(0, -1), `${made}0`, made.slice(4), made.toUpperCase(), `key_${"-".repeat(40)}`, "key_"]) {
        assert.strictEqual(refusal(yield* call("GET", "/me", { key })), "401 INVALID_API_KEY", key)
      }
    }))

  it.effect("is shown once, in the response that creates it", () =>
    Effect.gen(function*() {
      const { id } = yield* someone
      const made = value(yield* makeKey(id, { name: "once" }))
      yield* call("GET", "/me", { key: made })
      for (const path of ["/state", "/requests", "/health"]) {
        assert.notInclude((yield* control("GET", path)).text, made.slice(4, -4), path)
      }
    }))

  it.effect("has a name and selected scopes, and allows only their calls", () =>
    Effect.gen(function*() {
      const { id } = yield* someone
      const made = yield* makeKey(id, { name: "poster", scopes: ["posts:write"] })
      assert.strictEqual((yield* call("POST", "/posts", { key: value(made), json: { text: "a" } })).status, 200)
      const reply = yield* call("GET", "/me/posts", { key: value(made) })
      assert.strictEqual(refusal(reply), "403 INSUFFICIENT_SCOPE")
      const { keys } = yield* (yield* Sandbox.Sandbox).state
      assert.deepInclude({ ...keys.find((key) => key.id === field(made, "id")) }, {
        name: "poster",
        scopes: ["posts:write"],
        accountId: id
      })
    }))

  it.effect("can have 13 scopes, each an area and an action; posts:write is one", () =>
    Effect.gen(function*() {
      const { keys: [ready] } = yield* (yield* Sandbox.Sandbox).state
      const scopes = ready?.scopes ?? []
      assert.strictEqual(new Set(scopes).size, 13)
      assert.isTrue(scopes.every((scope) => /^[a-z]+:[a-z]+$/.test(scope)), scopes.join())
      assert.include(scopes, "posts:write")
    }))

  it.effect("is one of at most five active keys; a revoked key does not count", () =>
    Effect.gen(function*() {
      const account = (yield* (yield* Sandbox.Sandbox).createAccount()).id
      const made = yield* Effect.replicateEffect(makeKey(account), 5)
      assert.deepStrictEqual(made.map(({ status }) => status), [200, 200, 200, 200, 200])
      assert.strictEqual(refusal(yield* makeKey(account)), "409 CONFLICT")
      const [first] = made
      yield* control("POST", `/keys/${String(first === undefined ? "" : field(first, "id"))}/revoke`)
      assert.strictEqual((yield* makeKey(account)).status, 200)
      assert.strictEqual(refusal(yield* makeKey(account)), "409 CONFLICT")
    }))

  it.effect("can be revoked at any time, and every later call with it is refused", () =>
    Effect.gen(function*() {
      const { id } = yield* someone
      const made = yield* makeKey(id)
      const other = yield* makeKey(id)
      yield* control("POST", `/accounts/${id}/access`, { json: { move: "suspend" } })
      assert.strictEqual((yield* control("POST", `/keys/${String(field(made, "id"))}/revoke`)).status, 204)
      yield* control("POST", `/accounts/${id}/access`, { json: { move: "restore" } })
      for (const [method, path] of [["GET", "/me"], ["POST", "/posts"], ["GET", "/conversations"]] as const) {
        assert.strictEqual(refusal(yield* call(method, path, { key: value(made) })), "401 INVALID_API_KEY")
      }
      assert.strictEqual((yield* call("GET", "/me", { key: value(other) })).status, 200)
    }))
})
