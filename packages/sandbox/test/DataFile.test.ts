/**
 * Data files: data after a restart and after a kill, and files that can't be used.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer, Redacted } from "effect"
import * as FileSystem from "effect/FileSystem"
import { DatabaseSync } from "node:sqlite"
import * as Killed from "./killed.ts"
import { call, field, layerInProcess, pageOf } from "./support.ts"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(
  Effect.map((folder) => `${folder}/sandbox.db`)
)
const withFile = <A, E>(use: (data: string) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.scoped(Effect.flatMap(temporary, use)).pipe(Effect.provide(NodeServices.layer))
const refused = (options: Sandbox.Options) => Effect.flip(Layer.build(Sandbox.layerHttpClient(options)).pipe(Effect.scoped))

describe("a data file", () => {
  it.effect("keeps state, keys and cursors over a restart", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const first = yield* Effect.gen(function*() {
          const sandbox = yield* Sandbox.Sandbox
          const { apiKey } = yield* sandbox.createKey("1001", { scopes: ["posts:read"] })
          yield* call("POST", "/posts", { json: { text: "kept" } })
          yield* call("PATCH", "/store/products/0042/stock", { json: { stock: 77 } })
          const page = pageOf(yield* call("GET", "/me/posts?limit=5"))
          return { apiKey, page, ready: sandbox.apiKey, state: yield* sandbox.state }
        }).pipe(Effect.provide(layerInProcess({ data, seed: 5 })))
        yield* Effect.gen(function*() {
          const sandbox = yield* Sandbox.Sandbox
          assert.deepStrictEqual(yield* sandbox.state, first.state)
          assert.strictEqual(Redacted.value(sandbox.apiKey), Redacted.value(first.ready))
          assert.strictEqual((yield* call("GET", "/me/posts", { key: first.apiKey })).status, 200)
          assert.strictEqual(pageOf(yield* call("GET", `/me/posts?limit=5&cursor=${first.page.next ?? ""}`)).ids.length, 5)
          const post = yield* call("POST", "/posts", { json: { text: "next" } })
          assert.notInclude(first.state.posts.map(({ id }) => String(id)), field(post, "id"))
        }).pipe(Effect.provide(layerInProcess({ data })))
      })
    ))

  it.effect("is refused with another seed, and keeps its own seed without one", () =>
    withFile((data) =>
      Effect.gen(function*() {
        yield* Effect.provide(Sandbox.Sandbox, layerInProcess({ data, seed: 5 }))
        const { seed } = yield* Effect.provide(Sandbox.Sandbox, layerInProcess({ data }))
        assert.strictEqual(seed, 5)
        assert.match((yield* refused({ data, seed: 6 })).message, /seeded with seed 5, not 6: leave the seed out/)
      })
    ))

  it.effect("that another sandbox has open is refused", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const error = yield* Effect.provide(refused({ data }), layerInProcess({ data }))
        assert.match(error.message, /another program has it open: name another file/)
      })
    ))

  it.effect("that can't be created, is a folder, isn't SQLite or has other tables is refused with one sentence", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(`${data}.txt`, "no database, but long enough to be taken for one. ".repeat(100))
        const other = new DatabaseSync(`${data}.other`)
        other.exec("CREATE TABLE other (id)")
        other.close()
        for (
          const [path, reason] of [
            [`${data}/none/x.db`, /can't be opened or created there/],
            [data.slice(0, data.lastIndexOf("/")), /can't be opened or created there/],
            [`${data}.txt`, /not a SQLite file, or a damaged one/],
            [`${data}.other`, /is not a data file of a sandbox/]
          ] as const
        ) {
          const error = yield* refused({ data: path })
          assert.strictEqual(error._tag, "SandboxError")
          assert.match(error.message, reason)
          assert.include(error.message, path)
          assert.include(error.message, "name another file")
          assert.notInclude(error.message, "\n")
        }
        assert.isTrue(yield* fs.exists(`${data}.txt`))
      })
    ))

  it.live("loses no acknowledged write when the process is killed", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const answered = yield* Killed.whileWriting(data, 20)
        const { posts } = yield* Effect.provide(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state), layerInProcess({ data }))
        const kept = posts.filter(({ text }) => text.startsWith("written ")).length
        // The last write may be stored without its response having arrived.
        assert.isTrue(answered >= 20 && kept >= answered && kept <= answered + 1, `${answered} answered, ${kept} kept`)
      })
    ))
})

describe("the seed", () => {
  const held = (seed: number) =>
    Effect.flatMap(Sandbox.Sandbox, ({ apiKey, state }) => Effect.map(state, (all) => ({ apiKey: Redacted.value(apiKey), all })))
      .pipe(Effect.provide(layerInProcess({ seed })))

  it.effect("determines all data: the same seed gives the same data, another seed gives other data", () =>
    Effect.gen(function*() {
      const [one, again, two] = yield* Effect.all([held(1), held(1), held(2)])
      assert.deepStrictEqual(again, one)
      assert.notStrictEqual(two.apiKey, one.apiKey)
      assert.notDeepEqual(two.all.products, one.all.products)
    }))

  it.effect("contains a shop with data of every kind", () =>
    Effect.gen(function*() {
      const { all, apiKey } = yield* held(1)
      assert.match(apiKey, /^key_[A-Za-z0-9]{40}$/)
      const own = <A extends { readonly accountId: string }>(rows: ReadonlyArray<A>) => rows.filter(({ accountId }) => accountId === "1001")
      assert.strictEqual(own(all.products).length, 110)
      assert.isTrue(own(all.products).some(({ stock }) => stock === 0))
      assert.strictEqual(own(all.orders).length, 30)
      assert.isTrue(all.orders.every(({ shipment }) => shipment === null))
      assert.strictEqual(own(all.conversations).length, 8)
      assert.strictEqual(all.posts.filter(({ authorId }) => authorId === "1001").length, 25)
      assert.strictEqual(all.accounts.length, 13)
      assert.strictEqual(all.keys[0]?.scopes.length, 13)
    }))

  it.effect("has times in the past of the clock, so that new data is newer", () =>
    Effect.gen(function*() {
      const { id } = { id: field(yield* call("POST", "/posts", { json: { text: "new" } }), "id") }
      assert.strictEqual(pageOf(yield* call("GET", "/me/posts?limit=1")).ids[0], id)
    }).pipe(Effect.provide(layerInProcess())))
})
