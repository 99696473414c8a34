/** The service against the sandbox, in virtual time: with faults, and with services that behave differently. */
import { expect, it } from "@effect/vitest"
import { Plaza, TestTime } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { RestockAlerts } from "./RestockAlerts.ts"

/** The application with a sandbox in place of the service. */
const world = (options: Sandbox.Options = {}) =>
  RestockAlerts.layer.pipe(
    Layer.provide(Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl })))),
    Layer.provideMerge(Sandbox.layerHttpClient(options))
  )

const mug = ProductId.make("MUG-BLUE-350")
const restock = Effect.flatMap(RestockAlerts, ({ restock }) => restock(mug, { from: 0, to: 12 }))
/** The posts that the sandbox has created, as they were sent. A service may store another form of a text. */
const announcements = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ commits }) => commits),
  (commits) => commits.filter(({ operation }) => operation === "createPost").length)
const stock = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state),
  ({ products }) => products.find(({ id }) => id === mug)?.stock)

it.effect("announces a product once a day", () =>
  Effect.gen(function*() {
    expect([yield* restock, yield* restock]).toEqual(["announced", "not announced"])
    yield* TestClock.adjust("1 day")
    expect(yield* restock).toBe("announced")
    expect(yield* announcements).toBe(2)
  }).pipe(TestTime.advancing, Effect.provide(world())))

it.effect("announces once when the service fails after it has stored the post", () =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.addFault({ kind: "status", when: "after", status: 503, path: "/posts", times: 2 })
    expect(yield* restock).toBe("announced")
    expect(yield* announcements).toBe(1)
  }).pipe(TestTime.advancing, Effect.provide(world())))

it.effect("doesn't repeat a post that may exist", () =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    // The response never arrives: the client can't know whether the service still works on the request.
    yield* sandbox.addFault({ kind: "delay", when: "before", millis: 3_600_000, path: "/posts" })
    expect([yield* restock, yield* restock]).toEqual(["unknown", "not announced"])
    expect(yield* sandbox.countRequests({ method: "POST", path: "/posts" })).toBe(1)
  }).pipe(TestTime.advancing, Effect.provide(world())))

it.effect("doesn't announce a product whose stock the service refuses", () =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", method: "PATCH" })
    expect(yield* Effect.flip(restock)).toMatchObject({ _tag: "StoreBlocked" })
    expect(yield* announcements).toBe(0)
  }).pipe(TestTime.advancing, Effect.provide(world())))

// The latitude: what the document permits a service to do differently, drawn from a seed.
it.effect.each(Array.from({ length: 8 }, (_, seed) => seed))("announces at most once at any service: latitude %i",
  (latitude) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.addFault({ kind: "status", when: "after", status: 503, path: "/posts" })
      yield* sandbox.addFault({ kind: "drop", when: "after", method: "PATCH" })
      expect(["announced", "unknown"]).toContain(yield* restock)
      expect(yield* stock).toBe(12)
      expect(yield* announcements).toBe(1)
    }).pipe(TestTime.advancing, Effect.provide(world({ latitude }))))
