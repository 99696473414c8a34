/**
 * Named snapshots: saved and restored in memory and in a data file, with the clock and uploaded files.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { assert, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Schema } from "effect"
import * as FileSystem from "effect/FileSystem"
import { readdirSync } from "node:fs"
import { call, control, layerInProcess, refusal } from "./support.ts"

const readNames = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(Schema.Struct({ name: Schema.String, rows: Schema.Int })) }))

const upload = (name: string) =>
  Effect.suspend(() => {
    const form = new FormData()
    form.append("file", new Blob([name], { type: "text/plain" }), name)
    return call("POST", "/media", { form })
  })

/** Changes data of every kind. */
const change = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  yield* call("POST", "/posts", { json: { text: "changed" } })
  yield* call("PATCH", "/store/products/0042/stock", { json: { stock: 7 } })
  yield* call("POST", "/store/orders/500001/ship", { json: { carrier: "c", trackingNumber: "t" } })
  yield* upload("changed.txt")
  const { id } = yield* sandbox.createAccount({ username: "changed" })
  yield* sandbox.createKey(id)
  yield* sandbox.setAccess("1001", "suspend")
})

layer(layerInProcess())("a snapshot", (it) => {
  it.effect("brings back all data, the access of keys, and the clock", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.advanceClock("1 hour")
      const before = yield* sandbox.state
      yield* sandbox.saveSnapshot("start")
      yield* change
      yield* sandbox.advanceClock("1 day")
      assert.strictEqual(refusal(yield* call("GET", "/me")), "403 DEVELOPER_ACCESS_REVOKED")
      yield* sandbox.restoreSnapshot("start")
      assert.deepStrictEqual(yield* sandbox.state, before)
      assert.strictEqual((yield* sandbox.clock).aheadMillis, 3_600_000)
      assert.strictEqual((yield* call("GET", "/me")).status, 200)
      // The number of the post that the snapshot doesn't have is given again.
      assert.strictEqual((yield* call("POST", "/posts", { json: { text: "x" } })).status, 200)
      assert.strictEqual((yield* sandbox.state).posts.length, before.posts.length + 1)
    }))

  it.effect("survives a reset and can be restored more than once", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      yield* call("POST", "/posts", { json: { text: "kept" } })
      yield* sandbox.saveSnapshot("kept")
      const kept = yield* sandbox.state
      for (let time = 0; time < 2; time++) {
        yield* sandbox.reset
        yield* sandbox.restoreSnapshot("kept")
        assert.deepStrictEqual(yield* sandbox.state, kept)
      }
    }))

  it.effect("is saved, listed, replaced, restored and removed over the control API", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.reset
      yield* Effect.forEach(yield* sandbox.snapshots, ({ name }) => sandbox.removeSnapshot(name))
      const list = Effect.map(control("GET", "/snapshots"), ({ json }) => readNames(json).data)
      const save = (name: string) => control("POST", "/snapshots", { json: { name } })
      assert.strictEqual((yield* save("one")).status, 200)
      assert.strictEqual((yield* save("two")).status, 200)
      const [first] = yield* list
      yield* sandbox.createPost({ text: "more" })
      assert.strictEqual((yield* save("one")).status, 200)
      assert.deepStrictEqual((yield* list).map(({ name, rows }) => [name, rows - (first?.rows ?? 0)]), [["two", 0], ["one", 1]])
      assert.strictEqual((yield* control("POST", "/snapshots/two/restore")).status, 204)
      assert.strictEqual((yield* control("DELETE", "/snapshots/two")).status, 204)
      assert.strictEqual(refusal(yield* control("DELETE", "/snapshots/two")), "404 NOT_FOUND")
      assert.strictEqual(refusal(yield* control("POST", "/snapshots/two/restore")), "404 NOT_FOUND")
      for (const name of ["", "a b", "x".repeat(101), "a/b", ".", ".."]) {
        assert.strictEqual(refusal(yield* save(name)), "400 VALIDATION_ERROR name", name)
      }
      assert.deepStrictEqual((yield* list).map(({ name }) => name), ["one"])
    }))
})

it.live("of a data file outlives its sandbox and keeps uploaded files until it is removed", () =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const data = `${yield* files.makeTempDirectoryScoped()}/shop.db`
    const stored = () => readdirSync(`${data}-media`)
    const running = <A, E>(effect: Effect.Effect<A, E, Effect.Services<typeof change>>) => Effect.provide(effect, layerInProcess({ data }))
    const saved = yield* running(Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const seeded = stored()
      yield* upload("kept.txt")
      yield* sandbox.saveSnapshot("kept")
      const uploaded = stored().filter((name) => !seeded.includes(name))
      assert.lengthOf(uploaded, 1)
      const state = yield* sandbox.state
      yield* change
      assert.lengthOf(stored(), seeded.length + 2)
      yield* sandbox.reset
      assert.includeMembers(stored(), uploaded)
      return { state, uploaded }
    }))
    yield* running(Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.includeMembers(stored(), saved.uploaded)
      yield* sandbox.restoreSnapshot("kept")
      assert.deepStrictEqual(yield* sandbox.state, saved.state)
      yield* sandbox.reset
      assert.includeMembers(stored(), saved.uploaded)
      yield* sandbox.removeSnapshot("kept")
      assert.notIncludeMembers(stored(), saved.uploaded)
    }))
  }).pipe(Effect.provide(NodeFileSystem.layer)))
