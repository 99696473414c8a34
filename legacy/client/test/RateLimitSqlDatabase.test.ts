import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import * as RateLimitSql from "@plaza-legacy/client/RateLimitSql"
import * as SqliteClient from "@plaza-legacy/client/sqlite"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { Clock, Context, Duration, Effect, Either, Fiber, Layer, TestClock } from "effect"
import { longMaxWait, makeFrom, takeAll } from "./support/AllowanceRules.ts"
import * as Database from "./support/Database.ts"
import { join, killable, rows } from "./support/Sharing.ts"
import * as Virtual from "./support/Virtual.ts"

describe("the database of an allowance", () => {
  it.scoped("contains no key, and no more rows than slots", () =>
    Effect.gen(function*() {
      const limit = yield* join({ limit: 5, window: "1 second" })
      yield* Virtual.run(takeAll(limit, 200))
      const sql = yield* SqlClient.SqlClient
      const all = yield* rows
      expect(all).toHaveLength(5)
      expect(JSON.stringify(all)).not.toContain("a1B2c3D4")
      expect(yield* sql`SELECT * FROM plaza_rate_waiting`).toHaveLength(0)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("is polled about once a second while other processes have requests in flight, and not at all while no slot can become free", () =>
    Effect.gen(function*() {
      const holder = yield* join({ limit: 2, window: "60 seconds" })
      const { database, limit } = yield* killable({ limit: 2, window: "60 seconds" })
      yield* holder.withSlot(longMaxWait, Effect.void)
      const inFlight = yield* Effect.fork(holder.withSlot(longMaxWait, Effect.sleep("10 seconds")))
      yield* TestClock.adjust("1 second")
      const waiting = yield* Effect.fork(takeAll(limit, 1_000))
      const before = database.statements
      yield* TestClock.adjust("8 seconds")
      // A claim, a look and an entry each time.
      expect(database.statements - before).toBeLessThanOrEqual(9 * 3)
      yield* Fiber.join(inFlight).pipe(Effect.zipLeft(TestClock.adjust("3 seconds")), Effect.fork)
      yield* TestClock.adjust("3 seconds")
      const quiet = database.statements
      yield* TestClock.adjust("45 seconds")
      expect(database.statements).toBe(quiet)
      yield* Fiber.interrupt(waiting)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("receives the requests that completed during an outage in one statement", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 100, window: "60 seconds" })
      yield* Effect.fork(Effect.replicateEffect(limit.withSlot(longMaxWait, Effect.sleep("5 seconds")), 100, {
        concurrency: "unbounded"
      }))
      yield* TestClock.adjust("4 seconds")
      database.away = true
      yield* TestClock.adjust("2 seconds")
      database.away = false
      const before = database.statements
      yield* TestClock.adjust("2 seconds")
      expect((yield* rows).filter(({ taken_by }) => taken_by !== "")).toEqual([])
      // The first one, and all others.
      expect(database.statements - before).toBeLessThanOrEqual(2)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("receives completed requests without more memory for each of them, also if another one always completes during a write", () =>
    Effect.gen(function*() {
      const ancestors = yield* Virtual.mostAncestors(Effect.gen(function*() {
        const { database, limit } = yield* killable({ limit: 1_000, window: "1 minute" })
        database.latency = 20
        const requests = Array.from({ length: 200 }, (_, index) => limit.withSlot(longMaxWait, Effect.sleep(index * 10)))
        yield* Effect.all(requests, { concurrency: "unbounded", discard: true })
      }))
      expect(ancestors).toBeLessThanOrEqual(12)
    }).pipe(Effect.scoped, Effect.provide(Database.memory), SimulatedTime.run))

  it.scoped("counts a request from its response, also if its completion is written late", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 1, window: "60 seconds" })
      database.latency = 400
      yield* limit.withSlot(longMaxWait, Effect.sleep("5 seconds"))
      const sentBack = yield* Clock.currentTimeMillis
      yield* Effect.sleep("2 seconds")
      const [row] = yield* rows
      expect(row).toMatchObject({ taken_by: "", free_at: sentBack + 60_001 })
    }).pipe(Effect.scoped, Effect.provide(Database.memory), SimulatedTime.run))

  it.scoped("stops all requests while it is unavailable, and a call fails with the reason at the end of its maxWait", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 5, window: "60 seconds" })
      database.away = true
      const hasty = yield* Effect.fork(Effect.either(limit.withSlot(Duration.seconds(10), Effect.void)))
      const waiting = yield* Effect.fork(limit.withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("30 seconds")
      const told = yield* Fiber.join(hasty)
      expect(Either.isLeft(told) && told.left.message).toContain("the database is away")
      expect(waiting.unsafePoll()).toBeNull()
      database.away = false
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(waiting)).toBeLessThanOrEqual(32_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("receives the completion and its time after an outage", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 1, window: "60 seconds" })
      const request = yield* Effect.fork(limit.withSlot(longMaxWait, Effect.sleep("5 seconds")))
      yield* TestClock.adjust("1 second")
      database.away = true
      yield* TestClock.adjust("4 seconds")
      // The caller has its answer; it doesn't wait for the database.
      yield* Fiber.join(request)
      yield* TestClock.adjust("10 seconds")
      database.away = false
      yield* TestClock.adjust("3 seconds")
      const [row] = yield* rows
      expect(row).toMatchObject({ taken_by: "", free_at: 65_001 })
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("is unlocked and up to date after another process has locked it for a while", () =>
    Effect.gen(function*() {
      const filename = yield* Database.file
      const client = Layer.build(Layer.fresh(SqliteClient.layer({ filename })))
      const here = yield* Effect.map(client, Context.get(SqlClient.SqlClient))
      const there = yield* Effect.map(client, Context.get(SqlClient.SqlClient))
      const limit = yield* Effect.provideService(join({ limit: 2 }), SqlClient.SqlClient, here)
      const { use } = yield* limit.reserve(longMaxWait)

      yield* there.unsafe("BEGIN IMMEDIATE").raw
      const calls = yield* Effect.fork(Effect.all(
        [use(Effect.void), limit.withSlot(longMaxWait, Effect.sleep("1 minute")), limit.pauseFor(Duration.seconds(10))],
        { concurrency: "unbounded", discard: true }
      ))
      yield* TestClock.adjust("2 seconds")
      yield* there.unsafe("COMMIT").raw
      yield* TestClock.adjust("15 seconds")

      // All is committed, and no transaction has been left open that would turn away others.
      yield* there`UPDATE plaza_rate_gates SET closed_until = closed_until`
      const seen = yield* there<{ taken_by: string }>`SELECT taken_by FROM plaza_rate_slots`
      expect(seen.filter(({ taken_by }) => taken_by !== "")).toHaveLength(1)
      expect(yield* there`SELECT * FROM plaza_rate_gates`).toHaveLength(1)
      yield* Fiber.interrupt(calls)
    }))

  it.scoped("is seeded again after its tables were cleared", () =>
    Effect.gen(function*() {
      const limit = yield* join({ limit: 2, window: "1 second" })
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM plaza_rate_slots`
      const next = yield* Effect.fork(takeAll(limit, 2))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(next)
      expect(yield* rows).toHaveLength(2)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("doesn't keep keys that were unused for a month", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(Layer.build(RateLimitSql.layer({ name: "old", limit: 3 })))
      yield* TestClock.adjust("31 days")
      yield* join({ limit: 2 })
      expect((yield* rows).map(({ name }) => name)).not.toContain("name:old")
      expect(yield* rows).toHaveLength(2)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("keeps the allowances of two names separate", () =>
    Effect.gen(function*() {
      const make = (name: string) => makeFrom(RateLimitSql.layer({ name, limit: 1 }))
      const [one, other, same] = yield* Effect.all([make("one"), make("other"), make("one")])
      yield* one.withSlot(longMaxWait, Effect.void)
      yield* other.withSlot(longMaxWait, Effect.void)
      const result = yield* Virtual.run(Effect.either(same.withSlot(Duration.seconds(1), Effect.void)), "1 second")
      expect(Either.isLeft(result)).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))
})
