/** Filters of the request log, and the number of requests that match. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Schema } from "effect"
import { call, control, layerInProcess, layerSocket, messageOf, refusal, someone } from "./support.ts"

const Page = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

/** What the control API returns for a query. */
const read = (query: string) => Effect.map(control("GET", `/requests?${query}`), ({ json }) => json)

for (const [way, provide] of [["in process", layerInProcess], ["over a socket", layerSocket]] as const) {
  describe(`the request log ${way}`, () => {
    it.effect("counts the requests that match every filter, with * for any run of characters", () =>
      Effect.gen(function*() {
        const other = yield* someone
        const { addFault, countRequests } = yield* Sandbox.Sandbox
        yield* call("GET", "/me")
        yield* call("POST", "/posts", { json: { text: "a" } })
        yield* call("POST", "/posts", { json: {} })
        yield* call("POST", "/posts", { key: other.key, json: { text: "b" } })
        yield* addFault({ kind: "status", when: "after", status: 503 })
        yield* call("GET", "/users/1002")
        yield* addFault({ kind: "status", when: "before", status: 502 })
        yield* call("GET", "/users/1003")
        const cases = [
          ["", 6],
          ["method=POST", 3],
          ["method=P*", 3],
          ["path=/posts", 3],
          ["path=/users/*", 2],
          ["operation=createPost&status=200", 2],
          ["operation=*Post&status=4*", 1],
          ["operation=getUser*&status=200", 1],
          ["deliveredStatus=50*", 2],
          ["rule=fault", 1],
          ["fault=fault_1", 1],
          ["fault=*", 2],
          [`account=${other.id}`, 1],
          [`account=${other.username}`, 1],
          ["account=corner-shop", 5],
          ["account=nobody", 0]
        ] as const
        for (const [query, expected] of cases) {
          assert.deepStrictEqual(yield* read(`${query}&count`), { count: expected }, query)
          assert.deepStrictEqual(yield* read(`count=true&${query}`), { count: expected }, query)
          assert.lengthOf(Schema.decodeUnknownSync(Page)(yield* read(query)).data, expected, query)
        }
        assert.strictEqual(yield* countRequests({ method: "POST", account: other.id }), 1)
        assert.strictEqual(yield* countRequests(), 6)
      }).pipe(Effect.provide(provide())))
  })
}

describe("a filter that can match no call", () => {
  it.effect("is refused, in faults too", () =>
    Effect.gen(function*() {
      const problems = {
        "path=/open/v1/posts": "\"path\" must begin with / or *, without /open/v1, such as /posts",
        "path=posts": "\"path\" must begin with / or *, without /open/v1, such as /posts",
        "mehtod=POST": "\"mehtod\" is not a known field: did you mean method?"
      }
      for (const [query, problem] of Object.entries(problems)) {
        assert.strictEqual(messageOf(yield* control("GET", `/requests?${query}&count`)), problem)
        const fault = { kind: "drop", when: "before", ...Object.fromEntries(new URLSearchParams(query)) }
        assert.strictEqual(messageOf(yield* control("POST", "/faults", { json: fault })), problem)
      }
      assert.strictEqual(messageOf(yield* control("GET", "/requests?method=post&count")), "\"method\" must be in capitals, such as POST")
      for (const method of ["post", "PO*", "GTE"]) {
        assert.strictEqual(
          messageOf(yield* control("POST", "/faults", { json: { kind: "drop", when: "before", method } })),
          "\"method\" must be * or a method in capitals, such as POST"
        )
      }
      assert.strictEqual(
        messageOf(yield* control("GET", "/requests?operation=createPosts&count")),
        "\"operation\" is unknown: did you mean createPost? * matches any run of characters"
      )
      assert.strictEqual(messageOf(yield* control("POST", "/faults", { json: { kind: "drop" } })), "\"when\" is missing")
      assert.deepStrictEqual(yield* read("path=*/open/v1/posts&count"), { count: 0 })
    }).pipe(Effect.provide(layerInProcess())))
})

describe("the number of requests", () => {
  it.effect("does not depend on the page", () =>
    Effect.gen(function*() {
      yield* Effect.replicateEffect(call("GET", "/me"), 3)
      assert.deepStrictEqual(yield* read("after=req_2&limit=1&count"), { count: 3 })
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("with a fault counts none that an earlier, removed fault hit", () =>
    Effect.gen(function*() {
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "before", status: 503 })
      yield* call("GET", "/me")
      yield* clearFaults
      const id = yield* addFault({ kind: "status", when: "before", status: 503, path: "/posts" })
      assert.deepStrictEqual(yield* read(`fault=${id}&count`), { count: 0 })
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("is refused for a filter that does not exist, or another value of count", () =>
    Effect.gen(function*() {
      assert.strictEqual(refusal(yield* control("GET", "/requests?paht=/me&count")), "400 VALIDATION_ERROR paht")
      assert.strictEqual(refusal(yield* control("GET", "/requests?count=no")), "400 VALIDATION_ERROR count")
    }).pipe(Effect.provide(layerInProcess())))
})
