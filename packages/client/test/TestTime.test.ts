/** Virtual time for applications. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles, TestTime } from "@plaza/client"
import { Cause, Clock, Context, Deferred, Duration, Effect, Exit, Fiber, FileSystem, Layer, Ref, Schedule, Semaphore, Stream } from "effect"
import { TestClock } from "effect/testing"
import { fileURLToPath } from "node:url"
import * as Fake from "./support/FakeService.ts"

const now = Clock.currentTimeMillis

/** A turn of the event loop that no fiber takes part in, as a body in process may need. */
const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** A permit that a fiber of the layer gives back every 10 seconds, as the rate limit does. */
class Permits extends Context.Service<Permits, { readonly take: Effect.Effect<void> }>()("test/Permits") {
  static readonly layer = Layer.effect(
    Permits,
    Effect.gen(function*() {
      const permits = yield* Semaphore.make(0)
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep("10 seconds"), permits.release(1))))
      return Permits.of({ take: permits.take(1) })
    })
  )
}

describe("an effect under TestTime.advancing", () => {
  it.effect("ends although it sleeps, and the clock is at the end of its last sleep", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const sleeper = (name: string, seconds: number) =>
        Effect.andThen(Effect.sleep(`${seconds} seconds`), Effect.sync(() => order.push(name)))
      yield* TestTime.advancing(Effect.all([sleeper("late", 90), sleeper("early", 5)], { concurrency: 2 }))
      expect(order).toEqual(["early", "late"])
      expect(yield* now).toBe(90_000)
    }))

  it.effect("returns its value, at once if it doesn't sleep", () =>
    Effect.gen(function*() {
      expect(yield* TestTime.advancing(Effect.succeed("value"))).toBe("value")
      expect(yield* TestTime.advancing(Effect.as(turn, "value"))).toBe("value")
      expect(yield* now).toBe(0)
    }))

  it.effect("keeps its failure, defect and interruption", () =>
    Effect.gen(function*() {
      const ended = <A, E>(effect: Effect.Effect<A, E>) => Effect.exit(TestTime.advancing(Effect.delay(effect, "1 minute")))
      expect(yield* ended(Effect.fail("reason"))).toEqual(Exit.fail("reason"))
      expect(yield* ended(Effect.die("defect"))).toEqual(Exit.die("defect"))
      const interrupted = yield* ended(Effect.interrupt)
      expect(Exit.isFailure(interrupted) && Cause.hasInterruptsOnly(interrupted.cause)).toBe(true)
    }))

  it.effect("does not wait for a sleep that lost a race", () =>
    Effect.gen(function*() {
      const value = yield* TestTime.advancing(Effect.timeout(Effect.as(Effect.sleep("5 seconds"), "in time"), "1 hour"))
      expect(value).toBe("in time")
      expect(yield* now).toBe(5_000)
      const late = yield* Effect.flip(TestTime.advancing(Effect.timeout(Effect.never, "1 hour")))
      expect(Cause.isTimeoutError(late)).toBe(true)
      expect(yield* now).toBe(3_605_000)
    }))

  it.effect("does not end a sleep before the promises that follow an earlier one", () =>
    Effect.gen(function*() {
      const call = Effect.andThen(Effect.sleep("1 second"), Effect.andThen(turn, Effect.andThen(turn, now)))
      expect(yield* TestTime.advancing(Effect.all([call, Effect.andThen(Effect.sleep("1001 millis"), now)], { concurrency: 2 }))).toEqual([
        1_000,
        1_001
      ])
    }))

  it.effect("does not advance while it reads a file, as an upload from a path does", () =>
    Effect.gen(function*() {
      const { stream } = yield* FileSystem.FileSystem
      const length = Stream.runFold(stream(fileURLToPath(import.meta.url), { chunkSize: 100 }), () => 0, (sum, bytes) => sum + bytes.length)
      expect(yield* TestTime.advancing(Effect.timeout(length, "1 second"))).toBeGreaterThan(5_000)
      expect(yield* now).toBe(0)
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("sleeps fractions of a millisecond, and not at all for a duration of zero or below", () =>
    Effect.gen(function*() {
      yield* TestTime.advancing(Effect.andThen(Effect.sleep(Duration.micros(BigInt(1_500))), Effect.sleep(Duration.zero)))
      yield* TestTime.advancing(Effect.sleep(Duration.millis(-5)))
      expect(yield* now).toBe(1.5)
      expect(yield* Clock.monotonicTimeNanos).toBe(1_500_000n)
    }))

  it.effect("starts where the clock stands", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-10-01T12:00:00Z"))
      yield* TestTime.advancing(Effect.sleep("1 minute"))
      yield* TestTime.advancing(Effect.sleep("1 minute"))
      expect(yield* now).toBe(Date.parse("2026-10-01T12:02:00Z"))
    }))

  it.effect("wakes the fibers outside it in order", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const sleeper = (name: string, seconds: number) =>
        Effect.andThen(Effect.sleep(`${seconds} seconds`), Effect.map(now, (time) => order.push(`${name} ${time}`)))
      yield* Effect.forkChild(sleeper("outside", 30))
      yield* Effect.forkChild(sleeper("after the end", 120))
      yield* TestTime.advancing(sleeper("inside", 60))
      expect(order).toEqual(["outside 30000", "inside 60000"])
    }))

  it.effect("advances the fibers of a layer that was built outside it", () =>
    Effect.gen(function*() {
      const { take } = yield* Permits
      const taken = yield* TestTime.advancing(Effect.forEach([1, 2, 3], () => Effect.andThen(Effect.andThen(take, turn), now)))
      expect(taken).toEqual([10_000, 20_000, 30_000])
      expect(yield* now).toBe(30_000)
      // With a timeout, which is a sleep of the effect itself.
      const next = yield* TestTime.advancing(Effect.timeout(Effect.andThen(Effect.andThen(take, turn), now), "1 hour"))
      expect(next).toBe(40_000)
      expect(yield* now).toBe(40_000)
    }).pipe(Effect.provide(Permits.layer)))

  it.effect("waits for something that is not the clock", () =>
    Effect.gen(function*() {
      const real = Effect.promise(() => new Promise<string>((resolve) => setTimeout(resolve, 5, "done")))
      expect(yield* TestTime.advancing(real)).toBe("done")
    }))

  it.effect("ends the fibers that it started", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<void>()
      yield* TestTime.advancing(
        Effect.andThen(Effect.forkChild(Effect.onInterrupt(Effect.never, () => Deferred.succeed(ended, undefined))), Effect.sleep(1_000))
      )
      expect(yield* Deferred.isDone(ended)).toBe(true)
    }))

  it.effect("is interrupted with its caller", () =>
    Effect.gen(function*() {
      const slept = yield* Deferred.make<void>()
      const interrupted = yield* Ref.make(false)
      const waiting = Effect.onInterrupt(
        Effect.andThen(Effect.sleep("1 second"), Effect.andThen(Deferred.succeed(slept, undefined), Effect.never)),
        () => Ref.set(interrupted, true)
      )
      const fiber = yield* Effect.forkChild(TestTime.advancing(waiting))
      yield* Deferred.await(slept)
      yield* Fiber.interrupt(fiber)
      expect(yield* Ref.get(interrupted)).toBe(true)
      // The clock is free again.
      yield* TestClock.adjust("1 hour")
    }))

  it.effect("can contain another one", () =>
    Effect.gen(function*() {
      const inner = TestTime.advancing(Effect.andThen(Effect.sleep("5 seconds"), now))
      expect(yield* TestTime.advancing(Effect.all([inner, Effect.andThen(Effect.sleep("3 seconds"), inner)], { concurrency: 2 }))).toEqual([
        5_000,
        8_000
      ])
    }))

  it.effect("can run beside another one", () =>
    Effect.gen(function*() {
      const every = (seconds: number, times: number) =>
        TestTime.advancing(Effect.forEach(Array.from({ length: times }), () => Effect.andThen(Effect.sleep(seconds * 1_000), now)))
      const [threes, fives] = yield* Effect.all([every(3, 5), every(5, 3)], { concurrency: 2 })
      expect(threes).toEqual([3_000, 6_000, 9_000, 12_000, 15_000])
      expect(fives).toEqual([5_000, 10_000, 15_000])
    }))

  it.effect("can move the clock itself", () =>
    Effect.gen(function*() {
      const seen = yield* TestTime.advancing(
        Effect.gen(function*() {
          const sleeper = yield* Effect.forkChild(Effect.andThen(Effect.sleep("1 minute"), now))
          yield* TestClock.adjust("10 seconds")
          const adjusted = yield* now
          const slept = yield* Fiber.join(sleeper)
          yield* TestClock.setTime(Date.parse("2026-10-01T12:00:00Z"))
          const set = yield* now
          yield* TestClock.withLive(Effect.sleep(1))
          return { adjusted, slept, set }
        })
      )
      expect(seen).toEqual({ adjusted: 10_000, slept: 60_000, set: Date.parse("2026-10-01T12:00:00Z") })
    }))

  it.live("dies without a test clock", () =>
    Effect.gen(function*() {
      expect(yield* Effect.exit(TestTime.advancing(Effect.sleep(1)))).toEqual(
        Exit.die(new Error("TestTime.advancing requires a TestClock: use it.effect, or provide TestClock.layer()."))
      )
    }))

  it.live("works with a test clock of its own", () =>
    Effect.gen(function*() {
      yield* TestTime.advancing(Effect.sleep("1 day"))
      expect(yield* now).toBe(86_400_000)
    }).pipe(Effect.provide(TestClock.layer())))

  it.effect("advances through a long schedule", () =>
    Effect.gen(function*() {
      let runs = 0
      yield* TestTime.advancing(Effect.repeat(Effect.sync(() => runs++), { schedule: Schedule.spaced("1 second"), times: 2_000 }))
      expect(runs).toBe(2_001)
      expect(yield* now).toBe(2_000_000)
    }))

  it.effect("wakes thousands of fibers in the order of their sleeps", () =>
    Effect.gen(function*() {
      const woken: Array<number> = []
      const count = 3_000
      yield* TestTime.advancing(
        Effect.forEach(
          Array.from({ length: count }, (_, index) => (index * 7_919) % count),
          (at) => Effect.andThen(Effect.sleep(at + 1), Effect.sync(() => woken.push(at))),
          { concurrency: "unbounded" }
        )
      )
      expect(woken).toEqual(Array.from({ length: count }, (_, index) => index))
    }))
})

