import { describe, expect, it } from "@effect/vitest"
import { Chat, Posts, Profiles, RateLimit } from "@plaza-legacy/client"
import { ConversationId, PostId } from "@plaza-legacy/domain"
import { Clock, Context, Duration, Effect, Exit, Fiber, Layer, Redacted, Scope, TestClock } from "effect"
import * as Plaza from "../src/Plaza.ts"
import * as Fake from "./support/FakeService.ts"
import * as Virtual from "./support/Virtual.ts"

const built = <R, E>(layer: Layer.Layer<R, E>) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Scope.extend(Layer.build(layer), scope)
    return { context, release: Scope.close(scope, Exit.void) }
  })

/** A client of an allowance that other clients share. */
const builtOn = (limit: RateLimit.RateLimit["Type"]) =>
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
      const calls = yield* Effect.fork(Effect.all([
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

  it.effect("fails every later call, and the calls that wait for a slot", () =>
    Effect.gen(function*() {
      const { context, release } = yield* built(Fake.layerPlaza(() => Effect.succeed(Fake.json({ id: "1" })), { rateLimit: 1 }))
      const { me } = Context.get(context, Profiles)
      yield* me
      const waiting = yield* Effect.fork(Effect.flip(me))
      yield* TestClock.adjust("1 second")
      yield* release
      expect((yield* Fiber.join(waiting))._tag).toBe("ClientClosed")
      expect((yield* Effect.flip(me))._tag).toBe("ClientClosed")
    }))

  it.scoped("fails calls that wait for a slot of an allowance that stays open", () =>
    Effect.gen(function*() {
      const limit = Context.get(yield* Layer.build(RateLimit.layerMemory({ limit: 1 })), RateLimit.RateLimit)
      const { context, release } = yield* builtOn(limit)
      const { me } = Context.get(context, Profiles)
      yield* me
      const waiting = yield* Effect.fork(Effect.flip(me))
      yield* TestClock.adjust("1 second")
      yield* release
      expect((yield* Fiber.join(waiting))._tag).toBe("ClientClosed")
      const other = yield* Effect.fork(limit.withSlot(Duration.minutes(2), Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(other)).toBe(60_001)
    }))

  it.scoped("fails calls that wait for a paused operation of an allowance that stays open", () =>
    Effect.gen(function*() {
      const limit = Context.get(yield* Layer.build(RateLimit.layerMemory()), RateLimit.RateLimit)
      const { context, release } = yield* builtOn(limit)
      yield* limit.pauseFor(Duration.minutes(2), "getMe")
      const waiting = yield* Effect.fork(Effect.flip(Context.get(context, Profiles).me))
      yield* TestClock.adjust("1 second")
      yield* release
      yield* TestClock.adjust("1 second")
      expect(waiting.unsafePoll()).not.toBeNull()
      expect((yield* Fiber.join(waiting))._tag).toBe("ClientClosed")
    }))
})

describe("a timeout", () => {
  it.effect("applies also if the wall clock is set back by an hour", () =>
    Effect.flatMap(Virtual.wallClock, ({ clock, setBy }) =>
      Effect.gen(function*() {
        const layer = Fake.layerPlaza(() => Effect.succeed("hang"), { timeout: "1 second" })
        const call = yield* Effect.fork(
          Effect.flip(Effect.provide(Effect.flatMap(Profiles, ({ me }) => me), layer))
        )
        yield* TestClock.adjust("500 millis")
        setBy(-3_600_000)
        // Five attempts of a second each, and the delays between them.
        yield* TestClock.adjust("20 seconds")
        expect((yield* Fiber.join(call))._tag).toBe("AttemptTimeout")
      }).pipe(Effect.withClock(clock))))
})
