/** Waiters resume synchronously, within the grant of their slot. */
import { describe, expect, it } from "@effect/vitest"
import { RateLimit } from "@plaza/client"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Clock, Duration, Effect, Exit, Fiber, Scheduler, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as WaitQueue from "../src/internal/rate-limit/WaitQueue.ts"

const minute = Duration.minutes(1)
const longMaxWait = Duration.hours(1)

describe("an allowance whose waiters resume synchronously", () => {
  it.effect("serves one request per window in each slot", () =>
    Effect.gen(function*() {
      const limit = yield* RateLimit.makeMemory({ limit: 3, window: minute })
      let inFlight = 0
      const counts: Array<number> = []
      const request = Effect.acquireUseRelease(
        Effect.sync(() => counts.push(++inFlight)),
        () => Effect.sleep("1 second"),
        () => Effect.sync(() => inFlight--)
      )
      const all = yield* Effect.forkChild(Effect.all(
        Array.from({ length: 9 }, () => limit.withSlot(longMaxWait, request)),
        { concurrency: "unbounded", discard: true }
      ))
      for (const done of [3, 6, 6, 9]) {
        yield* TestClock.adjust("31 seconds")
        expect(counts).toHaveLength(done)
      }
      expect(Math.max(...counts)).toBe(3)
      yield* Fiber.join(all)
    }))

  it.effect("grants a released slot to one waiter", () =>
    Effect.gen(function*() {
      const limit = yield* RateLimit.makeMemory({ limit: 1, window: minute })
      const scope = yield* Scope.make()
      yield* Scope.provide(limit.reserve(minute), scope)
      const sent: Array<number> = []
      const waiting = yield* Effect.forEach([1, 2, 3],
        (name) => Effect.forkChild(limit.withSlot(longMaxWait, Effect.sync(() => sent.push(name)))))
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      expect(sent).toEqual([1])
      yield* TestClock.adjust("61 seconds")
      expect(sent).toEqual([1, 2])
      yield* Fiber.interruptAll(waiting)
    }))
})

describe("a queue of waiters", () => {
  it.effect("releases the slot of a waiter that is interrupted between the grant and its next operation", () =>
    Effect.gen(function*() {
      let interrupted = 0
      // A fiber that yields after a few operations, at different places after the grant.
      for (let operations = 3; operations < 20; operations++) {
        const released: Array<number> = []
        const queue = yield* WaitQueue.make<number>({
          forecastAt: () => () => 0,
          release: (slot) => Effect.sync(() => released.push(slot))
        })
        const wait = Effect.uninterruptibleMask((restore) => queue.join(0, 1_000, {}, restore))
        const fiber = yield* Effect.forkChild(Effect.provideService(wait, Scheduler.MaxOpsBeforeYield, operations))
        yield* TestClock.adjust(0)
        expect(queue.grant(7)).toBe(true)
        fiber.interruptUnsafe()
        const exit = yield* Fiber.await(fiber)
        interrupted += Exit.isFailure(exit) ? 1 : 0
        expect(released).toEqual(Exit.isFailure(exit) ? [7] : [])
      }
      expect(interrupted).toBeGreaterThan(0)
    }))

  const anyWaiter = Arbitrary.all([
    Generate.between(10, 20),
    Generate.anyOf(["nothing", "grant", "requeue", "expire", "close", "interrupt"]),
    Generate.boolean
  ])

  it.effect.prop(
    "ends each wait once, and loses no slot, with any behaviour of the other waiters",
    [Generate.arrayOf(anyWaiter, { minLength: 1, maxLength: 12 })],
    ([waiters]) =>
      Effect.gen(function*() {
        const granted: Array<number> = []
        const released: Array<number> = []
        let slots = 0
        let ended = 0
        const queue = yield* WaitQueue.make<number>({
          forecastAt: () => () => 10,
          release: (slot) => Effect.sync(() => released.push(slot))
        })
        const grant = () => {
          const slot = slots++
          if (!queue.grant(slot)) released.push(slot)
        }
        const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
        for (const [index, [deadline, reaction, isRetry]] of waiters.entries()) {
          const react = {
            nothing: Effect.void,
            grant: Effect.sync(grant),
            requeue: Effect.sync(() => queue.requeue("other")),
            expire: queue.expire,
            close: Effect.sync(queue.close),
            interrupt: Effect.suspend(() => Fiber.interruptAll(fibers.slice(index + 1, index + 2)))
          }
          const options = { operation: index % 2 === 0 ? "one" : "other", isRetry }
          const wait = Effect.uninterruptibleMask((restore) => queue.join(0, deadline, options, restore))
          fibers.push(
            yield* Effect.forkChild(
              Effect.onExit(wait, (exit) => {
                ended++
                if (Exit.isSuccess(exit) && exit.value !== undefined) {
                  granted.push(exit.value.slot)
                }
                return react[reaction]
              })
            )
          )
        }
        yield* Effect.yieldNow
        grant()
        yield* TestClock.adjust("15 millis")
        grant()
        yield* Effect.sync(queue.close)
        yield* Effect.forEach(fibers, (fiber) => Fiber.await(fiber))
        expect(ended).toBe(waiters.length)
        expect([...granted, ...released].sort((one, other) => one - other)).toEqual(Array.from({ length: slots }, (_, slot) => slot))
      }).pipe(Effect.scoped)
  )
})

describe("an allowance with no waiting request", () => {
  /** The clock of the test, which counts the sleeps that have not ended. */
  const counting = Effect.map(Clock.Clock, (inner) => {
    let sleeping = 0
    const clock: Clock.Clock = {
      currentTimeMillis: inner.currentTimeMillis,
      currentTimeMillisUnsafe: () => inner.currentTimeMillisUnsafe(),
      currentTimeNanos: inner.currentTimeNanos,
      currentTimeNanosUnsafe: () => inner.currentTimeNanosUnsafe(),
      monotonicTimeNanos: inner.monotonicTimeNanos,
      monotonicTimeNanosUnsafe: () => inner.monotonicTimeNanosUnsafe(),
      sleep: (duration) =>
        Effect.acquireUseRelease(
          Effect.sync(() => sleeping++),
          () => inner.sleep(duration),
          () => Effect.sync(() => sleeping--)
        )
    }
    return { clock, sleeping: () => sleeping }
  })

  it.effect("has no timer, which would keep a program alive", () =>
    Effect.gen(function*() {
      const { clock, sleeping } = yield* counting
      const limit = yield* Effect.provideService(RateLimit.makeMemory({ limit: 1, window: minute }), Clock.Clock, clock)
      const request = Effect.provideService(limit.withSlot(longMaxWait, Effect.void), Clock.Clock, clock)
      yield* request
      const interrupted = yield* Effect.forkChild(request)
      const served = yield* Effect.forkChild(request)
      yield* TestClock.adjust("1 second")
      expect(sleeping()).toBeGreaterThan(0)
      yield* Fiber.interrupt(interrupted)
      yield* TestClock.adjust(minute)
      yield* Fiber.join(served)
      yield* TestClock.adjust(0)
      expect(sleeping()).toBe(0)
      const last = yield* Effect.forkChild(request)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(last)
      yield* TestClock.adjust(0)
      expect(sleeping()).toBe(0)
    }))
})
