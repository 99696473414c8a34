/** Calls of a client whose layer is released, and the timeouts of attempts. */
import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, Plaza, Posts, Profiles, RateLimit, Store } from "@plaza/client"
import { ConversationId, OrderId, PostId, ProductId } from "@plaza/domain"
import { Clock, Context, Duration, Effect, Exit, Fiber, Layer, Redacted, Schedule, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Fake from "./support/FakeService.ts"
import * as Virtual from "./support/Virtual.ts"

const built = <R, E>(layer: Layer.Layer<R, E>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Scope.provide(Layer.build(layer), scope)
    return { context, release: Scope.close(scope, Exit.void) }
  })

/** A client of an allowance that other clients share. */
const builtOn = (limit: RateLimit.RateLimit["Service"]) =>
  built(Plaza.layerWithoutRateLimit({ apiKey: Redacted.make(Fake.key), baseUrl: Fake.baseUrl }).pipe(
    Layer.provide(Layer.succeed(RateLimit.RateLimit, limit)),
    Layer.provide(Fake.layerHttpClient(() => Effect.succeed(Fake.json({ id: "1" }))))
  ))

describe("a client whose layer is released", () => {
  it.effect("fails calls in flight with ConnectionLost, or with OutcomeUnknown if they must not be repeated", () =>
    Effect.gen(function*() {
      const { context, release } = yield* built(Fake.layerPlaza(() => Effect.succeed("hang")))
      const { me } = Context.get(context, Profiles)
      const { send } = Context.get(context, Chat)
      const { create, like } = Context.get(context, Posts)
      const calls = yield* Effect.forkChild(Effect.all([
        Effect.flip(me),
        Effect.flip(like(PostId.make("1"))),
        Effect.flip(send(ConversationId.make("c"), "hello")),
        Effect.flip(create({ text: "hello" }))
      ], { concurrency: "unbounded" }))
      yield* TestClock.adjust("1 second")
      yield* release
      yield* TestClock.adjust("10 seconds")
      const lost = { _tag: "ConnectionLost", reason: "CLOSED" }
      const unknown = { _tag: "OutcomeUnknown", cause: lost }
      expect(yield* Fiber.join(calls)).toMatchObject([lost, lost, unknown, unknown])
    }))

  it.effect("ends the waits between attempts, and the search for a post, at once", () =>
    Effect.gen(function*() {
      const { context, release } = yield* built(
        Fake.layerPlaza(
          ({ method }) => Effect.succeed(method === "GET" ? Fake.json({ data: [], next_cursor: null }) : { status: 503 }),
          { retry: Schedule.spaced("1 hour"), settleTime: "1 hour" }
        )
      )
      const { setStock } = Context.get(context, Store)
      const { create } = Context.get(context, Posts)
      const calls = yield* Effect.forkChild(Effect.all([
        Effect.flip(setStock(ProductId.make("p"), 1)),
        // Waits for the call before it.
        Effect.flip(setStock(ProductId.make("p"), 2)),
        Effect.flip(create({ text: "hello" }))
      ], { concurrency: "unbounded" }))
      yield* TestClock.adjust("1 minute")
      yield* release
      yield* TestClock.adjust(0)
      const closed = { _tag: "ClientClosed" }
      const unknown = { _tag: "OutcomeUnknown", cause: closed }
      expect(yield* Fiber.join(calls)).toMatchObject([unknown, closed, unknown])
      expect(yield* Clock.currentTimeMillis).toBe(60_000)
    }))

  it.effect("fails every later call, and the calls that wait for a slot", () =>
    Effect.gen(function*() {
      const { context, release } = yield* built(Fake.layerPlaza(() => Effect.succeed(Fake.json({ id: "1" })), { rateLimit: 1 }))
      const { me } = Context.get(context, Profiles)
      yield* me
      const waiting = yield* Effect.forkChild(Effect.flip(me))
      yield* TestClock.adjust("1 second")
      yield* release
      expect((yield* Fiber.join(waiting))._tag).toBe("ClientClosed")
      expect((yield* Effect.flip(me))._tag).toBe("ClientClosed")
    }))

  it.effect("fails calls that wait for a slot of an allowance that stays open", () =>
    Effect.gen(function*() {
      const limit = Context.get(yield* Layer.build(RateLimit.layerMemory({ limit: 1 })), RateLimit.RateLimit)
      const { context, release } = yield* builtOn(limit)
      const { me } = Context.get(context, Profiles)
      yield* me
      const waiting = yield* Effect.forkChild(Effect.flip(me))
      yield* TestClock.adjust("1 second")
      yield* release
      expect((yield* Fiber.join(waiting))._tag).toBe("ClientClosed")
      const other = yield* Effect.forkChild(limit.withSlot(Duration.minutes(2), Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(other)).toBe(60_001)
    }))

  it.effect("fails calls that wait for a paused operation of an allowance that stays open", () =>
    Effect.gen(function*() {
      const limit = Context.get(yield* Layer.build(RateLimit.layerMemory()), RateLimit.RateLimit)
      const { context, release } = yield* builtOn(limit)
      yield* limit.pauseFor(Duration.minutes(2), "getMe")
      const waiting = yield* Effect.forkChild(Effect.flip(Context.get(context, Profiles).me))
      yield* TestClock.adjust("1 second")
      yield* release
      yield* TestClock.adjust("1 second")
      expect(waiting.pollUnsafe()).toBeDefined()
      expect((yield* Fiber.join(waiting))._tag).toBe("ClientClosed")
    }))

  const sameTarget: Readonly<Record<string, (client: Context.Context<Plaza.Services>) => Effect.Effect<unknown, ClientError.Failure>>> = {
    product: (client) => Context.get(client, Store).setStock(ProductId.make("p"), 1),
    order: (client) => Context.get(client, Store).ship(OrderId.make("o"), { carrier: "C", trackingNumber: "T" }),
    text: (client) => Context.get(client, Posts).create({ text: "hello" })
  }
  for (const [target, callOf] of Object.entries(sameTarget)) {
    it.effect(`fails calls that wait for an earlier call of their ${target}, and such calls after it`, () =>
      Effect.gen(function*() {
        const { context, release } = yield* built(Fake.layerPlaza(() => Effect.succeed("hang")))
        const call = Effect.flip(callOf(context))
        const first = yield* Effect.forkChild(call)
        const second = yield* Effect.forkChild(call)
        yield* TestClock.adjust("1 second")
        yield* release
        yield* TestClock.adjust("1 second")
        expect((yield* Fiber.join(first))._tag).not.toBe("ClientClosed")
        expect([(yield* Fiber.join(second))._tag, (yield* call)._tag]).toEqual(["ClientClosed", "ClientClosed"])
      }))
  }

  it.effect("fails a call that waits for its retry, with an unknown outcome if it is a write", () =>
    Effect.gen(function*() {
      const { context, release } = yield* built(Fake.layerPlaza(() => Effect.succeed({ status: 503 })))
      const read = yield* Effect.forkChild(Effect.flip(Context.get(context, Profiles).me))
      const write = yield* Effect.forkChild(Effect.flip(Context.get(context, Store).setStock(ProductId.make("p"), 1)))
      yield* TestClock.adjust("100 millis")
      yield* release
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(read)).toMatchObject({ _tag: "ClientClosed" })
      expect(yield* Fiber.join(write)).toMatchObject({ _tag: "OutcomeUnknown", cause: { _tag: "ClientClosed" } })
    }))
})

describe("a timeout", () => {
  it.effect("applies also if the wall clock is set back by an hour", () =>
    Effect.flatMap(Virtual.wallClock, ({ clock, setBy }) =>
      Effect.gen(function*() {
        const layer = Fake.layerPlaza(() => Effect.succeed("hang"), { timeout: "1 second" })
        const call = yield* Effect.forkChild(
          Effect.flip(Effect.provide(Effect.flatMap(Profiles, ({ me }) => me), layer))
        )
        yield* TestClock.adjust("500 millis")
        setBy(-3_600_000)
        // Five attempts of a second each, and the delays between them.
        yield* TestClock.adjust("20 seconds")
        expect((yield* Fiber.join(call))._tag).toBe("AttemptTimeout")
      }).pipe(Effect.provideService(Clock.Clock, clock))))
})
