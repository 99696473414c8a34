/**
 * The record of commits is bounded in bytes, and is read in pages over the control API.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Latitude, Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Layer, Schema } from "effect"
import * as Commits from "../src/http/Commits.ts"
import * as CurrentLatitude from "../src/latitude/CurrentLatitude.ts"
import { call, control, layerInProcess, refusal } from "./support.ts"

const commitsLayer = Layer.provide(
  Commits.layer,
  Layer.succeed(CurrentLatitude.CurrentLatitude, CurrentLatitude.make(Latitude.defaults))
)
const readPage = Schema.decodeUnknownSync(Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, operation: Schema.String })),
  next: Schema.NullOr(Schema.String)
}))
const idsOf = (page: { readonly data: ReadonlyArray<{ readonly id: string }> }) => page.data.map(({ id }) => id)
const numbered = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => `commit_${first + index}`)

const write = { requestId: "req_1", operation: "createComment", accountId: "1001", createdId: null, isLate: false }

/** Adds commits with a text as the payload and a parameter. */
const filled = (count: number, text: string, param: string) =>
  Effect.gen(function*() {
    const commits = yield* Commits.Commits
    const payload = { text }
    const added = { ...write, params: { id: param }, payload, payloadBytes: Buffer.byteLength(JSON.stringify(payload)) }
    for (let index = 0; index < count; index++) {
      yield* commits.add(added)
    }
    return commits
  })

describe("the record of commits", () => {
  for (const [what, payload, param] of [["payloads", "é".repeat(10_000), "p"], ["parameters", "p", "é".repeat(10_000)]] as const) {
    it.effect(`keeps at most 32 MB, however large the ${what} are, and drops the oldest`, () =>
      Effect.gen(function*() {
        const commits = yield* filled(4_000, payload, param)
        const all = yield* commits.all
        const bytes = all.reduce((sum, { params, payload }) => sum + Buffer.byteLength(JSON.stringify([params, payload])), 0)
        assert.isAtMost(bytes, Commits.maxBytes)
        assert.isAbove(all.length, 500)
        assert.strictEqual(all.at(-1)?.id, "commit_4000")
      }).pipe(Effect.provide(commitsLayer)))

    it.effect(`has pages of at most 4 MiB if the ${what} are large`, () =>
      Effect.gen(function*() {
        const commits = yield* filled(700, payload, param)
        const ids: Array<string> = []
        let after: string | null = "commit_0"
        while (after !== null) {
          const page: Commits.CommitPage = yield* commits.read({ after })
          assert.isAtMost(Buffer.byteLength(JSON.stringify(page)), 4 * 1024 * 1024)
          ids.push(...idsOf(page))
          after = page.next
        }
        assert.deepStrictEqual(ids, numbered(1, 700))
      }).pipe(Effect.provide(commitsLayer)))
  }

  it.effect("has pages of at most 4 MiB if numbers take more room than they did as they were sent", () =>
    Effect.gen(function*() {
      const commits = yield* Commits.Commits
      const payload = { stock: 1, others: Array.from({ length: 20_000 }, () => 1e20) }
      yield* Effect.replicateEffect(
        commits.add({ ...write, params: {}, payload, payloadBytes: 20_000 * "1e20,".length }),
        30
      )
      const page = yield* commits.read({})
      assert.isAtMost(Buffer.byteLength(JSON.stringify(page)), 4 * 1024 * 1024)
      assert.isAbove(page.data.length, 5)
    }).pipe(Effect.provide(commitsLayer)))

  it.effect("has room for any number of writes with a body that the operation ignores", () =>
    Effect.gen(function*() {
      const text = JSON.stringify("x".repeat(1_000_000))
      const likes = yield* Effect.replicateEffect(call("POST", "/posts/9007199254740993/like", { text }), 70)
      assert.deepStrictEqual(new Set(likes.map(({ status }) => status)), new Set([204]))
      assert.lengthOf(readPage((yield* control("GET", "/commits?operation=likePost")).json).data, 70)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("has pages of at most 1,000, by default the newest", () =>
    Effect.gen(function*() {
      const commits = yield* filled(2_500, "a", "b")
      assert.deepStrictEqual(idsOf(yield* commits.read({})), numbered(1_501, 2_500))
      assert.deepStrictEqual(idsOf(yield* commits.read({ after: "commit_900" })), numbered(901, 1_900))
      assert.lengthOf(yield* commits.all, 2_500)
    }).pipe(Effect.provide(commitsLayer)))
})

layer(layerInProcess())("the record of commits, over the control API", (it) => {
  it.effect("lists the newest by default, pages after any commit, and filters by operation", () =>
    Effect.gen(function*() {
      yield* Effect.replicateEffect(call("PATCH", "/store/products/0042/stock", { json: { stock: 1 } }), 5, { discard: true })
      yield* call("POST", "/posts", { json: { text: "a" } })
      const all = readPage((yield* control("GET", "/commits")).json)
      assert.deepStrictEqual([idsOf(all), all.next], [numbered(1, 6), null])
      const newest = readPage((yield* control("GET", "/commits?limit=2")).json)
      assert.deepStrictEqual([idsOf(newest), newest.next], [numbered(5, 6), null])
      const first = readPage((yield* control("GET", "/commits?after=commit_0&limit=4")).json)
      assert.deepStrictEqual([idsOf(first), first.next], [numbered(1, 4), "commit_4"])
      const second = readPage((yield* control("GET", "/commits?after=commit_4&limit=4")).json)
      assert.deepStrictEqual([idsOf(second), second.next], [numbered(5, 6), null])
      assert.deepStrictEqual(idsOf(readPage((yield* control("GET", "/commits?after=commit_99")).json)), numbered(1, 6))
      assert.deepStrictEqual(idsOf(readPage((yield* control("GET", "/commits?operation=createPost")).json)), ["commit_6"])
      for (const query of ["limit=0", "limit=1001", "after=req_1", "rule=x"]) {
        assert.match(refusal(yield* control("GET", `/commits?${query}`)), /^400 VALIDATION_ERROR/, query)
      }
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      assert.deepStrictEqual(readPage((yield* control("GET", "/commits?after=commit_0")).json), { data: [], next: null })
    }))
})
