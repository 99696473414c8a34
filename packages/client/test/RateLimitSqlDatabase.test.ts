import { describe, expect, it } from "@effect/vitest"
import { TestTime } from "@plaza/client"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as SqliteClient from "@plaza/client/sqlite"
import { Clock, Context, Duration, Effect, Exit, Fiber, Layer, Result, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { longMaxWait, makeFrom, takeAll } from "./support/AllowanceRules.ts"
import * as Database from "./support/Database.ts"
import { apiKey, join, killable, rows } from "./support/Sharing.ts"

describe("the database of an allowance", () => {
  it.effect("contains no key, and no more rows than slots", () =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(RateLimitSql.layer({ limit: 5, window: "1 second", apiKey }))
      yield* TestTime.advancing(takeAll(limit, 200))
      const sql = yield* SqlClient.SqlClient
      const all = yield* rows
      expect(all).toHaveLength(5)
      expect(JSON.stringify(all)).not.toContain("a1B2c3D4")
      expect(yield* sql`SELECT * FROM plaza_rate_waiting`).toHaveLength(0)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("is polled about once a second while other processes have requests in flight, and not at all while no slot can become free", () =>
    Effect.gen(function*() {
      const holder = yield* join({ limit: 2, window: "60 seconds" })
      const { database, limit } = yield* killable({ limit: 2, window: "60 seconds" })
      yield* holder.withSlot(longMaxWait, Effect.void)
      const inFlight = yield* Effect.forkChild(holder.withSlot(longMaxWait, Effect.sleep("10 seconds")))
      yield* TestClock.adjust("1 second")
      const waiting = yield* Effect.forkChild(takeAll(limit, 1_000))
      const before = database.statements
      yield* TestClock.adjust("8 seconds")
      // A claim, a look and an entry each time.
      expect(database.statements - before).toBeLessThanOrEqual(9 * 3)
      yield* Effect.forkChild(Fiber.join(inFlight))
      yield* TestClock.adjust("3 seconds")
      const quiet = database.statements
      yield* TestClock.adjust("45 seconds")
      expect(database.statements).toBe(quiet)
      yield* Fiber.interrupt(waiting)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("receives the requests that completed during an outage in one statement", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 100, window: "60 seconds" })
      yield* Effect.forkChild(Effect.forEach(Array.from({ length: 100 }), () => limit.withSlot(longMaxWait, Effect.sleep("5 seconds")), {
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

  it.effect("counts a request from its response, also if its completion is written late", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 1, window: "60 seconds" })
      database.latency = 400
      yield* limit.withSlot(longMaxWait, Effect.sleep("5 seconds"))
      const sentBack = yield* Clock.currentTimeMillis
      yield* Effect.sleep("2 seconds")
      const [row] = yield* rows
      expect(row).toMatchObject({ taken_by: "", free_at: sentBack + 60_001 })
    }).pipe(Effect.scoped, Effect.provide(Database.memory), TestTime.advancing))

  it.effect("stops all requests while it is unavailable, and a call fails with the reason at the end of its maxWait", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 5, window: "60 seconds" })
      database.away = true
      const hasty = yield* Effect.forkChild(Effect.result(limit.withSlot(Duration.seconds(10), Effect.void)))
      const waiting = yield* Effect.forkChild(limit.withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("30 seconds")
      const told = yield* Fiber.join(hasty)
      expect(Result.isFailure(told) && told.failure.message).toContain("the database is away")
      expect(waiting.pollUnsafe()).toBeUndefined()
      database.away = false
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(waiting)).toBeLessThanOrEqual(32_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("receives the completion and its time after an outage", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 1, window: "60 seconds" })
      const request = yield* Effect.forkChild(limit.withSlot(longMaxWait, Effect.sleep("5 seconds")))
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

  it.effect("is unlocked and up to date after another process has locked it for a while", () =>
    Effect.gen(function*() {
      const filename = yield* Database.file
      const client = Layer.build(Layer.fresh(SqliteClient.layer({ filename })))
      const here = yield* Effect.map(client, Context.get(SqlClient.SqlClient))
      const there = yield* Effect.map(client, Context.get(SqlClient.SqlClient))
      const limit = yield* Effect.provideService(join({ limit: 2 }), SqlClient.SqlClient, here)
      const { use } = yield* limit.reserve(longMaxWait)

      yield* there.unsafe("BEGIN IMMEDIATE").raw
      const calls = yield* Effect.forkChild(Effect.all(
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

  it.effect("delays the release of the layer by no more than two seconds while it is unavailable", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { database, limit } = yield* Scope.provide(killable({ limit: 1, window: "60 seconds" }), scope)
      yield* limit.withSlot(longMaxWait, Effect.void)
      const waiting = yield* Effect.forkChild(Effect.flip(limit.withSlot(longMaxWait, Effect.void)))
      yield* TestClock.adjust("1 second")
      database.latency = 600_000
      const release = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("2 seconds")
      expect(release.pollUnsafe()).toBeDefined()
      expect((yield* Fiber.join(waiting))._tag).toBe("ClientClosed")
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("that hangs doesn't make a call wait for more than a second beyond its maxWait", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 1, window: "60 seconds" })
      database.latency = 600_000
      const waiting = yield* Effect.forkChild(Effect.flip(limit.withSlot(Duration.seconds(3), Effect.void)))
      yield* TestClock.adjust("3 seconds")
      expect(waiting.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1001 millis")
      expect(waiting.pollUnsafe()).toBeDefined()
      database.latency = 0
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("is seeded again after its tables were cleared", () =>
    Effect.gen(function*() {
      const limit = yield* join({ limit: 2, window: "1 second" })
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM plaza_rate_slots`
      const next = yield* Effect.forkChild(takeAll(limit, 2))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(next)
      expect(yield* rows).toHaveLength(2)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("doesn't keep keys that were unused for a month", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(Layer.build(RateLimitSql.layer({ name: "old", limit: 3 })))
      yield* TestClock.adjust("31 days")
      yield* join({ limit: 2 })
      expect((yield* rows).map(({ name }) => name)).not.toContain("name:old")
      expect(yield* rows).toHaveLength(2)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.effect("keeps the allowances of two names separate", () =>
    Effect.gen(function*() {
      const make = (name: string) => makeFrom(RateLimitSql.layer({ name, limit: 1 }))
      const [one, other, same] = yield* Effect.all([make("one"), make("other"), make("one")])
      yield* one.withSlot(longMaxWait, Effect.void)
      yield* other.withSlot(longMaxWait, Effect.void)
      const result = yield* TestTime.advancing(Effect.result(same.withSlot(Duration.seconds(1), Effect.void)))
      expect(Result.isFailure(result)).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))
})
