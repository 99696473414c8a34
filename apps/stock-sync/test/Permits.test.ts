/** Permits: never more than there are, in the order of the requests, and none is lost, whenever its holder or a waiting fiber is interrupted. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, FastCheck as fc, Fiber, FiberId, TestClock, type Tracer } from "effect"
import * as Permits from "../src/sync/Permits.ts"

describe("permits", () => {
  it.effect("are granted in the order of the requests", () =>
    Effect.gen(function*() {
      const permits = Permits.unsafeMake(1)
      const order: Array<number> = []
      const use = (n: number) => permits.withPermit(Effect.zipRight(Effect.yieldNow(), Effect.sync(() => order.push(n))))
      yield* Effect.all(Array.from({ length: 50 }, (_, n) => use(n)), { concurrency: "unbounded" })
      expect(order).toEqual(Array.from({ length: 50 }, (_, n) => n))
    }))

  it.effect("are not lost if a fiber is interrupted in the moment in which it gets one", () =>
    Effect.gen(function*() {
      for (const how of ["withPermit", "acquire"] as const) {
        const permits = Permits.unsafeMake(1)
        const use = (effect: Effect.Effect<void>) =>
          how === "withPermit" ? permits.withPermit(effect) : Effect.scoped(Effect.zipRight(permits.acquire, effect))
        const end = yield* Deferred.make<void>()
        const waiters: Array<Fiber.RuntimeFiber<void>> = []
        // Without a step between the release and the interruption.
        const interrupt = Effect.sync(() => waiters.forEach((each) => each.unsafeInterruptAsFork(FiberId.none)))
        const holder = yield* Effect.fork(Effect.zipRight(use(Deferred.await(end)), interrupt))
        yield* Effect.yieldNow()
        const waiter = yield* Effect.fork(use(Effect.void))
        waiters.push(waiter)
        yield* Effect.yieldNow()
        expect(yield* permits.counts).toEqual({ held: 1, waiting: 1 })
        yield* Deferred.succeed(end, undefined)
        yield* Fiber.join(holder)
        expect(Exit.isInterrupted(yield* Fiber.await(waiter))).toBe(true)
        expect(yield* permits.counts).toEqual({ held: 0, waiting: 0 })
      }
    }))

  it.effect("cost as much with many waiting fibers as with few", () =>
    Effect.gen(function*() {
      /** Operations of the runtime for each use. */
      const cost = (users: number) =>
        Effect.gen(function*() {
          const permits = Permits.unsafeMake(5)
          let operations = 0
          const counting: Tracer.Tracer = {
            ...(yield* Effect.tracer),
            context: (operation) => {
              operations++
              return operation()
            }
          }
          yield* Effect.all(Array.from({ length: users }, () => permits.withPermit(Effect.yieldNow())), { concurrency: "unbounded" }).pipe(
            Effect.withTracer(counting)
          )
          return operations / users
        })
      const few = yield* cost(10)
      expect(few).toBeGreaterThan(10)
      expect(yield* cost(1_000)).toBeLessThan(1.5 * few)
    }))

  const user = fc.record({
    starts: fc.integer({ min: 1, max: 20 }),
    lasts: fc.integer({ min: 1, max: 20 }),
    fails: fc.boolean(),
    interruptedAt: fc.option(fc.nat(40), { nil: undefined }),
    scoped: fc.boolean()
  })

  it.effect.prop("are never more than there are, and all are free at the end", {
    limit: fc.integer({ min: 1, max: 3 }),
    users: fc.array(user)
  }, ({ limit, users }) =>
    Effect.gen(function*() {
      const permits = Permits.unsafeMake(limit)
      let using = 0
      let most = 0
      const fibers = yield* Effect.forEach(users, ({ fails, interruptedAt, lasts, scoped, starts }) => {
        const work = Effect.acquireUseRelease(
          Effect.sync(() => {
            most = Math.max(most, ++using)
          }),
          () => Effect.zipRight(Effect.sleep(lasts), fails ? Effect.fail("failed") : Effect.void),
          () => Effect.sync(() => using--)
        )
        const used = scoped ? Effect.scoped(Effect.zipRight(permits.acquire, work)) : permits.withPermit(work)
        return Effect.tap(Effect.fork(Effect.zipRight(Effect.sleep(starts), used)), (fiber) =>
          interruptedAt === undefined ? Effect.void : Effect.fork(Effect.zipRight(Effect.sleep(interruptedAt), Fiber.interrupt(fiber))))
      })
      yield* TestClock.adjust("2 seconds")
      const ends = yield* Effect.forEach(fibers, (fiber) => fiber.poll)
      expect(ends.every(({ _tag }) => _tag === "Some")).toBe(true)
      expect(most).toBeLessThanOrEqual(limit)
      expect(yield* permits.counts).toEqual({ held: 0, waiting: 0 })
      if (
        users.length >= limit && users.every(({ interruptedAt, lasts, starts }) => interruptedAt === undefined && starts === 1 && lasts > 0)
      )
        expect(most).toBe(limit)
    }), { fastCheck: { numRuns: 50 } })
})
