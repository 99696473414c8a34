/**
 * Fixture files: formats, error messages and data files.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ProfileId, Username } from "@plaza/domain/Ids"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import * as FileSystem from "effect/FileSystem"
import { fileURLToPath } from "node:url"
import { layerInProcess } from "./support.ts"

const state = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)

describe("a file of fixtures", () => {
  const withFile = (name: string, text: string) => <A, E>(use: (path: string) => Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/${name}`
      yield* fs.writeFileString(path, text)
      return yield* use(path)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  const yaml = `
generate: { people: 3 }
accounts:
  - { id: "007x", username: bond, photo: false }
relations:
  - { from: "007x", to: "1001", follows: true, blocksFromStore: true }
posts:
  - { accountId: "007x", text: "shaken", createdAt: "2026-01-02T03:04:05.006Z" }
products:
  - { id: SKU/1, name: Martini, stock: 7 }
  - { id: "0042", stock: 0 }
orders: [{ id: O-1 }]
conversations:
  - { peerId: "007x", messages: [{ text: "stirred?" }] }
`
  const check = (fixtures: string) =>
    Effect.gen(function*() {
      const { accounts, conversations, messages, orders, posts, products, relations } = yield* state
      assert.deepInclude({ ...accounts.find(({ id }) => id === "007x") }, {
        username: Username.make("bond"),
        name: "bond",
        photo: false,
        cover: true
      })
      assert.deepInclude({ ...relations.find(({ follows, from }) => from === "007x" && follows) }, {
        to: ProfileId.make("1001"),
        blocksFromStore: true,
        hasWritten: true
      })
      assert.strictEqual(posts.at(-1)?.text, "shaken")
      assert.deepInclude({ ...products.find(({ id }) => id === "SKU/1") }, { name: "Martini", stock: 7 })
      assert.deepInclude({ ...products.find(({ id }) => id === "0042") }, { stock: 0 })
      assert.isTrue(orders.some(({ id }) => id === "O-1"))
      assert.strictEqual(conversations.at(-1)?.peerId, "007x")
      assert.strictEqual(messages[0]?.text, "stirred?")
    }).pipe(Effect.provide(layerInProcess({ fixtures })))

  it.effect("is YAML or JSON, by its extension", () =>
    Effect.gen(function*() {
      yield* withFile("shop.yaml", yaml)(check)
      yield* withFile("shop.json", "\uFEFF" + JSON.stringify({
        accounts: [{ id: "007x", username: "bond", photo: false }],
        relations: [{ from: "007x", to: "1001", follows: true, blocksFromStore: true }],
        posts: [{ accountId: "007x", text: "shaken" }],
        products: [{ id: "SKU/1", name: "Martini", stock: 7 }, { id: "0042", stock: 0 }],
        orders: [{ id: "O-1" }],
        conversations: [{ peerId: "007x", messages: [{ text: "stirred?" }] }]
      }))(check)
    }))

  it.effect("of the documentation is valid", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const [, shown = ""] =
        /```yaml\n([^]*?)```/.exec(yield* fs.readFileString(fileURLToPath(new URL("../../../docs/sandbox.md", import.meta.url)))) ?? []
      const fewer = shown.replace("posts: 100000", "posts: 100")
      assert.notStrictEqual(fewer, shown)
      const all = yield* withFile("shop.yaml", fewer)((fixtures) => Effect.provide(state, layerInProcess({ fixtures })))
      assert.isTrue(all.accounts.some(({ id }) => id === "bond"))
      assert.isTrue(all.accounts.length > 1_000)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("that is invalid prevents the sandbox from starting, with the path of the field in one sentence", () =>
    Effect.gen(function*() {
      for (
        const [name, text, problem] of [
          ["a.yaml", "products:\n  - id: A\n  - id: B\n    stock: many\n", /products\[1\]\.stock: Expected number/],
          ["a.yaml", "products: [{ id: A, stok: 1 }]", /products\[0\]\.stok: /],
          ["a.yaml", "products: [{ id: A, stock: -1 }]", /products\[0\]\.stock: .*whole number/],
          ["a.yaml", "accounts: [{ id: x }, { id: x }]", /accounts\[1\]: there is an account/],
          ["a.yaml", "orders: [{ id: x, accountId: nobody }]", /orders\[0\]: .*"nobody"/],
          [
            "a.yaml",
            "conversations: [{ peerId: '1002', messages: [{ text: a }, { text: '' }] }]",
            /conversations\[0\]\.messages\[1\]\.text: /
          ],
          ["a.yaml", "generate: { people: -1 }", /generate\.people: /],
          ["a.yaml", "generate: { poeple: 1 }", /generate\.poeple: /],
          ["a.yaml", "a: [", /can't be used: /],
          ["a.json", "{", /can't be used: /],
          ["a.json", "[]", /the file: /],
          ["a.yaml", "", /the file: /]
        ] as const
      ) {
        const error = yield* withFile(name, text)((fixtures) =>
          Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient({ fixtures }))))
        )
        assert.strictEqual(error._tag, "SandboxError")
        assert.match(error.message, problem)
        assert.notInclude(error.message, "\n")
      }
      for (
        const [fixtures, problem] of [
          ["/none/x.json", "it does not exist"],
          [import.meta.dirname, "it is not a file"],
          [`${import.meta.filename}/x.json`, "it is not a file"]
        ] as const
      ) {
        const { message } = yield* Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient({ fixtures }))))
        assert.strictEqual(message, `the fixtures ${fixtures} can't be used: ${problem}`)
      }
    }))

  it.effect("that is invalid leaves a data file empty", () =>
    withFile("x.json", "{}")((beside) =>
      Effect.gen(function*() {
        const data = `${beside}.db`
        const wrong = { generate: { people: 3 }, orders: [{ id: "O", accountId: "nobody" }] }
        yield* Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient({ data, fixtures: wrong }))))
        const { accounts, seed } = yield* Effect.provide(state, layerInProcess({ data, seed: 3, fixtures: { generate: { people: 2 } } }))
        assert.deepStrictEqual([accounts.length, seed], [13 + 2, 3])
      })
    ))

  it.effect("is seeded once into a data file, and a reset restores it", () =>
    withFile("x.json", "{}")((beside) =>
      Effect.gen(function*() {
        const data = `${beside}.db`
        const fixtures = { generate: { people: 3 }, products: [{ id: "P", stock: 5 }] }
        const stock = Effect.map(state, ({ products }) => products.find(({ id }) => id === "P")?.stock)
        const first = yield* Effect.provide(
          Effect.andThen(Effect.flatMap(Sandbox.Sandbox, ({ setProduct }) => setProduct({ id: "P", stock: 4 })), state),
          layerInProcess({ data, fixtures })
        )
        yield* Effect.gen(function*() {
          assert.deepStrictEqual(yield* state, first)
          yield* Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset)
          assert.strictEqual(yield* stock, 5)
          assert.strictEqual((yield* state).accounts.length, first.accounts.length)
        }).pipe(Effect.provide(layerInProcess({ data, fixtures })))
        assert.strictEqual(yield* Effect.provide(stock, layerInProcess({ data })), 5)
        const error = yield* Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient({ data, fixtures: {} }))))
        assert.match(error.message, /seeded with other fixtures: leave them out, or name another file/)
      })
    ))
})
