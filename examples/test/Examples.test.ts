/** The examples against the sandbox; the first one over a socket as a user runs it. */
import { assert, describe, expect, it, layer } from "@effect/vitest"
import { Plaza, Store } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { OrderId, ProductId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import { ConfigProvider, Effect, Layer, Redacted, Stream } from "effect"
import { readFileSync } from "node:fs"
import { firstPost } from "../src/FirstPost.ts"
import { newestTexts } from "../src/ListPosts.ts"
import { quickstart } from "../src/Quickstart.ts"
import { stockOf, unshipped } from "../src/ReadStore.ts"
import { setStock } from "../src/SetStock.ts"

const client = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl })))
const world = Layer.provideMerge(client, Sandbox.layerHttpClient())

const waiting = Effect.map(Stream.runCollect(unshipped), (orders) => orders.map(({ id }) => String(id)))

/** What is read of the store, before and after something happens to it. */
const readStore = Effect.gen(function*() {
  const store = yield* Store
  const before = yield* waiting
  yield* store.ship(OrderId.make("SO/2026/26"), { carrier: "DHL", trackingNumber: "0034" })
  yield* store.setStock(ProductId.make("50%-OFF-BOX"), 17)
  const after = yield* waiting
  const unknown = yield* Effect.flip(stockOf(ProductId.make("NO SUCH")))
  return {
    waiting: before.length,
    shipped: before.filter((id) => !after.includes(id)),
    stock: yield* stockOf(ProductId.make("50%-OFF-BOX")),
    unknown: unknown._tag
  }
})
const whatIsRead = { waiting: 30, shipped: ["SO/2026/26"], stock: 17, unknown: "NotFound" }

describe("the program that reads the store", () => {
  it("stands in the documentation as it runs here", () => {
    const text = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
    const program = text("../src/ReadStore.ts")
    expect(text("../../docs/client.md")).toContain(`\`\`\`ts\n${program.slice(program.indexOf("import"))}\`\`\``)
  })
})

layer(world)("in process", (it) => {
  it.effect("the first post has its picture", () =>
    Effect.gen(function*() {
      const post = yield* firstPost("Hello", new Uint8Array([137, 80, 78, 71]))
      const state = yield* (yield* Sandbox.Sandbox).state
      const media = state.media.find(({ name }) => name === "picture.png")
      assert(media !== undefined)
      expect(state.posts.find(({ id }) => id === post.id)).toMatchObject({ text: "Hello", mediaIds: [media.id] })
    }))

  it.effect("stock is set for what the store has, and the rest is reported", () =>
    Effect.gen(function*() {
      expect(yield* setStock({ "CAP/RED L": 3, "NO SUCH": 1, "007": 0 })).toEqual([
        { id: "CAP/RED L", outcome: "set" },
        { id: "NO SUCH", outcome: "unknown product" },
        { id: "007", outcome: "set" }
      ])
      const { products } = yield* (yield* Sandbox.Sandbox).state
      expect(products.find(({ id }) => id === "CAP/RED L")?.stock).toBe(3)
      expect(products.find(({ id }) => id === "007")?.stock).toBe(0)
    }))

  it.effect("orders and products are read where the sandbox assumes them", () =>
    Effect.map(readStore, (read) => expect(read).toEqual(whatIsRead)))

  it.effect("the newest texts are as many as asked for, newest first", () =>
    Effect.gen(function*() {
      yield* firstPost("the newest", new Uint8Array([1]))
      const texts = yield* newestTexts(7)
      expect(texts).toHaveLength(7)
      expect(texts[0]).toBe("the newest")
    }))
})

describe("over a socket", () => {
  it.live("the program of the first page sets a stock and posts about it", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl, state } = yield* Sandbox.Sandbox
      const env = { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: Redacted.value(apiKey) }
      const { post, product } = yield* Effect.provide(quickstart, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      const { posts, products } = yield* state
      expect(products.find(({ id }) => id === product.id)?.stock).toBe(12)
      expect(posts.filter(({ id }) => id === post.id)).toMatchObject([{ text: "The blue mugs are back." }])
    }).pipe(Effect.provide(Sandbox.layerServer())))

  it.live("orders and products are read where the sandbox assumes them", () =>
    readStore.pipe(Effect.map((read) => expect(read).toEqual(whatIsRead)),
      Effect.provide(Layer.provideMerge(client, Layer.merge(Sandbox.layerServer(), NodeClient.layer)))))
})
