/**
 * A change takes effect with the next request, however it was made, although
 * callers and the number of the next post are cached.
 */
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { arrayOf, elementOf } from "@plaza/testing/Generators"
import { Arbitrary, Effect, Redacted, Schema } from "effect"
import { call, control, layerInProcess, type Response, someone } from "./support.ts"
import { as, submit } from "./WebPages.ts"

const codeOf = ({ json, status }: Response): string =>
  status < 400
    ? String(status)
    : `${status} ${Schema.decodeUnknownSync(Schema.Struct({ error: Schema.Struct({ code: Schema.String }) }))(json).error.code}`

/** Another account that has just made a request, so that it is cached. */
const knownOne = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const { id } = yield* sandbox.createAccount()
  const key = yield* sandbox.createKey(id)
  const value = Redacted.value(key.apiKey)
  const read = Effect.map(call("GET", "/me", { key: value }), codeOf)
  const write = Effect.map(call("POST", "/posts", { key: value, json: { text: "a" } }), codeOf)
  assert.deepStrictEqual([yield* read, yield* write], ["200", "200"])
  return { id, keyId: key.id, read, write }
})

const requestsPerWindow = 1_000_000
const assumptions = { requestsPerWindow, dailyQuota: requestsPerWindow }

layer(layerInProcess({ assumptions }))("a change takes effect with the next request", (it) => {
  it.effect("when a key is revoked by a program, the control API or the page", () =>
    Effect.gen(function*() {
      const { revokeKey } = yield* Sandbox.Sandbox
      for (
        const revoke of [
          ({ keyId }: { keyId: string }) => revokeKey(keyId),
          ({ keyId }: { keyId: string }) => control("POST", `/keys/${keyId}/revoke`),
          ({ id, keyId }: { id: string; keyId: string }) =>
            submit("/settings/developers", { do: "revoke", key: keyId, confirmed: "yes" }, as(id))
        ]
      ) {
        const one = yield* knownOne
        yield* revoke(one)
        assert.strictEqual(yield* one.read, "401 INVALID_API_KEY")
      }
    }))

  it.effect("when access is suspended and restored by each of these", () =>
    Effect.gen(function*() {
      const { setAccess } = yield* Sandbox.Sandbox
      for (
        const move of [
          (id: string, to: "suspend" | "restore") => setAccess(id, to),
          (id: string, to: "suspend" | "restore") => control("POST", `/accounts/${id}/access`, { json: { move: to } }),
          (id: string, to: "suspend" | "restore") => submit("/operator", { do: "transition", account: id, transition: to })
        ]
      ) {
        const { id, read } = yield* knownOne
        yield* move(id, "suspend")
        assert.strictEqual(yield* read, "403 DEVELOPER_ACCESS_REVOKED")
        yield* move(id, "restore")
        assert.strictEqual(yield* read, "200")
      }
    }))

  it.effect("when a photo or a cover is removed and added", () =>
    Effect.gen(function*() {
      const { setProfile } = yield* Sandbox.Sandbox
      for (const missing of ["photo", "cover"]) {
        const { id, read, write } = yield* knownOne
        yield* setProfile(id, { [missing]: false })
        assert.deepStrictEqual([yield* read, yield* write], ["200", "403 PROFILE_INCOMPLETE"])
        yield* control("PATCH", `/accounts/${id}`, { json: { [missing]: true } })
        assert.deepStrictEqual([yield* read, yield* write], ["200", "200"])
      }
    }))

  it.effect("after a reset", () =>
    Effect.gen(function*() {
      const { reset } = yield* Sandbox.Sandbox
      const { read } = yield* knownOne
      yield* reset
      assert.strictEqual(yield* read, "401 INVALID_API_KEY")
    }))
})

const reads = [
  "/me",
  "/users/1004",
  "/users/by-username/chloe",
  "/me/posts?limit=2",
  "/posts/9007199254740993",
  "/posts/9007199254741000",
  "/store",
  "/store/products?limit=100",
  "/store/products/0042",
  "/store/products/TIDE-TIN-01",
  "/store/orders",
  "/store/orders/000022",
  "/conversations?limit=100",
  "/conversations/conv_303/messages"
]

