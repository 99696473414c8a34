/** Slots under a scheduler that resumes a fiber synchronously instead of in a later task. */
import { describe, expect, it } from "@effect/vitest"
import { RateLimit } from "@plaza-legacy/client"
import { Deferred, Duration, Effect, Exit, FastCheck as fc, Fiber, Option, type Scheduler, Scope, TestClock } from "effect"
import * as Deadlines from "../src/internal/delivery/Deadlines.ts"
import * as Shutdown from "../src/internal/delivery/Shutdown.ts"
import { WaitQueue } from "../src/internal/rate-limit/WaitQueue.ts"

const atOnce: Scheduler.Scheduler = {
  shouldYield: () => false,
  scheduleTask: (task) => task()
}

const minute = Duration.minutes(1)
const reactions = ["nothing", "grant", "requeue", "expire", "close"] as const

describe("with a waiter that resumes synchronously", () => {
  it.scoped("each slot of an allowance serves one request per window", () =>
    Effect.gen(function*() {
      const limit = yield* RateLimit.makeMemory({ limit: 3, window: minute })
      let inFlight = 0
      const counts: Array<number> = []
      const request = Effect.acquireUseRelease(
        Effect.sync(() => counts.push(++inFlight)),
        () => Effect.sleep("1 second"),
        () => Effect.sync(() => inFlight--)
      )
      const all = yield* Effect.fork(Effect.all(
        Array.from({ length: 9 }, () => limit.withSlot(Duration.hours(1), request)),
        { concurrency: "unbounded", discard: true }
      ))
      for (const done of [3, 6, 6, 9]) {
        yield* TestClock.adjust("31 seconds")
        expect(counts).toHaveLength(done)
      }
      expect(Math.max(...counts)).toBe(3)
      yield* Fiber.join(all)
    }).pipe(Effect.withScheduler(atOnce)))

  it.scoped("a released slot is granted to one waiter", () =>
    Effect.gen(function*() {
      const limit = yield* RateLimit.makeMemory({ limit: 1, window: minute })
      const scope = yield* Scope.make()
      yield* Scope.extend(limit.reserve(minute), scope)
      const sent: Array<number> = []
      const waiting = yield* Effect.forEach([1, 2, 3],
        (name) => Effect.fork(limit.withSlot(Duration.hours(1), Effect.sync(() => sent.push(name)))))
      yield* Scope.close(scope, Exit.void)
      expect(sent).toEqual([1])
      yield* TestClock.adjust("61 seconds")
      expect(sent).toEqual([1, 2])
      yield* Fiber.interruptAll(waiting)
    }).pipe(Effect.withScheduler(atOnce)))

  it.effect.prop("a waiter ends once, with any behaviour of the other waiters", [
    fc.array(fc.record({ deadline: fc.integer({ min: 0, max: 20 }), reaction: fc.constantFrom(...reactions) }), {
      minLength: 1,
      maxLength: 12
    })
  ], ([waiters]) =>
    Effect.gen(function*() {
      const granted: Array<number> = []
      const released: Array<number> = []
      let slots = 0
      const queue = new WaitQueue<number>({ onLeave: Effect.void, release: (slot) => Effect.sync(() => released.push(slot)) })
      const forecast = { earliest: () => 10, missesDeadlineFrom: (_: number, deadline: number) => deadline }
      const react = {
        nothing: () => {},
        grant: () => {
          const slot = slots++
          if (!queue.grant(slot)) released.push(slot)
        },
        requeue: () => queue.requeue("other"),
        expire: () => queue.expire(10, forecast),
        close: () => queue.close()
      }
      const ends: Array<number> = waiters.map(() => 0)
      const fibers = yield* Effect.forEach(waiters, ({ deadline, reaction }, index) => {
        const waiter = queue.enqueue(0, deadline, { operation: index % 2 === 0 ? "one" : "other" }, forecast)
        return Effect.fork(Effect.exit(queue.wait(waiter, (effect) => effect)).pipe(Effect.map((exit) => {
          ends[index] = (ends[index] ?? 0) + 1
          Option.map(Option.flatten(Exit.match(exit, { onFailure: () => Option.none(), onSuccess: Option.some })),
            (slot) => granted.push(slot))
          react[reaction]()
        })))
      })
      queue.expire(10, forecast)
      react.grant()
      queue.close()
      yield* Fiber.joinAll(fibers)
      expect(ends).toEqual(waiters.map(() => 1))
      expect([...granted, ...released].sort((one, other) => one - other)).toEqual(Array.from({ length: slots }, (_, slot) => slot))
    }).pipe(Effect.withScheduler(atOnce)))

  it.scoped("an attempt after a timeout has its own timeout", () =>
    Effect.gen(function*() {
      const deadlines = yield* Deadlines.make(yield* Shutdown.make)
      const limited = (limit: Duration.DurationInput) =>
        Effect.suspend(() =>
          deadlines.limit(Effect.never, { lastProgressAt: 0, timeout: Duration.decode(limit) }, {
            onTimeout: () => "timeout" as const,
            onShutdown: () => "shutdown" as const
          })
        )
      const ended = yield* Deferred.make<void>()
      const chain = yield* Effect.fork(
        Effect.flip(limited("1 second")).pipe(
          Effect.andThen(Effect.flip(limited("10 seconds"))),
          Effect.andThen(Deferred.succeed(ended, undefined))
        )
      )
      const other = yield* Effect.fork(Effect.flip(limited("2 seconds")))
      yield* TestClock.adjust("1 second")
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(other)).toBe("timeout")
      expect(yield* Deferred.isDone(ended)).toBe(false)
      yield* TestClock.adjust("8 seconds")
      yield* Fiber.join(chain)
    }).pipe(Effect.withScheduler(atOnce)))
})
