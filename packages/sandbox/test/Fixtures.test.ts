/**
 * Fixtures: generated in any number, told in a file or as a value, kept in mind for a reset.
 */
import { FileSystem } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it, layer } from "@effect/vitest"
import { ProfileId, Username } from "@plaza/domain/Ids"
import { Sandbox, type State } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import { fileURLToPath } from "node:url"
import { call, control, layerInProcess, pageOf, refusal } from "./support.js"

const state = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)
const quantities = { people: 40, follows: 300, posts: 500, products: 60, orders: 80, conversations: 25 }

const follows = ({ relations }: State): number => relations.filter((relation) => relation.follows).length

/** What stands in the later state beyond the earlier. */
const added = (before: State, after: State) => ({
  accounts: after.accounts.slice(before.accounts.length),
  posts: after.posts.slice(before.posts.length),
  products: after.products.slice(before.products.length),
  orders: after.orders.slice(before.orders.length),
  conversations: after.conversations.slice(before.conversations.length),
  messages: after.messages.slice(before.messages.length),
  follows: follows(after) - follows(before)
})

describe("generated fixtures", () => {
  const grown = (options: Sandbox.Options) => Effect.provide(state, layerInProcess(options))

  it.effect("are as many as was asked for, beside the seed's own", () =>
    Effect.gen(function*() {
      const seeded = yield* grown({})
      const all = yield* grown({ fixtures: { generate: quantities } })
      assert.deepStrictEqual(all.accounts.slice(0, seeded.accounts.length), seeded.accounts)
      const { accounts, conversations, follows, messages, orders, posts, products } = added(seeded, all)
      assert.strictEqual(accounts.length, 40)
      assert.strictEqual(follows, 300)
      assert.strictEqual(posts.length, 500)
      assert.strictEqual(posts.filter(({ authorId }) => authorId === "1001").length, 250)
      assert.strictEqual(products.length, 60)
      assert.isTrue(products.some(({ stock }) => stock === 0) && products.some(({ stock }) => stock > 0))
      assert.strictEqual(orders.length, 80)
      assert.isTrue(orders.some(({ shipment }) => shipment === null) && orders.some(({ shipment }) => shipment !== null))
      assert.strictEqual(conversations.length, 25)
      assert.strictEqual(new Set(conversations.map(({ peerId }) => peerId)).size, 25)
      assert.strictEqual(messages.length, 25 + 20)
      assert.isTrue(all.relations.every(({ from, to }) => from !== to))
    }))

  it.effect("are the same for the same seed, and others for another", () =>
    Effect.gen(function*() {
      const one = yield* grown({ fixtures: { generate: quantities } })
      assert.deepStrictEqual(yield* grown({ fixtures: { generate: quantities } }), one)
      const two = yield* grown({ seed: 2, fixtures: { generate: quantities } })
      assert.notDeepEqual(two.accounts, one.accounts)
    }))

  it.effect("let everyone follow everyone, and no more", () =>
    Effect.gen(function*() {
      const all = yield* grown({ fixtures: { generate: { people: 5, follows: 25 } } })
      const ids = new Set(all.accounts.slice(-5).map(({ id }) => id))
      const pairs = all.relations.filter(({ follows, from }) => follows && ids.has(from)).map(({ from, to }) => `${from} ${to}`)
      assert.strictEqual(new Set(pairs).size, 25)
      const sandbox = Sandbox.layerHttpClient({ fixtures: { generate: { people: 5, follows: 26 } } })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(sandbox)))
      assert.include(error.message, "generate.follows: ")
    }))

  it.effect("are listed by the interface like any other, older than the seed's", () =>
    Effect.gen(function*() {
      const newest = pageOf(yield* call("GET", "/me/posts?limit=25"))
      const seeded = yield* Effect.provide(state, layerInProcess())
      assert.sameMembers([...newest.ids], seeded.posts.filter(({ authorId }) => authorId === "1001").map(({ id }) => id))
      let page = newest
      let count = 0
      while (page.next !== null) {
        page = pageOf(yield* call("GET", `/me/posts?limit=100&cursor=${page.next}`))
        count += page.ids.length
      }
      assert.strictEqual(count, 1_000)
      const post = yield* call("POST", "/posts", { json: { text: "new" } })
      assert.strictEqual(post.status, 200)
      const { conversations } = yield* state
      const send = (index: number) =>
        Effect.map(call("POST", `/conversations/${conversations[8 + index]?.id ?? ""}/messages`, { json: { text: "a" } }), ({ status }) => status)
      assert.deepStrictEqual([yield* send(0), yield* send(4)], [200, 403])
    }).pipe(Effect.provide(layerInProcess({ fixtures: { generate: { people: 10, posts: 2_000, conversations: 5 } } }))))

  it.effect("can be planted again on top, with people whose numbers are free", () =>
    Effect.gen(function*() {
      const { createAccount, plant } = yield* Sandbox.Sandbox
      yield* createAccount({ id: "5000" })
      const before = yield* state
      yield* plant({ generate: quantities })
      yield* plant({ generate: quantities })
      const { accounts, products } = added(before, yield* state)
      assert.strictEqual(new Set(accounts.map(({ id }) => id)).size, 80)
      assert.strictEqual(accounts[0]?.id, "5001")
      assert.strictEqual(products.length, 120)
      yield* createAccount()
    }).pipe(Effect.provide(layerInProcess())))
})

