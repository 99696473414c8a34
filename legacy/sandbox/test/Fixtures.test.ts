/**
 * Generated fixtures in any quantity, and fixtures that are added to a running sandbox.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Sandbox, type StateSnapshot } from "@plaza-legacy/sandbox"
import { Effect, Layer, Random } from "effect"
import { call, control, layerInProcess, pageOf, refusal } from "./support.ts"

const state = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)
const quantities = { people: 40, follows: 300, posts: 500, products: 60, orders: 80, conversations: 25 }

const follows = ({ relations }: StateSnapshot): number => relations.filter((relation) => relation.follows).length

/** The items of the later state that the earlier one does not have. */
const added = (before: StateSnapshot, after: StateSnapshot) => ({
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

  it.effect("have the requested quantities, in addition to the seeded data", () =>
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

  it.effect("are the same for the same seed, and differ for another seed", () =>
    Effect.gen(function*() {
      const one = yield* grown({ fixtures: { generate: quantities } })
      assert.deepStrictEqual(yield* grown({ fixtures: { generate: quantities } }), one)
      const two = yield* grown({ seed: 2, fixtures: { generate: quantities } })
      assert.notDeepEqual(two.accounts, one.accounts)
    }))

  it.effect("have the requested quantities, however few or many", () =>
    Effect.gen(function*() {
      const { addFixtures } = yield* Sandbox.Sandbox
      for (let round = 0; round < 25; round++) {
        const people = yield* Random.nextIntBetween(0, 8)
        const upTo = (most: number) => Random.nextIntBetween(0, most + 1)
        const generate = {
          people,
          follows: yield* upTo(people * people),
          posts: yield* upTo(450),
          products: yield* upTo(5),
          orders: yield* upTo(5),
          conversations: yield* upTo(people)
        }
        const before = yield* state
        yield* addFixtures({ generate })
        const { accounts, conversations, follows, messages, orders, posts, products } = added(before, yield* state)
        assert.deepStrictEqual(
          {
            people: accounts.length,
            follows,
            posts: posts.length,
            products: products.length,
            orders: orders.length,
            conversations: conversations.length
          },
          generate
        )
        assert.strictEqual(messages.length, 2 * generate.conversations - Math.floor(generate.conversations / 5))
      }
    }).pipe(Effect.provide(layerInProcess()), Effect.withRandom(Random.make("quantities"))))

  it.effect("let every account follow every other, and no more", () =>
    Effect.gen(function*() {
      const all = yield* grown({ fixtures: { generate: { people: 5, follows: 25 } } })
      const ids = new Set(all.accounts.slice(-5).map(({ id }) => id))
      const pairs = all.relations.filter(({ follows, from }) => follows && ids.has(from)).map(({ from, to }) => `${from} ${to}`)
      assert.strictEqual(new Set(pairs).size, 25)
      const sandbox = Sandbox.layerHttpClient({ fixtures: { generate: { people: 5, follows: 26 } } })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(sandbox)))
      assert.include(error.message, "generate.follows: ")
    }))

  it.effect("are listed by the interface, older than the seeded data", () =>
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
        Effect.map(call("POST", `/conversations/${conversations[8 + index]?.id ?? ""}/messages`, { json: { text: "a" } }),
          ({ status }) => status)
      assert.deepStrictEqual([yield* send(0), yield* send(4)], [200, 403])
    }).pipe(Effect.provide(layerInProcess({ fixtures: { generate: { people: 10, posts: 2_000, conversations: 5 } } }))))

  it.effect("can be added again, with accounts of unused numbers", () =>
    Effect.gen(function*() {
      const { addFixtures, createAccount } = yield* Sandbox.Sandbox
      yield* createAccount({ id: "5000" })
      const before = yield* state
      yield* addFixtures({ generate: quantities })
      yield* addFixtures({ generate: quantities })
      const { accounts, products } = added(before, yield* state)
      assert.strictEqual(new Set(accounts.map(({ id }) => id)).size, 80)
      assert.strictEqual(accounts[0]?.id, "5001")
      assert.strictEqual(products.length, 120)
      yield* createAccount()
    }).pipe(Effect.provide(layerInProcess())))
})

layer(layerInProcess())("fixtures over the control API", (it) => {
  it.effect("are added all or not at all", () =>
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
