import { describe, expect, it } from "@effect/vitest"
import { TestTime } from "@plaza/client"
import * as Generate from "@plaza/testing/Generators"
import { Clock, DateTime, Duration, Effect, Fiber, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { latency, longMaxWait, simulated } from "./support/AllowanceRules.ts"
import * as CountingServer from "./support/CountingServer.ts"
import * as Database from "./support/Database.ts"
import { join, killable, rows } from "./support/Sharing.ts"

describe("an allowance in a database, for several processes", () => {
  for (const kind of ["sliding", "fixed", "bucket"] as const) {
    it.effect.prop(
      `is never exceeded by all of them together as a ${kind} window counts, and used to the full`,
      [
        Generate.arrayOf(Generate.arrayOf(latency, { minLength: 1, maxLength: 40 }), { minLength: 3, maxLength: 3 }),
        Generate.between(1, 12)
      ],
      ([programs, limit]) =>
        Effect.gen(function*() {
          const window = 6_000
          const server = CountingServer.make(CountingServer.counters[kind](limit, window))
          const processes = yield* Effect.forEach(programs, (requests) =>
            Effect.map(join({ limit, window }), ({ withSlot }) => ({ requests, withSlot })))
          yield* Effect.forEach(
            processes.flatMap(({ requests, withSlot }) => requests.map((latency) => ({ latency, withSlot }))),
            ({ latency: [before, after], withSlot }) => withSlot(longMaxWait, server.request(before, after)),
            { concurrency: "unbounded", discard: true }
          )
          expect(server.refused()).toBe(0)
          const { counted } = server
          const windows = Math.ceil(counted.length / limit) - 1
          // As much as the latency allows, and 1% because the processes wait for each other.
          expect(Math.max(...counted) - Math.min(...counted)).toBeLessThanOrEqual((windows * (window + 401) + 400) * 1.01)
        }).pipe(Effect.scoped, Effect.provide(Database.memory), simulated),
      { arbitrary: { runs: 10 } }
    )
  }

  it.effect("is shared about evenly, for any number of waiters in one of them", () =>
    Effect.gen(function*() {
      const allowance = { limit: 10, window: "10 seconds" } as const
      const sent: Array<number> = []
      const processes = yield* Effect.forEach([500, 40, 500], (waiting, index) =>
        Effect.flatMap(join(allowance), ({ withSlot }) =>
          Effect.forkChild(Effect.all(
            Array.from({ length: waiting }, () =>
              withSlot(longMaxWait, Effect.andThen(Effect.sleep("50 millis"), Effect.sync(() => sent.push(index))))),
            { concurrency: "unbounded", discard: true }
          ))))
      yield* Effect.sleep("120 seconds")
      expect(sent.length).toBeGreaterThanOrEqual(110)
      for (const index of [0, 1, 2]) {
        expect(sent.filter((sender) => sender === index).length).toBeGreaterThanOrEqual(20)
      }
      yield* Fiber.interruptAll(processes)
    }).pipe(Effect.scoped, Effect.provide(Database.memory), TestTime.advancing))

  it.effect("pauses all of them after a 429 of one of them, until its Retry-After has passed", () =>
    Effect.gen(function*() {
      const one = yield* join({ limit: 1, window: "10 seconds" })
      const other = yield* join({ limit: 1, window: "10 seconds" })
      yield* one.withSlot(longMaxWait, Effect.void)
      const waiting = yield* Effect.forkChild(Effect.all(
        [one.withSlot(longMaxWait, Clock.currentTimeMillis), other.withSlot(longMaxWait, Clock.currentTimeMillis)],
        { concurrency: "unbounded" }
      ))
      yield* TestClock.adjust("5 seconds")
      yield* one.pauseFor(Duration.seconds(30))
      yield* other.pauseFor(Duration.seconds(1))
      yield* TestClock.adjust("2 minutes")
      const moments = yield* Fiber.join(waiting)
      const first = Math.min(...moments)
      const between = Math.max(...moments) - first
      expect(first).toBeGreaterThanOrEqual(35_000)
      expect(first).toBeLessThanOrEqual(35_300)
      expect(between).toBeGreaterThanOrEqual(10_001)
      expect(between).toBeLessThanOrEqual(10_300)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("fails waiters at once that can't wait that long, with the time of a useful retry", () =>
    Effect.gen(function*() {
      const one = yield* join({ limit: 1, window: "10 seconds" })
      const other = yield* join({ limit: 1, window: "10 seconds" })
      yield* one.withSlot(longMaxWait, Effect.void)
      const waiting = yield* Effect.forkChild(Effect.result(one.withSlot(Duration.seconds(20), Effect.void)))
      yield* TestClock.adjust("1 second")
      yield* one.pauseFor(Duration.hours(2))
      const late = yield* Effect.result(other.withSlot(Duration.minutes(5), Effect.void))
      for (const result of [yield* Fiber.join(waiting), late]) {
        expect(Result.getFailure(result)).toMatchObject({
          value: { _tag: "RateLimitWaitExceeded", retryAt: DateTime.makeUnsafe(7_201_000) }
        })
      }
      expect(yield* Clock.currentTimeMillis).toBe(1_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("doesn't keep slots for a waiting process that was killed", () =>
    Effect.gen(function*() {
      const survivor = yield* join({ limit: 8, window: "60 seconds" })
      const send = Effect.all(Array.from({ length: 8 }, () => survivor.withSlot(longMaxWait, Clock.currentTimeMillis)), {
        concurrency: "unbounded"
      })
      yield* send
      const killed = yield* killable({ limit: 8, window: "60 seconds" })
      yield* Effect.forkChild(killed.limit.withSlot(longMaxWait, Effect.void))
      yield* Effect.sleep("1 second")
      killed.database.away = true
      const moments = yield* send
      expect(Math.min(...moments)).toBeGreaterThanOrEqual(60_001)
      expect(Math.max(...moments)).toBeLessThanOrEqual(60_100)
      killed.database.away = false
    }).pipe(Effect.scoped, Effect.provide(Database.memory), TestTime.advancing))

  it.effect("gets back the unused slots of a process that ended", () =>
    Effect.gen(function*() {
      const staying = yield* join({ limit: 1, window: "1 minute" })
      // The slot's own scope stays open, as when the process ends in the middle.
      const open = yield* Effect.scope
      yield* Effect.scoped(
        Effect.flatMap(join({ limit: 1, window: "1 minute" }), ({ reserve }) => Scope.provide(reserve(longMaxWait), open))
      )
      const next = yield* Effect.forkChild(staying.withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(next)).toBeLessThanOrEqual(1_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("gets back the slots of a killed process, a lease after they were claimed", () =>
    Effect.gen(function*() {
      const killed = yield* killable({ limit: 2, window: "60 seconds" })
      yield* Effect.forkChild(killed.limit.withSlot(longMaxWait, Effect.never))
      yield* Effect.forkChild(killed.limit.withSlot(longMaxWait, Effect.never))
      yield* TestClock.adjust("1 second")
      killed.database.away = true
      const survivor = yield* join({ limit: 2, window: "60 seconds" })
      const next = yield* Effect.forkChild(survivor.withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("88 seconds")
      expect(next.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("3 seconds")
      const at = yield* Fiber.join(next)
      expect(at).toBeGreaterThanOrEqual(90_000)
      expect(at).toBeLessThanOrEqual(91_000)
      killed.database.away = false
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("keeps the slot of a request that takes longer than its lease, while its process lives", () =>
    Effect.gen(function*() {
      const one = yield* join({ limit: 1, window: "60 seconds" })
      const other = yield* join({ limit: 1, window: "60 seconds" })
      yield* Effect.forkChild(one.withSlot(longMaxWait, Effect.sleep("10 minutes")))
      yield* Effect.sleep("1 second")
      const at = yield* other.withSlot(longMaxWait, Clock.currentTimeMillis)
      expect(at).toBeGreaterThanOrEqual(660_001)
      expect(at).toBeLessThanOrEqual(661_200)
    }).pipe(Effect.scoped, Effect.provide(Database.memory), TestTime.advancing))

  it.effect("doesn't use a reserved slot whose lease may have ended during an outage", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 1, window: "60 seconds" })
      const { use } = yield* limit.reserve(longMaxWait)
      database.away = true
      yield* TestClock.adjust("31 seconds")
      const sent = yield* Effect.forkChild(use(Clock.currentTimeMillis))
      yield* TestClock.adjust("1 minute")
      expect(sent.pollUnsafe()).toBeUndefined()
      database.away = false
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(sent)).toBeGreaterThanOrEqual(91_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("lets a request that lost its reserved slot wait for the pause of its operation", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 1, window: "60 seconds" })
      const operation = "setStock"
      const { use } = yield* limit.reserve(longMaxWait, { operation })
      database.away = true
      yield* TestClock.adjust("31 seconds")
      database.away = false
      yield* limit.pauseFor(Duration.minutes(10), operation)
      const sent = yield* Effect.forkChild(use(Clock.currentTimeMillis, { operation }))
      yield* TestClock.adjust("20 minutes")
      expect(yield* Fiber.join(sent)).toBeGreaterThanOrEqual(631_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("ignores a late completion of a slot that another process has claimed since", () =>
    Effect.gen(function*() {
      const stood = yield* killable({ limit: 1, window: "60 seconds" })
      yield* Effect.forkChild(stood.limit.withSlot(longMaxWait, Effect.sleep("100 seconds")))
      yield* TestClock.adjust("1 second")
      stood.database.away = true
      const other = yield* join({ limit: 1, window: "60 seconds" })
      yield* Effect.forkChild(other.withSlot(longMaxWait, Effect.never))
      yield* TestClock.adjust("95 seconds")
      stood.database.away = false
      yield* TestClock.adjust("10 seconds")
      const [row] = yield* rows
      expect(row?.taken_by).not.toBe("")
      expect(row?.free_at).toBeGreaterThan(170_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))
})