describe("a file of fixtures", () => {
  const withFile = (name: string, text: string) => <A, E>(use: (path: string) => Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/${name}`
      yield* fs.writeFileString(path, text)
      return yield* use(path)
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
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
      assert.deepInclude({ ...accounts.find(({ id }) => id === "007x") }, { username: Username.make("bond"), name: "bond", photo: false, cover: true })
      assert.deepInclude({ ...relations.find(({ follows, from }) => from === "007x" && follows) }, { to: ProfileId.make("1001"), blocksFromStore: true, hasWritten: true })
      assert.strictEqual(posts.at(-1)?.text, "shaken")
      assert.deepInclude({ ...products.find(({ id }) => id === "SKU/1") }, { name: "Martini", stock: 7 })
      assert.deepInclude({ ...products.find(({ id }) => id === "0042") }, { stock: 0 })
      assert.isTrue(orders.some(({ id }) => id === "O-1"))
      assert.strictEqual(conversations.at(-1)?.peerId, "007x")
      assert.strictEqual(messages[0]?.text, "stirred?")
    }).pipe(Effect.provide(layerInProcess({ fixtures })))

  it.effect("is YAML by its ending, or JSON", () =>
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

  it.effect("that the guide shows can be planted as it stands", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const [, shown = ""] = /```yaml\n([^]*?)```/.exec(yield* fs.readFileString(fileURLToPath(new URL("../../../docs/sandbox.md", import.meta.url)))) ?? []
      const fewer = shown.replace("posts: 100000", "posts: 100")
      assert.notStrictEqual(fewer, shown)
      const all = yield* withFile("shop.yaml", fewer)((fixtures) => Effect.provide(state, layerInProcess({ fixtures })))
      assert.isTrue(all.accounts.some(({ id }) => id === "bond"))
      assert.isTrue(all.accounts.length > 1_000)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect("that is wrong keeps the sandbox from starting, with the way to the field in one sentence", () =>
    Effect.gen(function*() {
      for (const [name, text, problem] of [
        ["a.yaml", "products:\n  - id: A\n  - id: B\n    stock: many\n", /products\[1\]\.stock: Expected number/],
        ["a.yaml", "products: [{ id: A, stok: 1 }]", /products\[0\]\.stok: /],
        ["a.yaml", "products: [{ id: A, stock: -1 }]", /products\[0\]\.stock: .*whole number/],
        ["a.yaml", "accounts: [{ id: x }, { id: x }]", /accounts\[1\]: there is an account/],
        ["a.yaml", "orders: [{ id: x, accountId: nobody }]", /orders\[0\]: .*"nobody"/],
        ["a.yaml", "conversations: [{ peerId: '1002', messages: [{ text: a }, { text: '' }] }]", /conversations\[0\]\.messages\[1\]\.text: /],
        ["a.yaml", "generate: { people: -1 }", /generate\.people: /],
        ["a.yaml", "generate: { poeple: 1 }", /generate\.poeple: /],
        ["a.yaml", "a: [", /can't be used: /],
        ["a.json", "{", /can't be used: /],
        ["a.json", "[]", /the whole: /],
        ["a.yaml", "", /the whole: /]
      ] as const) {
        const error = yield* withFile(name, text)((fixtures) =>
          Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient({ fixtures })))))
        assert.strictEqual(error._tag, "SandboxError")
        assert.match(error.message, problem)
        assert.notInclude(error.message, "\n")
      }
      const missing = yield* Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient({ fixtures: "/none/x.json" }))))
      assert.match(missing.message, /\/none\/x\.json can't be used: the file can't be read/)
    }))

  it.effect("that is wrong leaves a data file as new as it was", () =>
    withFile("x.json", "{}")((beside) =>
      Effect.gen(function*() {
        const data = `${beside}.db`
        const wrong = { generate: { people: 3 }, orders: [{ id: "O", accountId: "nobody" }] }
        yield* Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient({ data, fixtures: wrong }))))
        const { accounts, seed } = yield* Effect.provide(state, layerInProcess({ data, seed: 3, fixtures: { generate: { people: 2 } } }))
        assert.deepStrictEqual([accounts.length, seed], [13 + 2, 3])
      })
    ))

  it.effect("is planted once into a data file, which keeps to it, resets included", () =>
    withFile("x.json", "{}")((beside) =>
      Effect.gen(function*() {
        const data = `${beside}.db`
        const fixtures = { generate: { people: 3 }, products: [{ id: "P", stock: 5 }] }
        const stock = Effect.map(state, ({ products }) => products.find(({ id }) => id === "P")?.stock)
        const first = yield* Effect.provide(
          Effect.zipRight(Effect.flatMap(Sandbox.Sandbox, ({ setProduct }) => setProduct({ id: "P", stock: 4 })), state),
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
        assert.match(error.message, /planted with other fixtures: leave them out, or name another file/)
      })
    ))
})

layer(layerInProcess())("fixtures over the control interface", (it) => {
  it.effect("are planted all or not at all", () =>
    Effect.gen(function*() {
      const before = yield* state
      const refused = yield* control("POST", "/fixtures", {
        json: { generate: { people: 2 }, products: [{ id: "A" }, { id: "B", stock: -1 }] }
      })
      assert.strictEqual(refusal(refused), "400 VALIDATION_ERROR products.1.stock")
      assert.deepStrictEqual(yield* state, before)
      assert.strictEqual(refusal(yield* control("POST", "/fixtures", { json: { product: [] } })), "400 VALIDATION_ERROR product")
      assert.strictEqual((yield* control("POST", "/fixtures", { json: { generate: { people: 2 }, products: [{ id: "A" }] } })).status, 204)
      assert.strictEqual((yield* state).accounts.length, before.accounts.length + 2)
    }))
})