const writes = {
  post: () => call("POST", "/posts", { json: { text: "new" } }),
  edit: () => call("PATCH", "/posts/9007199254741008", { json: { text: "edited" } }),
  remove: () => call("DELETE", "/posts/9007199254741009"),
  stock: () => call("PATCH", "/store/products/0042/stock", { json: { stock: 3 } }),
  otherStock: () => call("PATCH", "/store/products/0042/stock", { json: { stock: 4 } }),
  ship: () => call("POST", "/store/orders/000022/ship", { json: { carrier: "DHL", trackingNumber: "1" } }),
  message: () => call("POST", "/conversations/conv_303/messages", { json: { text: "hello" } }),
  follow: () => call("POST", "/users/1010/follow"),
  hide: () => control("PATCH", "/accounts/1004", { json: { availability: "suspended" } }),
  show: () => control("PATCH", "/accounts/1004", { json: { availability: "available" } }),
  block: () => control("PATCH", "/relations", { json: { from: "1012", to: "1001", blocks: true } }),
  product: () => control("PUT", "/products", { json: { id: "NEW", name: "New" } }),
  order: () => control("PUT", "/orders", { json: { id: "NEW" } }),
  conversation: () => control("POST", "/conversations", { json: { peerId: "1002" } }),
  fixtures: () => control("POST", "/fixtures", { json: { posts: [{ text: "seeded" }] } }),
  someone: () => someone,
  reset: () => control("POST", "/reset")
}

layer(layerInProcess({ assumptions }))("a repeated read", (it) => {
  it.effect("has the current state after any writes, for every read", () =>
    Effect.gen(function*() {
      // True because `Object.keys` returns the names of these properties.
      const names = elementOf(Object.keys(writes) as Array<keyof typeof writes>)
      let other = 0
      for (const steps of yield* Arbitrary.sampleEffect(arrayOf(names, { minLength: 1, maxLength: 8 }), { count: 8, seed: 7 })) {
        for (const step of steps) {
          yield* writes[step]()
          for (const path of reads) {
            yield* call("GET", path)
            const repeated = yield* call("GET", path)
            // Unknown query parameters are ignored, so this query has the same response, but is new.
            const fresh = yield* call("GET", `${path}${path.includes("?") ? "&" : "?"}other=${++other}`)
            assert.deepStrictEqual([repeated.status, repeated.text], [fresh.status, fresh.text], `${steps.join()}, ${path}`)
          }
        }
      }
    }))
})

const beforeFirst = 9_007_199_254_740_992n
const numberOf = ({ json }: Response): number =>
  Number(BigInt(Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))(json).id) - beforeFirst)

const create = Effect.map(call("POST", "/posts", { json: { text: "new" } }), numberOf)
const seed = (fixtures: object) => Effect.map(control("POST", "/fixtures", { json: fixtures }), ({ status }) => status)

/** Each step changes what the last number is: by how many posts it adds, or to that of the initial state or of the snapshot. */
const steps = {
  one: () => Effect.as(create, 1),
  five: () => Effect.as(Effect.all(Array.from({ length: 5 }, () => create), { concurrency: "unbounded" }), 5),
  seed: () => Effect.map(seed({ posts: [{ text: "a" }, { text: "b" }] }), (status) => status === 204 ? 2 : Number.NaN),
  rolledBack: () =>
    Effect.map(seed({ posts: [{ text: "a" }, { text: "b", mediaIds: ["unknown"] }] }), (status) => status === 400 ? 0 : Number.NaN),
  generate: () => Effect.map(seed({ generate: { posts: 3 } }), (status) => status === 204 ? 3 : Number.NaN),
  remove: (last: number) => Effect.as(call("DELETE", `/posts/${beforeFirst + BigInt(last)}`), 0),
  restore: () => Effect.as(control("POST", "/snapshots/saved/restore"), "saved" as const),
  reset: () => Effect.as(control("POST", "/reset"), "initial" as const)
}

layer(layerInProcess({ assumptions }))("the number of a new post", (it) => {
  it.effect("follows the last one, after seeds, rolled back seeds, deletions, snapshots and resets in any order", () =>
    Effect.gen(function*() {
      const last = { initial: (yield* create) - 1, saved: 0, now: 0 }
      last.saved = yield* create
      yield* control("POST", "/snapshots", { json: { name: "saved" } })
      last.now = last.saved
      // True because `Object.keys` returns the names of these properties.
      const names = arrayOf(elementOf(Object.keys(steps) as Array<keyof typeof steps>), {
        minLength: 20,
        maxLength: 40
      })
      for (const drawn of yield* Arbitrary.sampleEffect(names, { count: 10, seed: 7 })) {
        for (const step of drawn) {
          const change = yield* steps[step](last.now)
          last.now = typeof change === "number" ? last.now + change : last[change]
          assert.strictEqual(yield* create, ++last.now, `after ${step}`)
        }
      }
    }))
})
