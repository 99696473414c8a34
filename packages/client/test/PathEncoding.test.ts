import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, type Plaza, Posts, Profiles, Store } from "@plaza/client"
import { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain"
import { operations as contract } from "@plaza/domain/Operations"
import { Sandbox } from "@plaza/sandbox"
import { elementOf, oneOf, text, unicode } from "@plaza/testing/Generators"
import { Arbitrary, Effect } from "effect"
import * as Fake from "./support/FakeService.ts"
import * as OnSandbox from "./support/OnSandbox.ts"
import * as Prism from "./support/Prism.ts"

const sendable = (id: string) => id !== "" && id !== "." && id !== ".." && !/\p{Surrogate}/u.test(id)
const anyId = Arbitrary.filter(
  oneOf(
    unicode(),
    text,
    elementOf(["007", "a/b?c=1#d", "%2e%2e", "%", "../x", "\\..\\", "é", "🛒", "a b", "+", ";,:@&=$", "...", "/", "//"])
  ),
  sendable
)

type Call = Effect.Effect<unknown, ClientError.Failure, Plaza.Services>

/** Every operation with an id in its path, with the parts of the path around it. */
const operations: ReadonlyArray<readonly [before: string, after: string, call: (id: string) => Call]> = [
  ["/users/", "", (id) => Effect.flatMap(Profiles, ({ get }) => get(ProfileId.make(id)))],
  ["/users/by-username/", "", (id) => Effect.flatMap(Profiles, ({ find }) => find(Username.make(id)))],
  ["/users/", "/follow", (id) => Effect.flatMap(Profiles, ({ follow }) => follow(ProfileId.make(id)))],
  ["/posts/", "/comments", (id) => Effect.flatMap(Posts, ({ comment }) => comment(PostId.make(id), "x"))],
  ["/posts/", "/like", (id) => Effect.flatMap(Posts, ({ like }) => like(PostId.make(id)))],
  ["/store/products/", "/stock", (id) => Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make(id), 1))],
  [
    "/store/orders/",
    "/ship",
    (id) => Effect.flatMap(Store, ({ ship }) => ship(OrderId.make(id), { carrier: "c", trackingNumber: "t" }))
  ],
  ["/conversations/", "/messages", (id) => Effect.flatMap(Chat, ({ send }) => send(ConversationId.make(id), "x"))]
]

describe("an id reaches the service as one path segment, unchanged", () => {
  it("for every operation of the contract", () => {
    const withId = Object.values(contract).flatMap(({ path }) => path.includes(":") ? [path.replace(/:\w+/, "{id}")] : [])
    expect(operations.map(([before, after]) => `${before}{id}${after}`).toSorted()).toEqual(withId.toSorted())
  })

  for (const [before, after, call] of operations) {
    it.effect.prop(`in ${before}{id}${after}`, [anyId], ([id]) =>
      Effect.gen(function*() {
        const { calls, layer } = Fake.scripted([Fake.json({ id: "any" })])
        yield* Effect.provide(call(id), layer)
        const path = calls[0]?.path ?? ""
        expect(path.startsWith(before) && path.endsWith(after)).toBe(true)
        const segment = path.slice(before.length, path.length - after.length)
        expect(segment).not.toContain("/")
        expect(decodeURIComponent(segment)).toBe(id)
      }), { arbitrary: { runs: 60 } })

    it.effect(`or is refused before anything is sent, in ${before}{id}${after}`, () =>
      Effect.gen(function*() {
        for (const id of ["", ".", "..", "\ud800", "a\udc00b"]) {
          const { calls, layer } = Fake.scripted([Fake.json({ id: "any" })])
          const failure = yield* Effect.flip(Effect.provide(call(id), layer))
          expect(failure).toMatchObject({ _tag: "InvalidInput", field: before.includes("username") ? "username" : "id" })
          expect(calls).toHaveLength(0)
        }
      }))
  }

  const short = Arbitrary.filter(anyId, (id) => id.length < 100)

  const survives = () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { setStock } = yield* Store
      const ids = new Set(yield* Arbitrary.sampleEffect(short, { count: 25, seed: 7 }))
      expect(ids.size).toBeGreaterThan(15)
      for (const [stock, id] of [...ids].entries()) {
        yield* sandbox.setProduct({ id })
        expect(yield* setStock(ProductId.make(id), stock)).toMatchObject({ id, stock })
        expect((yield* sandbox.state).products.find((product) => product.id === id)?.stock).toBe(stock)
      }
    })
  const world = { sandbox: { assumptions: { requestsPerWindow: 1_000 } } }

  it.effect("in the sandbox, in process", () => Effect.provide(survives(), OnSandbox.inProcess(world)))
  OnSandbox.itOnSockets("by the sandbox's own account", survives(), world)
  Prism.itThrough("by the sandbox's own account", survives(), world)
})
