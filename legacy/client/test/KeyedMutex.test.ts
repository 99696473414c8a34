/** Calls with one key run one after the other, first in, first out. */
import { describe, expect, it } from "@effect/vitest"
import { Plaza, Store } from "@plaza-legacy/client"
import { ProductId } from "@plaza-legacy/domain"
import { Cause, Deferred, Effect, Either, Exit, FastCheck as fc, Fiber, Schedule, type Tracer } from "effect"
import { vi } from "vitest"
import * as KeyedMutex from "../src/internal/delivery/KeyedMutex.ts"
import * as Fake from "./support/FakeService.ts"
import * as Virtual from "./support/Virtual.ts"

const yieldOften = Effect.repeatN(Effect.yieldNow(), 20)

describe("of two concurrent stock updates of one product", () => {
  const p = ProductId.make("p")
  const setStock = (stock: number) => Effect.flatMap(Store, (store) => store.setStock(p, stock))

  /** A service that refuses the first request with 503 and then keeps what it is sent. */
  const keeping = () => {
    const kept: Array<unknown> = []
    let requests = 0
    const layer = Fake.layerPlaza(({ body }) =>
      Effect.sync(() => {
        if (requests++ === 0) {
          return Fake.refusal(503, "BUSY")
        }
        kept.push((JSON.parse(body) as { readonly stock: number }).stock)
        return Fake.json({ id: "p" })
      })
    )
    return { kept, layer }
  }

  it.effect("the later value wins, when the earlier update is retried after a 503", () =>
    Effect.gen(function*() {
      const { kept, layer } = keeping()
      const products = yield* Effect.gen(function*() {
        const first = yield* Effect.fork(setStock(10))
        yield* yieldOften
        const second = yield* Effect.fork(setStock(5))
        yield* yieldOften
        // The earlier call waits for its retry, and the later one for the earlier.
        expect(kept).toEqual([])
        return yield* Virtual.run(Fiber.join(Fiber.zip(first, second)))
      }).pipe(Effect.provide(layer))
      expect(products).toMatchObject([{ id: "p" }, { id: "p" }])
      expect(kept).toEqual([10, 5])
    }))

  it.effect("the later update is sent at once when the earlier one fails", () =>
    Effect.gen(function*() {
      const { kept, layer } = keeping()
      const ends = yield* Effect.all([
        Effect.either(Plaza.withRetry(Schedule.stop)(setStock(10))),
        Effect.either(setStock(5))
      ], { concurrency: 2 }).pipe(Effect.provide(layer))
      expect(ends.map(Either.isRight)).toEqual([false, true])
      expect(kept).toEqual([5])
    }))
})

