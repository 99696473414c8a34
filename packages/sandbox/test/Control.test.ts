/**
 * The control API: its operations, and the callers that it accepts.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { ControlApi, Sandbox } from "@plaza/sandbox"
import { Effect } from "effect"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import { request } from "node:http"
import { call, control, layerInProcess, layerSocket, messageOf, refusal } from "./support.ts"

layer(layerInProcess())("the control API", (it) => {
  it.effect("is a contract from which a client can be derived", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const client = yield* HttpApiClient.make(ControlApi, { baseUrl: new URL(sandbox.controlUrl).origin })
      assert.deepStrictEqual(yield* client.health(), { status: "ok", seed: 1 })
      assert.deepStrictEqual(yield* client.state(), yield* sandbox.state)
      const { id } = yield* client.addFault({ payload: { kind: "drop", when: "before" } })
      assert.deepStrictEqual((yield* client.listFaults()).data.map((fault) => fault.id), [id])
      yield* client.clearFaults()
      yield* call("GET", "/me")
      assert.deepStrictEqual(yield* client.requests({ query: {} }), { data: yield* sandbox.requests, next: null })
      yield* client.reset()
      assert.deepStrictEqual(yield* sandbox.requests, [])
    }))

  it.effect("is no page for a program that accepts HTML, as that of Java does by default", () =>
    Effect.gen(function*() {
      const headers = { accept: "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2" }
      assert.strictEqual((yield* control("GET", "/health", { headers })).text, `{"status":"ok","seed":1}`)
      assert.strictEqual(refusal(yield* control("GET", "/nowhere", { headers })), "404 NOT_FOUND")
    }))

  it.effect("has the error envelope of the interface", () =>
    Effect.gen(function*() {
      assert.strictEqual(refusal(yield* control("GET", "")), "404 NOT_FOUND")
      assert.strictEqual(refusal(yield* control("GET", "/nowhere")), "404 NOT_FOUND")
      assert.strictEqual(refusal(yield* control("PUT", "/state")), "404 NOT_FOUND")
      assert.strictEqual(refusal(yield* control("GET", "/%zz")), "400 VALIDATION_ERROR path")
      assert.strictEqual(refusal(yield* control("POST", "/faults", { text: "{" })), "400 INVALID_JSON")
    }))

  it.effect("says in plain words what a value must be", () =>
    Effect.gen(function*() {
      const wholeNumber = `"limit" must be a whole number from 1 to 1000`
      const problems: ReadonlyArray<readonly [ReturnType<typeof control>, string]> = [
        [control("GET", "/requests?limit=x"), wholeNumber],
        [control("GET", "/requests?limit="), wholeNumber],
        [control("GET", "/commits?limit=1.5"), wholeNumber],
        [control("GET", "/requests?count=x"), `"count" must be true or empty`],
        [control("POST", "/accounts/nobody/keys", { json: {} }), `there is no account "nobody"`],
        [control("POST", "/keys/k99/revoke"), `there is no key "k99"`],
        [control("POST", "/fixtures", { json: { products: [{ id: "a" }, { id: "" }] } }), `"products.1.id" must not be empty`],
        [control("GET", "/commits?limit=1001"), wholeNumber],
        [control("POST", "/faults", { json: [] }), `"body" is invalid: Expected object, got []`],
        [
          control("POST", "/faults", { json: { kind: "delay", when: "before", millis: "1" } }),
          `"millis" is invalid: Expected number or object, got "1"`
        ],
        [control("POST", "/posts", { json: { text: 1 } }), `"text" is invalid: Expected string, got 1`]
      ]
      for (const [request, problem] of problems) {
        assert.strictEqual(messageOf(yield* request), problem)
      }
    }))

  it.effect("a reset restores the seeded data and clears faults and log", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      const before = yield* sandbox.state
      const { id } = yield* sandbox.createAccount()
      yield* sandbox.setRelation(id, "1001", { blocks: true })
      yield* call("POST", "/posts", { json: { text: "a" } })
      yield* call("POST", "/stories", { json: {} })
      yield* call("PATCH", "/store/products/0042/stock", { json: { stock: 99 } })
      yield* sandbox.addFault({ kind: "drop", when: "before" })
      assert.notDeepEqual(yield* sandbox.state, before)
      assert.strictEqual((yield* control("POST", "/reset")).status, 204)
      assert.deepStrictEqual(yield* sandbox.state, before)
      assert.deepStrictEqual(yield* sandbox.requests, [])
      assert.deepStrictEqual(yield* sandbox.faults, [])
      assert.strictEqual((yield* call("GET", "/me")).status, 200)
    }))

  it.effect("the log has request, decision and response, and never a key", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      yield* call("PATCH", "/store/products/CAP%2FRED%20L/stock?a=b", { json: { stock: 4 } })
      const [record] = yield* sandbox.requests
      const { at: _, durationMillis: ___, id: __, ...rest } = record ?? assert.fail("nothing was logged")
      assert.deepStrictEqual(rest, {
        method: "PATCH",
        path: "/store/products/CAP%2FRED%20L/stock",
        query: "a=b",
        operation: "setStock",
        params: { id: "CAP/RED L" },
        accountId: "1001",
        keyId: "k1",
        status: 200,
        rule: "store.setStock",
        reason: "accepted",
        delivered: "complete",
        deliveredStatus: 200,
        faults: [],
        truncated: false
      })
      const reply = yield* control("GET", "/requests")
      const state = yield* control("GET", "/state")
      assert.notInclude(reply.text + state.text, "key_")
    }))
})

describe("over a socket, the control API", () => {
  /** The status of a request with headers that fetch wouldn't send. */
  const statusUnder = (headers: Readonly<Record<string, string>>) =>
    Effect.flatMap(Sandbox.Sandbox, ({ controlUrl }) =>
      Effect.callback<number | undefined>((resume) => {
        request(`${controlUrl}/health`, { headers }, (response) => {
          response.resume()
          resume(Effect.succeed(response.statusCode))
        }).end()
      }))
  const foreign = [
    { host: "evil.example" },
    { host: "127.evil.example" },
    { host: "localhost.evil.example:80" },
    { host: "192.168.0.7" },
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:4010" },
    { host: "localhost:1", origin: "http://localhost:2" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site" }
  ]

  layer(layerSocket(), { excludeTestServices: true })((it) => {
    it.effect("accepts requests from this machine under any of its own names", () =>
      Effect.gen(function*() {
        for (const headers of [{}, { host: "localhost:1" }, { host: "[::1]:1" }, { host: "127.8.9.1" }, { "sec-fetch-site": "none" }]) {
          assert.strictEqual(yield* statusUnder(headers), 200, JSON.stringify(headers))
        }
      }))

    it.effect("refuses another host name and a page of another origin", () =>
      Effect.gen(function*() {
        for (const headers of foreign) {
          assert.strictEqual(yield* statusUnder(headers), 403, JSON.stringify(headers))
        }
        assert.strictEqual(refusal(yield* control("GET", "/health", { headers: { origin: "http://evil.example" } })), "403 FORBIDDEN")
      }))
  })

  it.live("accepts requests from anyone with control set to anyone, but not from a page of another origin", () =>
    Effect.gen(function*() {
      for (const headers of foreign) {
        assert.strictEqual(yield* statusUnder(headers), "host" in headers && !("origin" in headers) ? 200 : 403, JSON.stringify(headers))
      }
    }).pipe(Effect.provide(layerSocket({ control: "anyone", host: "0.0.0.0", allowedHosts: ["*"] }))))
})
