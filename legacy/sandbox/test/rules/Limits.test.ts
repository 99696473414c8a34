/**
 * The document's rules on limits and retries, over a socket and with the virtual clock.
 * `docs/sandbox-rules.md` lists the test of each rule.
 */
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Duration, Effect } from "effect"
import { call, control, layerSocket, refusal, type Request, someone } from "../support.ts"

const me = (request: Request = {}) => call("GET", "/me", request)
const advance = (by: Duration.DurationInput) => Effect.flatMap(Sandbox.Sandbox, ({ advanceClock }) => advanceClock(by))
const retryAfter = (reply: { readonly headers: Readonly<Record<string, string | undefined>> }) => Number(reply.headers["retry-after"])

layer(layerSocket(), { excludeTestServices: true })("the rate", (it) => {
  it.effect("is 120 requests a minute for each key: the next is refused until Retry-After, and other keys are not affected", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id, key } = yield* someone
      const { apiKey: other } = yield* sandbox.createKey(id)
      const statuses = yield* Effect.replicateEffect(Effect.map(me({ key }), ({ status }) => status), 120)
      assert.isTrue(statuses.every((status) => status === 200))
      const refused = yield* me({ key })
      assert.strictEqual(refusal(refused), "429 RATE_LIMITED")
      assert.match(refused.headers["retry-after"] ?? "", /^\d+$/)
      assert.isAtMost(retryAfter(refused), 60)
      assert.isAtLeast(retryAfter(refused), 1)
      assert.strictEqual((yield* me({ key: other })).status, 200)
      yield* advance(Duration.seconds(retryAfter(refused)))
      assert.strictEqual((yield* me({ key })).status, 200)
    }))

  it.effect("counts every request of the key, refused ones included, for any endpoint", () =>
    Effect.gen(function*() {
      const { key } = yield* someone
      yield* Effect.replicateEffect(call("POST", "/posts", { key, text: "{" }), 60, { discard: true })
      yield* Effect.replicateEffect(call("GET", "/users/none", { key }), 60, { discard: true })
      assert.strictEqual(refusal(yield* me({ key })), "429 RATE_LIMITED")
    }))
})

layer(layerSocket({ assumptions: { dailyQuota: 3 } }), { excludeTestServices: true })("the daily quota", (it) => {
  it.effect("is shared by all keys of an account: beyond it requests are refused until the day ends, and other accounts are not affected", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id, key } = yield* someone
      const { apiKey: second } = yield* sandbox.createKey(id)
      for (const one of [key, second, key]) {
        assert.strictEqual((yield* me({ key: one })).status, 200)
      }
      for (const one of [key, second]) {
        const refused = yield* me({ key: one })
        assert.strictEqual(refusal(refused), "429 RATE_LIMITED")
        assert.isAtMost(retryAfter(refused), Duration.toSeconds("1 day"))
      }
      assert.strictEqual((yield* me()).status, 200)
      yield* advance(Duration.seconds(retryAfter(yield* me({ key }))))
      assert.strictEqual((yield* me({ key })).status, 200)
    }))
})

layer(layerSocket(), { excludeTestServices: true })("a retry", (it) => {
  it.effect("succeeds after a failure of the service with each status of the document", () =>
    Effect.gen(function*() {
      for (const status of [500, 502, 503, 504]) {
        yield* control("POST", "/faults", { json: { kind: "status", when: "before", status } })
        assert.strictEqual((yield* me()).status, status)
        assert.strictEqual((yield* me()).status, 200)
      }
    }))

  it.effect("of a post with a lost response finds the post in the list", () =>
    Effect.gen(function*() {
      yield* control("POST", "/faults", { json: { kind: "status", when: "after", status: 500, path: "/posts" } })
      const post = call("POST", "/posts", { json: { text: "once is enough" } })
      assert.strictEqual((yield* post).status, 500)
      assert.include((yield* call("GET", "/me/posts?limit=1")).text, "once is enough")
    }))
})
