/** The programs in the client's documentation run against the sandbox as described there. */
import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles, RateLimit, TestTime } from "@plaza/client"
import { ConversationId, type Post, ProductId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import { Clock, Effect, Layer, Logger, Option, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { once, texts } from "../src/CallOptions.ts"
import { postIfPossible } from "../src/CatchCategory.ts"
import { notify } from "../src/NotifyBuyer.ts"
import { observed } from "../src/ObserveAttempts.ts"
import { sendMostUrgent } from "../src/ReserveSlot.ts"
import { readFrom } from "../src/ResumeList.ts"
import { sendMany } from "../src/SendMany.ts"
import { sharing } from "../src/ShareAllowance.ts"

const world = (options: Partial<Plaza.Options> = {}, sandbox: Sandbox.Options = {}) =>
  Layer.provideMerge(
    Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl, ...options }))),
    Sandbox.layerHttpClient(sandbox)
  )

const mug = ProductId.make("MUG-BLUE-350")
const stockOfMug = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state),
  ({ products }) => products.find(({ id }) => id === mug)?.stock)
const requests = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.requests)

describe("CallOptions", () => {
  it.effect("sends once, and waits ten seconds at most", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* once
      expect(yield* stockOfMug).toBe(3)
      yield* addFault({ kind: "status", when: "before", status: 503, method: "PATCH" })
      expect(yield* Effect.flip(once)).toMatchObject({ status: 503 })
      expect(yield* requests).toHaveLength(2)
      yield* addFault({ kind: "delay", when: "before", millis: 60_000, method: "PATCH" })
      const before = yield* Clock.currentTimeMillis
      expect(yield* Effect.flip(once)).toMatchObject({ _tag: "AttemptTimeout" })
      expect((yield* Clock.currentTimeMillis) - before).toBe(10_000)
    }).pipe(TestTime.advancing, Effect.provide(world())))

  it.effect("reads every text, again after a lost connection and not after a 503", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      const all = yield* Stream.runCollect(texts)
      yield* addFault({ kind: "drop", when: "after", path: "/me/posts", times: 3 })
      expect(yield* Stream.runCollect(texts)).toEqual(all)
      yield* addFault({ kind: "status", when: "before", status: 503, path: "/me/posts" })
      expect(yield* Effect.flip(Stream.runCollect(texts))).toMatchObject({ status: 503 })
      expect(all.length).toBeGreaterThan(20)
    }).pipe(TestTime.advancing, Effect.provide(world())))
})

describe("ObserveAttempts", () => {
  it.effect("logs the failed attempts of a call, and not the one that succeeded", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "before", status: 503, code: "NEW_CODE", method: "PATCH", times: 2 })
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => logged.push(message))
      yield* Effect.provide(observed, Logger.layer([logger]))
      expect(logged).toMatchObject(
        [1, 2].map((number) => ["attempt.failed", { operation: "setStock", number, failure: "UnrecognizedError" }])
      )
      expect(yield* requests).toHaveLength(3)
    }).pipe(TestTime.advancing, Effect.provide(world())))
})

describe("NotifyBuyer", () => {
  it.effect("sends a message once, also when its response is lost", () =>
    Effect.gen(function*() {
      const { addFault, state } = yield* Sandbox.Sandbox
      const conversation = ConversationId.make("conv_301")
      expect(yield* notify(conversation, "On its way")).toBe("sent")
      yield* addFault({ kind: "drop", when: "after", path: "/conversations/*" })
      expect(yield* notify(conversation, "Arrived")).toBe("unknown")
      yield* addFault({ kind: "status", when: "before", status: 403, code: "CHAT_NOT_ALLOWED" })
      expect(yield* notify(conversation, "Hello")).toBe("refused")
      const { messages } = yield* state
      expect(messages.flatMap(({ text }) => ["On its way", "Arrived", "Hello"].includes(text) ? [text] : [])).toEqual([
        "On its way",
        "Arrived"
      ])
    }).pipe(TestTime.advancing, Effect.provide(world())))
})

describe("CatchCategory", () => {
  it.effect("gives the post, or none when a quota is used up, and leaves every other failure", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      expect(yield* postIfPossible("Hello")).toMatchObject(Option.some({ text: "Hello" }))
      yield* addFault({ kind: "status", when: "before", status: 403, code: "PROFILE_INCOMPLETE" })
      expect(yield* Effect.flip(postIfPossible("Hello again"))).toMatchObject({ _tag: "ProfileIncomplete" })
      yield* addFault({ kind: "status", when: "before", status: 429, retryAfter: "43200" })
      expect(yield* postIfPossible("Hello again")).toEqual(Option.none())
    }).pipe(TestTime.advancing, Effect.provide(world())))

  it.effect("gives none within seconds while the rate limit is used up", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(Profiles, ({ me }) => me)
      const before = yield* Clock.currentTimeMillis
      expect(yield* postIfPossible("Hello")).toEqual(Option.none())
      expect((yield* Clock.currentTimeMillis) - before).toBeLessThanOrEqual(5_000)
    }).pipe(TestTime.advancing, Effect.provide(world({ rateLimit: 1 }))))
})

