import { describe, expect, it } from "@effect/vitest"
import { Profiles, RateLimit } from "@plaza/client"
import { Cause, Clock, DateTime, Deferred, Duration, Effect, Either, Exit, FastCheck as fc, Fiber, TestClock } from "effect"
import * as CountingServer from "./support/CountingServer.js"
import * as Fake from "./support/FakeService.js"
import * as SimulatedTime from "./support/SimulatedTime.js"
import * as Virtual from "./support/Virtual.js"

const patient = Duration.hours(1)

const makeMemory = (allowance: RateLimit.Allowance) =>
  Effect.map(RateLimit.makeMemory(allowance), (limit) => ({
    ...limit,
    withSlot: (patience: Duration.Duration) => RateLimit.withSlot(limit, patience)
  }))

const takeAll = (limit: Effect.Effect.Success<ReturnType<typeof makeMemory>>, requests: number) =>
  Effect.all(Array.from({ length: requests }, () => limit.withSlot(patient)(Effect.void)), {
    concurrency: "unbounded",
    discard: true
  })

describe("the allowance of a key", () => {
  const latencies = fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200 })), {
    minLength: 60,
    maxLength: 60
  })

  for (const kind of ["sliding", "fixed", "bucket"] as const) {
    it.scoped.prop(
      `is never exceeded as a ${kind} window counts, and used to the full`,
      [latencies, fc.integer({ min: 1, max: 12 })],
      ([requests, limit]) =>
        Effect.gen(function*() {
          const window = 6_000
          const server = yield* CountingServer.make(kind, limit, window)
          const { withSlot } = yield* makeMemory({ limit, window })
          yield* Effect.forEach(requests, ([before, after]) => withSlot(patient)(server.request(before, after)), {
            concurrency: "unbounded",
            discard: true
          })
          expect(yield* server.refused).toBe(0)
          const counted = yield* server.counted
          // Whole windows full of requests, each begun no later than one latency after the one before.
          const windows = Math.ceil(requests.length / limit) - 1
          expect(Math.max(...counted) - Math.min(...counted)).toBeLessThanOrEqual(windows * (window + 401) + 400)
        }).pipe(SimulatedTime.run),
      { fastCheck: { numRuns: 20 } }
    )
  }

  it.scoped("frees a slot one window after the answer, not after the sending", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* makeMemory({ limit: 1, window: "60 seconds" })
      const second = yield* Effect.fork(Effect.zipRight(
        withSlot(patient)(Effect.sleep("10 seconds")),
        withSlot(patient)(Clock.currentTimeMillis)
      ))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(second)).toBe(70_001)
    }))

  it.scoped("is handed out in the order of asking", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* makeMemory({ limit: 2, window: "1 second" })
      const order: Array<number> = []
      const all = Array.from({ length: 9 }, (_, index) => withSlot(patient)(Effect.sync(() => order.push(index))))
      yield* Virtual.run(Effect.all(all, { concurrency: "unbounded" }))
      expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    }))

  it.scoped("goes to the next one when a waiter goes away", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* makeMemory({ limit: 1, window: "1 minute" })
      yield* withSlot(patient)(Effect.void)
      const leaving = yield* Effect.fork(withSlot(patient)(Effect.void))
      const staying = yield* Effect.fork(withSlot(patient)(Clock.currentTimeMillis))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(leaving)
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(staying)).toBe(60_001)
    }))

  it.scoped.prop(
    "is not lost or gained when waiters go away at any moment",
    [fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 25 })],
    ([leaveAfter]) =>
      Effect.gen(function*() {
        const { withSlot } = yield* makeMemory({ limit: 2, window: "5 seconds" })
        yield* Virtual.run(Effect.forEach(
          leaveAfter,
          (seconds) =>
            Effect.timeoutOption(withSlot(patient)(Effect.sleep("1 second")), Duration.seconds(seconds)),
          { concurrency: "unbounded" }
        ))
        yield* TestClock.adjust("1 minute")
        // Both slots are there again, and no third one.
        const inside = yield* Deferred.make<void>()
        let entered = 0
        const holders = yield* Effect.forkAll(Array.from(
          { length: 3 },
          () => withSlot(patient)(Effect.zipRight(Effect.sync(() => entered++), Deferred.await(inside)))
        ))
        yield* TestClock.adjust("1 second")
        expect(entered).toBe(2)
        yield* Fiber.interrupt(holders)
      }),
    { fastCheck: { numRuns: 30 } }
  )

  it.scoped("counts a request that was interrupted, since it may have arrived", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* makeMemory({ limit: 1, window: "1 minute" })
      const request = yield* Effect.fork(withSlot(patient)(Effect.never))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(request)
      const next = yield* Effect.fork(withSlot(patient)(Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(next)).toBe(70_001)
    }))
})

