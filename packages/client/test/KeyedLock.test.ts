/** Calls with one key run one after the other, first in, first out. */
import { describe, expect, it } from "@effect/vitest"
import { Plaza, Store, TestTime } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { anyOf, arrayOf, between, oneOf } from "@plaza/testing/Generators"
import { Arbitrary, Cause, Deferred, Effect, Exit, Fiber, Result, Schedule, type Tracer } from "effect"
import { vi } from "vitest"
import * as KeyedLock from "../src/internal/delivery/KeyedLock.ts"
import * as Fake from "./support/FakeService.ts"

/** Yields this many times. */
const yields = (count: number) => Effect.forEach(Array.from({ length: count }), () => Effect.yieldNow, { discard: true })
const yieldOften = yields(20)

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
        kept.push(Number(/\d+/.exec(body)?.[0]))
        return Fake.json({ id: "p" })
      })
    )
    return { kept, layer }
  }

  it.effect("the later value wins, when the earlier update is retried after a 503", () =>
    Effect.gen(function*() {
      const { kept, layer } = keeping()
      const products = yield* Effect.gen(function*() {
        const first = yield* Effect.forkChild(setStock(10))
        yield* yieldOften
        const second = yield* Effect.forkChild(setStock(5))
        yield* yieldOften
        // The earlier call waits for its retry, and the later one for the earlier.
        expect(kept).toEqual([])
        return yield* TestTime.advancing(Effect.all([Fiber.join(first), Fiber.join(second)]))
      }).pipe(Effect.provide(layer))
      expect(products).toMatchObject([{ id: "p" }, { id: "p" }])
      expect(kept).toEqual([10, 5])
    }))

  it.effect("the later update is sent at once when the earlier one fails", () =>
    Effect.gen(function*() {
      const { kept, layer } = keeping()
      const ends = yield* Effect.all([
        Effect.result(Plaza.withRetry(Schedule.recurs(0))(setStock(10))),
        Effect.result(setStock(5))
      ], { concurrency: 2 }).pipe(Effect.provide(layer))
      expect(ends.map(Result.isSuccess)).toEqual([false, true])
      expect(kept).toEqual([5])
    }))
})