const me = Effect.flatMap(Profiles, ({ me }) => me)

describe("a client under TestTime.advancing", () => {
  it.effect("retries a service that fails twice", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([{ status: 503 }, { status: 503 }, Fake.json({ id: "1" })])
      expect(yield* TestTime.advancing(Effect.provide(me, layer))).toEqual({ id: "1" })
      expect(calls).toHaveLength(3)
    }))

  it.effect("keeps its failure", () =>
    Effect.gen(function*() {
      const { layer } = Fake.scripted([Fake.refusal(404, "NOT_FOUND")])
      expect(yield* Effect.flip(TestTime.advancing(Effect.provide(Plaza.withRetry(Schedule.recurs(0))(me), layer)))).toMatchObject({
        status: 404
      })
    }))

  const sixHundred = Effect.forEach(Array.from({ length: 600 }), () => me, { concurrency: "unbounded" })

  const places = {
    inside: (layer: Layer.Layer<Plaza.Services>) => TestTime.advancing(Effect.provide(sixHundred, layer)),
    outside: (layer: Layer.Layer<Plaza.Services>) => Effect.provide(TestTime.advancing(sixHundred), layer)
  }
  for (const [place, run] of Object.entries(places)) {
    it.effect(`with its layer ${place} waits for the rate limit, and no call reaches its timeout`, () =>
      Effect.gen(function*() {
        const times: Array<number> = []
        const response = Effect.map(now, (time) => {
          times.push(time)
          return Fake.json({ id: "1" })
        })
        const layer = Fake.layerPlaza(() => Effect.delay(Effect.andThen(turn, response), "50 millis"))
        expect(yield* run(layer)).toHaveLength(600)
        const seconds = times.map((time) => Math.floor(time / 1_000))
        expect(seconds).toEqual([0, 60, 120, 180, 240].flatMap((second) => Array.from({ length: 120 }, () => second)))
        expect(yield* now).toBe(times.at(-1))
      }))
  }
})