describe("a 429 from elsewhere", () => {
  it.scoped("stops every waiting request of the key until its time has passed", () =>
    Effect.gen(function*() {
      const { closeFor, withSlot } = yield* makeMemory({ limit: 1, window: "10 seconds" })
      yield* withSlot(patient)(Effect.void)
      const waiting = yield* Effect.fork(Effect.all(
        [withSlot(patient)(Clock.currentTimeMillis), withSlot(patient)(Clock.currentTimeMillis)],
        { concurrency: "unbounded" }
      ))
      yield* TestClock.adjust("5 seconds")
      yield* closeFor(Duration.seconds(30))
      yield* closeFor(Duration.seconds(1))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(waiting)).toEqual([35_000, 45_001])
    }))

  it.scoped("fails those at once who can't wait that long, with the time to come back at", () =>
    Effect.gen(function*() {
      const { closeFor, withSlot } = yield* makeMemory({ limit: 1, window: "10 seconds" })
      yield* withSlot(patient)(Effect.void)
      const waiting = yield* Effect.fork(Effect.either(withSlot(Duration.seconds(20))(Effect.void)))
      yield* TestClock.adjust("1 second")
      yield* closeFor(Duration.hours(2))
      const late = yield* Effect.either(withSlot(Duration.minutes(5))(Effect.void))
      const results = [yield* Fiber.join(waiting), late]
      for (const result of results) {
        expect(Either.getLeft(result)).toMatchObject({ value: { _tag: "RateLimitWaitExceeded" } })
        expect(Either.isLeft(result) && DateTime.toEpochMillis(result.left.retryAt)).toBe(7_201_000)
      }
      expect(yield* Clock.currentTimeMillis).toBe(1_000)
    }))

  it.scoped("leaves a caller's patience as it is: one that nobody can serve in time gives up when it ends", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* makeMemory({ limit: 1, window: "10 seconds" })
      yield* Effect.fork(withSlot(patient)(Effect.never))
      yield* Effect.yieldNow()
      const waiting = yield* Effect.fork(Effect.either(withSlot(Duration.seconds(20))(Effect.void)))
      yield* TestClock.adjust("19 seconds")
      expect(waiting.unsafePoll()).toBeNull()
      yield* TestClock.adjust("1 second")
      expect(Either.isLeft(yield* Fiber.join(waiting))).toBe(true)
    }))

  it.scoped("fails at once who would stand too far back in the line", () =>
    Effect.gen(function*() {
      const limit = yield* makeMemory({ limit: 2, window: "1 minute" })
      yield* takeAll(limit, 2)
      yield* Effect.fork(takeAll(limit, 2))
      yield* TestClock.adjust("1 second")
      const result = yield* Effect.either(limit.withSlot(Duration.seconds(30))(Effect.void))
      expect(Either.isLeft(result)).toBe(true)
    }))
})

describe("a slot that is reserved", () => {
  it.scoped("is there before what goes out in it is chosen", () =>
    Effect.gen(function*() {
      const limit = yield* makeMemory({ limit: 1, window: "1 minute" })
      yield* limit.withSlot(patient)(Effect.void)
      let urgent = "rising"
      const sent = yield* Effect.fork(Effect.scoped(Effect.gen(function*() {
        const slot = yield* limit.reserve(patient)
        return yield* slot.use(Effect.sync(() => urgent))
      })))
      yield* TestClock.adjust("30 seconds")
      urgent = "sold out"
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(sent)).toBe("sold out")
    }))

  it.scoped("goes to the next one when it isn't used, and serves no second request", () =>
    Effect.gen(function*() {
      const limit = yield* makeMemory({ limit: 1, window: "1 minute" })
      yield* Effect.scoped(limit.reserve(patient))
      const twice = yield* Effect.exit(Effect.scoped(Effect.flatMap(limit.reserve(patient), ({ use }) =>
        Effect.zipRight(use(Effect.void), use(Effect.void)))))
      expect(Exit.isFailure(twice) && Cause.isDie(twice.cause)).toBe(true)
      const next = yield* Effect.fork(limit.withSlot(patient)(Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(next)).toBe(60_001)
    }))

  it.effect("is the one that a call goes out in", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([Fake.json({ id: "1" })], { rateLimit: 1 })
      yield* Effect.scoped(Effect.gen(function*() {
        const limit = yield* RateLimit.RateLimit
        const slot = yield* limit.reserve(patient)
        const { me } = yield* Profiles
        // It would have to wait a minute for another one.
        yield* RateLimit.inSlot(slot)(me)
      })).pipe(Effect.provide(layer))
      expect(calls).toHaveLength(1)
    }))
})