describe("a keyed lock", () => {
  it.effect.prop("runs the calls of a key one at a time and in order, with any outcome of each", [
    arrayOf(Arbitrary.all({ key: anyOf(["a", "b"]), end: anyOf(["success", "failure", "defect"]) }), { maxLength: 20 })
  ], ([calls]) =>
    Effect.gen(function*() {
      const withLock = yield* KeyedLock.make
      const began: Record<"a" | "b", Array<number>> = { a: [], b: [] }
      const running = { a: 0, b: 0 }
      const exits = yield* Effect.forEach(calls, ({ end, key }, index) =>
        withLock(key)(Effect.gen(function*() {
          began[key].push(index)
          expect(++running[key]).toBe(1)
          yield* Effect.yieldNow
          running[key]--
          return yield* end === "success" ? Effect.succeed(index) : end === "failure" ? Effect.fail(index) : Effect.die(index)
        })).pipe(Effect.exit), { concurrency: "unbounded" })
      expect(exits.map((exit) => Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause))).toEqual(calls.map((_, index) => index))
      for (const key of ["a", "b"] as const) {
        expect(began[key]).toEqual(calls.flatMap((call, index) => call.key === key ? [index] : []))
      }
    }))

  it.effect("doesn't block calls of different keys", () =>
    Effect.gen(function*() {
      const withLock = yield* KeyedLock.make
      const first = yield* Effect.forkChild(withLock("a")(Effect.never))
      yield* yieldOften
      expect(yield* withLock("b")(Effect.succeed(1))).toBe(1)
      yield* Fiber.interrupt(first)
    }))

  it.effect("skips a call that was interrupted while it waited, and continues after a call that was interrupted while it ran", () =>
    Effect.gen(function*() {
      const withLock = yield* KeyedLock.make
      const began: Array<string> = []
      const call = (name: string, body: Effect.Effect<void>) =>
        Effect.tap(Effect.forkChild(withLock("a")(Effect.andThen(Effect.sync(() => began.push(name)), body))), yieldOften)
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
    arrayOf(
      Arbitrary.all({ lasts: between(0, 6), interruptedAfter: oneOf<number | undefined>(between(0, 40), Arbitrary.Constant(undefined)) }),
      { minLength: 1, maxLength: 12 }
    )
  ], ([calls]) =>
    Effect.gen(function*() {
      const withLock = yield* KeyedLock.make
      let running = 0
      const began: Array<number> = []
      const fibers = yield* Effect.forEach(calls, ({ interruptedAfter, lasts }, index) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.forkChild(withLock("a")(Effect.acquireUseRelease(
            Effect.sync(() => {
              began.push(index)
              expect(++running).toBe(1)
            }),
            () => yields(lasts),
            () => Effect.sync(() => running--)
          )))
          if (interruptedAfter !== undefined) {
            yield* Effect.forkChild(Effect.andThen(yields(interruptedAfter), Fiber.interrupt(fiber)))
          }
          return fiber
        }))
      const exits = yield* Effect.forEach(fibers, Fiber.await)
      expect(began).toEqual(began.toSorted((one, other) => one - other))
      for (const [index, { interruptedAfter }] of calls.entries()) {
        const exit = exits[index]
        expect(exit !== undefined && (Exit.isSuccess(exit) || (interruptedAfter !== undefined && Exit.hasInterrupts(exit)))).toBe(true)
      }
      expect(yield* withLock("a")(Effect.succeed(1))).toBe(1)
    }))

  it.effect("wakes one call at a time, however many wait", () =>
    Effect.gen(function*() {
      /** Operations of the runtime for each call. */
      const cost = (calls: number) =>
        Effect.gen(function*() {
          const withLock = yield* KeyedLock.make
          let operations = 0
          const tracer = yield* Effect.tracer
          const counting: Tracer.Tracer = {
            span: (options) => tracer.span(options),
            context: (operation, fiber) => {
              operations++
              return operation["~effect/Effect/evaluate"](fiber)
            }
          }
          const all = Array.from({ length: calls }, () => withLock("a")(Effect.yieldNow))
          yield* Effect.withTracer(Effect.all(all, { concurrency: "unbounded" }), counting)
          return operations / calls
        })
      const few = yield* cost(10)
      expect(few).toBeGreaterThan(5)
      expect(yield* cost(1_000)).toBeLessThan(1.5 * few)
    }))

  it.effect("starts again for a key whose calls have all ended or were interrupted", () =>
    Effect.gen(function*() {
      const withLock = yield* KeyedLock.make
      for (let round = 0; round < 3; round++) {
        const open = yield* Deferred.make<void>()
        const running = yield* Effect.forkChild(withLock("a")(Deferred.await(open)))
        yield* yieldOften
        const waiting = yield* Effect.forkChild(withLock("a")(Effect.never))
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
      const withLock = yield* KeyedLock.make
      const keys = ["lock of a success", "lock of a failure", "lock of an interruption"]
      yield* withLock(keys[0] ?? "")(Effect.void)
      yield* Effect.ignore(withLock(keys[1] ?? "")(Effect.fail("no")))
      const running = yield* Effect.forkChild(withLock(keys[2] ?? "")(Effect.never))
      yield* yieldOften
      yield* Fiber.interrupt(running)
      // The map that holds an entry for each key is nobody else's to see.
      const maps = keys.map((key) => set.mock.contexts[set.mock.calls.findIndex(([name]) => name === key)])
      set.mockRestore()
      expect(maps.map((map, index) => map instanceof Map && !map.has(keys[index]))).toEqual([true, true, true])
    }))
})