describe("ReserveSlot", () => {
  it.effect("chooses what to send when a slot is free, and not before", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(Profiles, ({ me }) => me)
      const mostUrgent = Effect.map(Clock.currentTimeMillis, (now) => [mug, now >= 60_000 ? 1 : 0] as const)
      const product = yield* sendMostUrgent(mostUrgent)
      expect(product.stock).toBe(1)
      expect(yield* stockOfMug).toBe(1)
    }).pipe(TestTime.advancing, Effect.provide(world({ rateLimit: 1 }))))
})

describe("SendMany", () => {
  const change = (id: string, wanted: number, confirmed?: number) => ({ product: ProductId.make(id), wanted, confirmed })
  const ids = Array.from({ length: 20 }, (_, number) => `P-${number}`)
  const layer = world({}, { fixtures: { products: ids.map((id) => ({ id })) } })
  const sent = Effect.map(requests, (all) => all.filter(({ method }) => method === "PATCH").map(({ params }) => params["id"]))

  it.effect("sends what is sold out first, then what falls, and goes on behind one that is refused", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", method: "PATCH", path: "*/P-1/stock" })
      const ended = yield* sendMany([change("P-0", 4, 3), change("P-1", 3, 4), change("P-2", 0, 9), change("P-3", 1)])
      expect(yield* sent).toEqual(["P-2", "P-1", "P-0", "P-3"])
      expect(ended.filter(({ failure }) => failure !== undefined)).toEqual([{
        product: "P-1",
        failure: "StoreBlocked",
        mayHaveHappened: false
      }])
    }).pipe(TestTime.advancing, Effect.provide(layer)))

  it.effect("waits while every one is refused, and goes on as soon as one is accepted", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", method: "PATCH", times: 15 })
      const ended = yield* sendMany(ids.map((id) => change(id, 1)))
      expect(ended.map(({ failure }) => failure)).toEqual(ids.map((_, place) => place < 15 ? "StoreBlocked" : undefined))
      // Three that show it, ten trials at once, and two after pauses.
      const minutes = (yield* Clock.currentTimeMillis) / 60_000
      expect(minutes).toBeGreaterThan(0.75 * (0.25 + 0.5 + 1))
      expect(minutes).toBeLessThan(2)
    }).pipe(TestTime.advancing, Effect.provide(layer)))
})

describe("ResumeList", () => {
  it.effect("goes on behind the last page that was saved, and ends without a cursor", () =>
    Effect.gen(function*() {
      const saved: Array<Post> = []
      let cursor: string | undefined
      const save = (pages: number) => (posts: ReadonlyArray<Post>, next: string | undefined) =>
        Effect.suspend(() => {
          if (pages-- === 0) {
            return Effect.fail("the disk is full")
          }
          saved.push(...posts)
          cursor = next
          return Effect.void
        })
      expect(yield* Effect.flip(readFrom(undefined, save(1)))).toBe("the disk is full")
      expect(saved).toHaveLength(100)
      expect(cursor).toEqual(expect.any(String))
      yield* readFrom(cursor, save(100))
      expect(cursor).toBeUndefined()
      const all = yield* Stream.runCollect(texts)
      expect(saved.map(({ text }) => text)).toEqual(all)
      expect(all.length).toBeGreaterThan(250)
    }).pipe(
      Effect.provide(world({}, { fixtures: { generate: { people: 0, follows: 0, posts: 250, products: 0, orders: 0, conversations: 0 } } }))
    ))
})

describe("ShareAllowance", () => {
  const folder = Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "plaza-shared-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true }))
  )

  it.live("gives two clients one allowance", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      const layer = sharing({ apiKey, baseUrl }, join(yield* folder, "allowance.sqlite"))
      const calls = Effect.flatMap(Profiles, ({ me }) => Effect.replicateEffect(me, 3, { discard: true }))
      const free = Effect.map(Effect.flatMap(RateLimit.RateLimit, ({ status }) => status), (status) => status.free)
      const freeAfter = Effect.andThen(calls, free)
      expect(yield* Effect.provide(freeAfter, layer)).toBe(117)
      expect(yield* Effect.provide(freeAfter, Layer.fresh(layer))).toBe(114)
    }).pipe(Effect.provide(Sandbox.layerServer())))
})
