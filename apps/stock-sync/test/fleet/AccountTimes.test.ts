/** When accounts are polled and woken, and how their turns are counted. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as CountedSemaphore from "../../src/fleet/CountedSemaphore.ts"
import * as PollPhase from "../../src/fleet/PollPhase.ts"
import { WakeQueue } from "../../src/fleet/WakeQueue.ts"
import { advance } from "../support/advance.ts"

describe("the poll times of accounts with one interval", () => {
  const interval = Duration.minutes(1)
  const ids = Array.from({ length: 10_000 }, (_, index) => `shop-${index}`)

  it.effect("are spread evenly over it, from the start", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_123)
      const now = yield* Clock.currentTimeMillis
      const seconds = Array.from({ length: 60 }, () => 0)
      for (const id of ids) {
        const second = Math.floor(((yield* PollPhase.next(PollPhase.of(id), interval)) - now) / 1_000)
        seconds[second] = (seconds[second] ?? 0) + 1
      }
      expect(seconds).toHaveLength(60)
      expect(Math.max(...seconds)).toBeLessThan(240)
      expect(Math.min(...seconds)).toBeGreaterThan(110)
    }))

  it.effect("stay the same from interval to interval", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_123)
      const first = yield* PollPhase.next(PollPhase.of("shop"), interval)
      yield* TestClock.setTime(Math.ceil(first))
      const second = yield* PollPhase.next(PollPhase.of("shop"), interval)
      expect(second - first).toBeCloseTo(60_000, 0)
      yield* TestClock.adjust("1 hour")
      expect(((yield* PollPhase.next(PollPhase.of("shop"), interval)) - first) % 60_000).toBeCloseTo(0, 0)
    }))
})

describe("the wake queue", () => {
  it("returns accounts by their last time, once, the earliest first", () => {
    const queue = new WakeQueue()
    queue.set("a", 30)
    queue.set("b", 10)
    queue.set("c", 20)
    queue.set("a", 5)
    queue.set("d", Number.POSITIVE_INFINITY)
    queue.delete("c")
    expect(queue.next).toBe(5)
    expect(queue.due(10, 5)).toEqual(["a", "b"])
    expect(queue.due(100, 5)).toEqual([])
    expect(queue.next).toBe(Number.POSITIVE_INFINITY)
  })

  // Few accounts and few times, so that times are replaced and equal.
  const step = Arbitrary.all({
    kind: Generate.elementOf(["set", "set", "set", "delete", "due"] as const),
    account: Generate.elementOf(["a", "b", "c", "d", "e"]),
    at: Generate.elementOf([1, 2, 3, 4, Number.POSITIVE_INFINITY]),
    most: Generate.between(0, 3)
  })

  it.prop("agrees with a list that is sorted each time", [Generate.arrayOf(step, { minLength: 1, maxLength: 40 })], ([steps]) => {
    const queue = new WakeQueue()
    const times = new Map<string, number>()
    const sorted = () => Array.from(times).sort(([one, first], [other, second]) => first - second || (one < other ? -1 : 1))
    for (const { account, at, kind, most } of steps) {
      if (kind === "due") {
        const due = sorted().filter(([, time]) => time <= at).slice(0, most).map(([id]) => id)
        expect(queue.due(at, most)).toEqual(due)
        due.forEach((id) => times.delete(id))
      } else {
        times.delete(account)
        if (kind === "delete") queue.delete(account)
        else queue.set(account, at)
        if (kind === "set" && at < Infinity) times.set(account, at)
      }
      expect(queue.next).toBe(sorted()[0]?.[1] ?? Infinity)
    }
  })
})

describe("a counted semaphore", () => {
  /** How long a fiber holds its permit, and when it is interrupted. */
  const user = Arbitrary.all({
    holds: Generate.between(1, 5),
    interruptedAfter: Generate.between(0, 12),
    isScoped: Generate.elementOf([true, false])
  })

  it.effect.prop("counts every fiber that holds or waits, never holds too many, and loses no permit to an interruption", [
    Generate.arrayOf(user, { minLength: 1, maxLength: 20 })
  ], ([users]) =>
    Effect.gen(function*() {
      const permits = 2
      const { acquire, counts, withPermit } = CountedSemaphore.make(permits)
      let running = 0
      const work = (holds: number) =>
        Effect.acquireUseRelease(Effect.sync(() => void running++), () => Effect.sleep(holds), () => Effect.sync(() => void running--))
      const started = yield* Effect.forEach(users,
        ({ holds, isScoped }) => Effect.forkChild(isScoped ? Effect.scoped(Effect.andThen(acquire, work(holds))) : withPermit(work(holds))))
      for (let millis = 0; millis <= 12; millis++) {
        yield* Effect.forEach(users, ({ interruptedAfter }, index) => {
          const fiber = started[index]
          return fiber !== undefined && interruptedAfter === millis ? Fiber.interrupt(fiber) : Effect.void
        })
        yield* advance(1)
        const left = started.filter((fiber) => fiber.pollUnsafe() === undefined).length
        expect(counts()).toEqual({ held: running, waiting: left - running })
        expect(running).toBeLessThanOrEqual(permits)
        expect(running).toBe(Math.min(permits, left))
      }
      expect(counts()).toEqual({ held: 0, waiting: 0 })
      yield* Effect.scoped(Effect.replicateEffect(acquire, permits))
    }))
})
