import { describe, expect, it } from "@effect/vitest"
import { Profiles, RateLimit } from "@plaza/client"
import * as Generate from "@plaza/testing/Generators"
import { Clock, Duration, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { inVirtualTime, longMaxWait, simulated, unusable } from "./support/AllowanceRules.ts"
import * as Fake from "./support/FakeService.ts"

describe("the allowance of a key, in memory", () => {
  inVirtualTime((allowance) => Layer.orDie(RateLimit.layerMemory(allowance)), 30)

  for (const [setting, values] of Object.entries(unusable)) {
    for (const value of values) {
      it.effect(`is refused with a ${setting} of ${String(value)}, and the setting is named`, () =>
        Effect.gen(function*() {
          const failure = yield* Effect.flip(Layer.build(RateLimit.layerMemory({ [setting]: value })))
          expect(failure).toMatchObject({ _tag: "InvalidSettings", setting, message: expect.stringMatching(`^${setting} must`) as unknown })
        }))
    }
  }
})

describe("requests of the key that another process sent", () => {
  const millis = Generate.between(0, 9_000)

  it.effect.prop(
    "count until a window after their responses, together with requests of this process, also beyond the limit",
    [
      Generate.between(1, 6),
      Generate.arrayOf(Generate.arrayOf(millis), { minLength: 1, maxLength: 3 }),
      Generate.arrayOf(millis, { maxLength: 20 }),
      Generate.elementOf([0, 700])
    ],
    ([limit, batches, latencies, tolerance]) =>
      Effect.gen(function*() {
        const window = 6_000
        const { occupy, status, withSlot } = yield* RateLimit.makeMemory({ limit, window })
        const counted: Array<number> = []
        let underWay = 0
        const request = (latency: number) =>
          Effect.gen(function*() {
            const now = yield* Clock.currentTimeMillis
            expect(counted.filter((moment) => moment > now - window).length + underWay).toBeLessThan(limit)
            underWay++
            yield* Effect.sleep(latency)
            underWay--
            counted.push(yield* Clock.currentTimeMillis)
          })
        for (const ages of batches) {
          const own = yield* Effect.forkChild(
            Effect.forEach(latencies, (latency) => withSlot(longMaxWait, request(latency)), { concurrency: limit, discard: true })
          )
          yield* Effect.sleep("5 seconds")
          const now = yield* Clock.currentTimeMillis
          counted.push(...ages.map((age) => now - age + tolerance))
          yield* occupy(ages.map((age) => Duration.millis(age)), Duration.millis(tolerance))
          const recent = counted.filter((moment) => moment >= now - window).length
          const { free, inFlight } = yield* status
          expect(free).toBe(Math.max(0, limit - inFlight - recent))
          yield* Fiber.join(own)
        }
        // Nothing stays taken.
        yield* Effect.sleep("6701 millis")
        expect((yield* status).free).toBe(limit)
      }).pipe(Effect.scoped, simulated),
    { arbitrary: { runs: 50 } }
  )

  it.effect("leave the rest of the limit free at once, and their slots when they no longer count", () =>
    Effect.gen(function*() {
      const { occupy, withSlot } = yield* RateLimit.makeMemory({ limit: 2, window: "60 seconds" })
      yield* occupy([50, 10, 20].map((age) => Duration.seconds(age)))
      const sent = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3], () => withSlot(longMaxWait, Clock.currentTimeMillis), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("3 minutes")
      expect(yield* Fiber.join(sent)).toEqual([40_001, 50_001, 100_002])
    }))

  it.effect("fail waiters at once that would now miss their deadlines", () =>
    Effect.gen(function*() {
      const { occupy, withSlot } = yield* RateLimit.makeMemory({ limit: 1, window: "60 seconds" })
      yield* withSlot(longMaxWait, Effect.void)
      yield* TestClock.adjust("1 second")
      const waiting = yield* Effect.forkChild(Effect.flip(withSlot(Duration.seconds(60), Effect.void)))
      yield* TestClock.adjust("1 second")
      yield* occupy([Duration.zero])
      yield* TestClock.adjust("1 millis")
      expect(waiting.pollUnsafe()).toBeDefined()
      expect((yield* Fiber.join(waiting))._tag).toBe("RateLimitWaitExceeded")
    }))
})

/** A clock that counts the sleeping fibers. */
const countingClock = Effect.map(TestClock.testClockWith(Effect.succeed), (inner) => {
  let sleeping = 0
  let most = 0
  const clock: Clock.Clock = {
    ...inner,
    sleep: (duration) =>
      Effect.suspend(() => {
        most = Math.max(most, ++sleeping)
        return Effect.ensuring(inner.sleep(duration), Effect.sync(() => sleeping--))
      })
  }
  return { clock, most: () => most }
})

describe("10,000 waiting requests", () => {
  it.effect("need two timers", () =>
    Effect.gen(function*() {
      const { clock, most } = yield* countingClock
      const { status, withSlot } = yield* RateLimit.makeMemory()
      const requests = Array.from({ length: 10_000 }, (_, index) => withSlot(Duration.seconds(7_000 + index), Effect.void))
      yield* Effect.forkChild(Effect.provideService(Effect.all(requests, { concurrency: "unbounded" }), Clock.Clock, clock))
      yield* TestClock.adjust("1 hour")
      expect((yield* status).waiting).toBe(10_000 - 120 * 60)
      expect(most()).toBe(2)
    }))
})

describe("a pause of a month", () => {
  for (const operation of [undefined, "setStock"]) {
    it.effect(`of ${operation ?? "the key"} ends after a day, the longest pause`, () =>
      Effect.gen(function*() {
        const { pauseFor, withSlot } = yield* RateLimit.makeMemory({ limit: 1, window: "60 seconds" })
        yield* pauseFor(Duration.days(30), operation)
        const sent = yield* Effect.forkChild(withSlot(Duration.days(60), Clock.currentTimeMillis, { operation }))
        yield* TestClock.adjust("60 days")
        expect(sent.pollUnsafe()).toEqual(Exit.succeed(Duration.toMillis("1 day")))
      }))
  }
})

describe("a reserved slot", () => {
  it.effect("is used by the first attempt of a call", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([Fake.json({ id: "1" })], { rateLimit: 1 })
      yield* Effect.scoped(Effect.gen(function*() {
        const limit = yield* RateLimit.RateLimit
        const slot = yield* limit.reserve(longMaxWait)
        const { me } = yield* Profiles
        // It would have to wait a minute for another one.
        yield* RateLimit.inSlot(slot)(me)
      })).pipe(Effect.provide(layer))
      expect(calls).toHaveLength(1)
    }))
})
