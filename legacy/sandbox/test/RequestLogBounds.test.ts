/**
 * The request log is bounded in bytes, is read in pages, and contains nothing that has the form of a key.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Latitude, Sandbox } from "@plaza-legacy/sandbox"
import { Effect, FastCheck, Layer, Random, Redacted, Schema } from "effect"
import { vi } from "vitest"
import * as KeyMask from "../src/http/KeyMask.ts"
import * as RequestLog from "../src/http/RequestLog.ts"
import * as CurrentLatitude from "../src/latitude/CurrentLatitude.ts"
import { call, control, layerInProcess } from "./support.ts"

const logLayer = Layer.provide(
  RequestLog.layer,
  Layer.succeed(CurrentLatitude.CurrentLatitude, CurrentLatitude.make(Latitude.defaults))
)

const readPage = Schema.decodeUnknownSync(Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, path: Schema.String })),
  next: Schema.NullOr(Schema.String)
}))

describe("the request log", () => {
  const filled = (requests: number, length: number) =>
    Effect.gen(function*() {
      const log = yield* RequestLog.RequestLog
      for (let index = 0; index < requests; index++) {
        log.noteDecision(log.open("GET", `/${"p".repeat(length)}`, "q".repeat(length), 0), {
          rule: "admission.route",
          reason: "r".repeat(length)
        })
      }
      return log
    })

  it.effect("keeps at most 16 MiB, however large its requests are", () =>
    Effect.gen(function*() {
      const log = yield* filled(5_000, 14_500)
      const all = yield* log.all
      const characters = all.reduce((sum, { path, query, reason }) => sum + path.length + query.length + (reason?.length ?? 0), 0)
      assert.isAtMost(2 * characters, 16 * 1024 * 1024)
      assert.isAbove(all.length, 1_000)
      assert.strictEqual(all.at(-1)?.id, "req_5000")
    }).pipe(Effect.provide(logLayer)))

  it.effect("marks a cut record", () =>
    Effect.gen(function*() {
      const log = yield* filled(1, 14_500)
      const [record] = yield* log.all
      assert.deepInclude(record, { truncated: true, query: `${"q".repeat(2_000)}…`, reason: `${"r".repeat(500)}…` })
      log.open("GET", "/me", "", 0)
      assert.isFalse((yield* log.all)[1]?.truncated)
    }).pipe(Effect.provide(logLayer)))

  it.effect("keeps the last 10,000 small requests", () =>
    Effect.gen(function*() {
      const log = yield* filled(25_000, 10)
      const all = yield* log.all
      assert.strictEqual((yield* log.read({})).data.length, 1_000)
      assert.deepStrictEqual([all.length, all[0]?.id, all.at(-1)?.id], [10_000, "req_15001", "req_25000"])
    }).pipe(Effect.provide(logLayer)))

  it.effect("has pages of at most 4 MiB", () =>
    Effect.gen(function*() {
      const log = yield* filled(3_000, 2_000)
      const ids: Array<string> = []
      let after: string | null = "req_0"
      while (after !== null) {
        const page: RequestLog.RequestPage = yield* log.read({ after })
        assert.isAtMost(JSON.stringify(page).length, 4 * 1024 * 1024)
        ids.push(...page.data.map(({ id }) => id))
        after = page.next
      }
      assert.deepStrictEqual(ids, (yield* log.all).map(({ id }) => id))
      assert.strictEqual((yield* log.read({})).data.at(-1)?.id, "req_3000")
    }).pipe(Effect.provide(logLayer)))
})

layer(layerInProcess())("the request log, over the control API", (it) => {
  it.effect("lists the newest by default, and pages after any request", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* Effect.replicateEffect(call("GET", "/me"), 12, { discard: true })
      const ids = (yield* sandbox.requests).map(({ id }) => id)
      const newest = readPage((yield* control("GET", "/requests?limit=5")).json)
      assert.deepStrictEqual([newest.data.map(({ id }) => id), newest.next], [ids.slice(-5), null])
      const first = readPage((yield* control("GET", "/requests?after=req_0&limit=7")).json)
      assert.deepStrictEqual(first.data.map(({ id }) => id), ids.slice(0, 7))
      const second = readPage((yield* control("GET", `/requests?after=${first.next ?? ""}&limit=7`)).json)
      assert.deepStrictEqual([second.data.map(({ id }) => id), second.next], [ids.slice(7), null])
    }))

  it.effect("shows no key of a path or a query, unencoded or percent-encoded", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { apiKey } = yield* sandbox.createKey("1001")
      for (const value of [Redacted.value(sandbox.apiKey), Redacted.value(apiKey)]) {
        const all = Array.from(value, (character) => `%${character.charCodeAt(0).toString(16)}`).join("")
        for (const written of [value, all, all.replaceAll("%", "%25"), value.replace("_", "%5F"), `x${value}${value}`]) {
          yield* sandbox.reset.pipe(Effect.zipRight(call("GET", `/users/${written}?token=${written}`)),
            Effect.zipRight(call("GET", `/nowhere/${written}`)))
          const shown = [JSON.stringify(yield* sandbox.requests), (yield* control("GET", "/requests")).text].join("")
          for (const secret of [value, encodeURIComponent(value), all, all.replaceAll("%", "%25")]) {
            assert.notInclude(shown, secret.slice("key_".length), written)
          }
          assert.include(shown, "key_***")
        }
      }
    }))

  it.prop("masks a key however it is percent-encoded, and nothing else", [
    FastCheck.array(FastCheck.boolean(), { minLength: 44, maxLength: 44 })
  ], ([choices]) => {
    const value = `key_${"aZ09".repeat(10)}`
    const written = Array.from(value,
      (character, index) => choices[index] === true ? `%${character.charCodeAt(0).toString(16)}` : character).join("")
    assert.strictEqual(KeyMask.make(new Set()).text(`a=${written}&b=key_short`), "a=key_***&b=key_short")
  })
})

describe("a key that is created at run time", () => {
  it.scoped("comes from no generator that a program can seed or repeat", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(Math, "random").mockReturnValue(0.5)),
        (random) => Effect.sync(() => random.mockRestore())
      )
      const made = () =>
        Effect.gen(function*() {
          const { createKey } = yield* Sandbox.Sandbox
          return Redacted.value((yield* createKey("1001")).apiKey)
        }).pipe(Effect.provide(layerInProcess()), Effect.withRandom(Random.make("the same")))
      const [one, other] = [yield* made(), yield* made()]
      assert.match(one, /^key_[A-Za-z0-9]{40}$/)
      assert.notStrictEqual(one, other)
    }))
})