describe("a keyed mutex", () => {
  it.effect.prop("runs the calls of a key one at a time and in order, with any outcome of each", [
    fc.array(fc.record({ key: fc.constantFrom("a", "b"), end: fc.constantFrom("success", "failure", "defect") }), { maxLength: 20 })
  ], ([calls]) =>
    Effect.gen(function*() {
      const withLock = KeyedMutex.make()
      const began: Record<string, Array<number>> = { a: [], b: [] }
      const running = { a: 0, b: 0 }
      const exits = yield* Effect.forEach(calls, ({ end, key }, index) =>
        withLock(key)(Effect.gen(function*() {
          began[key]?.push(index)
          expect(++running[key as "a" | "b"]).toBe(1)
          yield* Effect.yieldNow()
          running[key as "a" | "b"]--
          return yield* end === "success" ? Effect.succeed(index) : end === "failure" ? Effect.fail(index) : Effect.die(index)
        })).pipe(Effect.exit), { concurrency: "unbounded" })
      expect(exits.map((exit) => Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause))).toEqual(calls.map((_, index) => index))
      for (const key of ["a", "b"]) {
        expect(began[key]).toEqual(calls.flatMap((call, index) => call.key === key ? [index] : []))
      }
    }))

  it.effect("doesn't block calls of different keys", () =>
    Effect.gen(function*() {
      const withLock = KeyedMutex.make()
      const first = yield* Effect.fork(withLock("a")(Effect.never))
      yield* yieldOften
      expect(yield* withLock("b")(Effect.succeed(1))).toBe(1)
      yield* Fiber.interrupt(first)
    }))

  it.effect("skips a call that was interrupted while it waited, and continues after a call that was interrupted while it ran", () =>
    Effect.gen(function*() {
      const withLock = KeyedMutex.make()
      const began: Array<string> = []
      const call = (name: string, body: Effect.Effect<void>) =>
        Effect.zipLeft(Effect.fork(withLock("a")(Effect.zipRight(Effect.sync(() => began.push(name)), body))), yieldOften)
      const running = yield* call("running", Effect.never)
      const waiting = yield* call("waiting", Effect.void)
      const last = yield* call("last", Effect.void)
      yield* Fiber.interrupt(waiting)
      yield* yieldOften
      expect(began).toEqual(["running"])
      yield* Fiber.interrupt(running)
      yield* Fiber.join(last)
      expect(began).toEqual(["running", "last"])
    }))

  it.effect.prop("runs one call at a time, and starts the next one, when calls are interrupted at any moment", [
    fc.array(fc.record({ lasts: fc.nat(6), interruptedAfter: fc.option(fc.nat(40), { nil: undefined }) }), { minLength: 1, maxLength: 12 })
  ], ([calls]) =>
    Effect.gen(function*() {
      const withLock = KeyedMutex.make()
      const yields = (count: number) => Effect.repeatN(Effect.yieldNow(), count)
      let running = 0
      const began: Array<number> = []
      const fibers = yield* Effect.forEach(calls, ({ interruptedAfter, lasts }, index) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(withLock("a")(Effect.acquireUseRelease(
            Effect.sync(() => {
              began.push(index)
              expect(++running).toBe(1)
            }),
            () => yields(lasts),
            () => Effect.sync(() => running--)
          )))
          if (interruptedAfter !== undefined) {
            yield* Effect.fork(Effect.zipRight(yields(interruptedAfter), Fiber.interrupt(fiber)))
          }
          return fiber
        }))
      const exits = yield* Effect.forEach(fibers, Fiber.await)
      expect(began).toEqual(began.toSorted((one, other) => one - other))
      for (const [index, { interruptedAfter }] of calls.entries()) {
        const exit = exits[index]
        expect(exit !== undefined && (Exit.isSuccess(exit) || (interruptedAfter !== undefined && Exit.isInterrupted(exit)))).toBe(true)
      }
      expect(yield* withLock("a")(Effect.succeed(1))).toBe(1)
    }))

  it.effect("costs as much with many waiting calls as with few", () =>
    Effect.gen(function*() {
      /** Operations of the runtime for each call. */
      const cost = (calls: number) =>
        Effect.gen(function*() {
          const withLock = KeyedMutex.make()
          let operations = 0
          const counting: Tracer.Tracer = {
            ...(yield* Effect.tracer),
            context: (operation) => {
              operations++
              return operation()
            }
          }
          const all = Array.from({ length: calls }, () => withLock("a")(Effect.yieldNow()))
          yield* Effect.withTracer(Effect.all(all, { concurrency: "unbounded" }), counting)
          return operations / calls
        })
      const few = yield* cost(10)
      expect(few).toBeGreaterThan(5)
      expect(yield* cost(1_000)).toBeLessThan(1.5 * few)
    }))

  it.effect("starts again for a key whose calls have all ended or were interrupted", () =>
    Effect.gen(function*() {
      const withLock = KeyedMutex.make()
      for (let round = 0; round < 3; round++) {
        const open = yield* Deferred.make<void>()
        const running = yield* Effect.fork(withLock("a")(Deferred.await(open)))
        yield* yieldOften
        const waiting = yield* Effect.fork(withLock("a")(Effect.never))
        yield* yieldOften
        yield* Fiber.interrupt(waiting)
        yield* Deferred.succeed(open, undefined)
        yield* Fiber.join(running)
      }
      expect(yield* withLock("a")(Effect.succeed(1))).toBe(1)
    }))

  it.effect("removes the entry of an unused key, also after a failure and an interruption", () =>
    Effect.gen(function*() {
      const set = vi.spyOn(Map.prototype, "set")
      const withLock = KeyedMutex.make()
      const keys = ["lock of a success", "lock of a failure", "lock of an interruption"]
      yield* withLock(keys[0] ?? "")(Effect.void)
      yield* Effect.ignore(withLock(keys[1] ?? "")(Effect.fail("no")))
      const running = yield* Effect.fork(withLock(keys[2] ?? "")(Effect.never))
      yield* yieldOften
      yield* Fiber.interrupt(running)
      // The map that holds an entry for each key is nobody else's to see.
      const maps = keys.map((key) => set.mock.contexts[set.mock.calls.findIndex(([name]) => name === key)])
      set.mockRestore()
      expect(maps.map((map, index) => map instanceof Map && !map.has(keys[index]))).toEqual([true, true, true])
    }))
})
