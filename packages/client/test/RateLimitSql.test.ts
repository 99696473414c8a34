import { HttpClient, HttpClientResponse } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles, RateLimit } from "@plaza/client"
import { fromOptions, Settings } from "@plaza/client/Settings"
import {
  Clock, Context, DateTime, Duration, Effect, Either, FastCheck as fc, Fiber, Layer, Redacted, Scope, TestClock
} from "effect"
import { inVirtualTime, makeFrom, patient, takeAll } from "./support/AllowanceRules.js"
import * as CountingServer from "./support/CountingServer.js"
import * as Database from "./support/Database.js"
import * as SimulatedTime from "./support/SimulatedTime.js"
import * as Virtual from "./support/Virtual.js"

const apiKey = Redacted.make(`plaza_${"a1B2c3D4".repeat(5)}`)

/** One process that shares the allowance; each call makes another one. */
const join = (allowance: RateLimit.Allowance & { readonly lease?: Duration.DurationInput }) =>
  makeFrom(RateLimit.layerSql({ ...allowance, apiKey }))

/** A process that can be stopped from the outside: without its database it does nothing more that others could see. */
const killable = (allowance: RateLimit.Allowance) =>
  Effect.gen(function*() {
    const database = yield* Database.watched
    const limit = yield* Effect.provideService(join(allowance), SqlClient.SqlClient, database.client)
    return { database, limit }
  })

const rows = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql<{ name: string; taken_by: string; free_at: number }>`SELECT name, taken_by, free_at FROM plaza_rate_slots ORDER BY slot`)

describe("the allowance of a key, in a database", () => {
  inVirtualTime((allowance) => Layer.provide(Layer.orDie(RateLimit.layerSql({ ...allowance, apiKey })), Database.memory), 15)
})

describe("an allowance in a database, for several processes", () => {
  for (const kind of ["sliding", "fixed", "bucket"] as const) {
    it.scoped.prop(
      `is never exceeded by all of them together as a ${kind} window counts, and used to the full`,
      [
        fc.array(fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200 })), { minLength: 1, maxLength: 40 }), {
          minLength: 3,
          maxLength: 3
        }),
        fc.integer({ min: 1, max: 12 })
      ],
      ([programs, limit]) =>
        Effect.gen(function*() {
          const window = 6_000
          const server = yield* CountingServer.make(kind, limit, window)
          const processes = yield* Effect.forEach(programs, (requests) =>
            Effect.map(join({ limit, window }), ({ withSlot }) => ({ requests, withSlot })))
          yield* Effect.forEach(
            processes.flatMap(({ requests, withSlot }) => requests.map((latency) => ({ latency, withSlot }))),
            ({ latency: [before, after], withSlot }) => withSlot(patient, server.request(before, after)),
            { concurrency: "unbounded", discard: true }
          )
          expect(yield* server.refused).toBe(0)
          const counted = yield* server.counted
          const windows = Math.ceil(counted.length / limit) - 1
          // As much as the latency allows, and 5% for standing back for each other.
          expect(Math.max(...counted) - Math.min(...counted)).toBeLessThanOrEqual((windows * (window + 401) + 400) * 1.05)
        }).pipe(Effect.scoped, Effect.provide(Database.memory), SimulatedTime.run),
      { fastCheck: { numRuns: 10 } }
    )
  }

  it.scoped("is shared about evenly, however many wait in one of them", () =>
    Effect.gen(function*() {
      const allowance = { limit: 10, window: "10 seconds" } as const
      const sent: Array<number> = []
      const processes = yield* Effect.forEach([500, 40, 500], (waiting, index) =>
        Effect.flatMap(join(allowance), ({ withSlot }) =>
          Effect.fork(Effect.all(
            Array.from({ length: waiting }, () =>
              withSlot(patient, Effect.zipRight(Effect.sleep("50 millis"), Effect.sync(() => sent.push(index))))),
            { concurrency: "unbounded", discard: true }
          ))))
      yield* Effect.sleep("120 seconds")
      expect(sent.length).toBeGreaterThanOrEqual(110)
      for (const index of [0, 1, 2]) {
        expect(sent.filter((sender) => sender === index).length).toBeGreaterThanOrEqual(20)
      }
      yield* Fiber.interruptAll(processes)
    }).pipe(Effect.scoped, Effect.provide(Database.memory), SimulatedTime.run))

  it.scoped("is closed for all of them by a 429 that one of them gets, until its time has passed", () =>
    Effect.gen(function*() {
      const one = yield* join({ limit: 1, window: "10 seconds" })
      const other = yield* join({ limit: 1, window: "10 seconds" })
      yield* one.withSlot(patient, Effect.void)
      const waiting = yield* Effect.fork(Effect.all(
        [one.withSlot(patient, Clock.currentTimeMillis), other.withSlot(patient, Clock.currentTimeMillis)],
        { concurrency: "unbounded" }
      ))
      yield* TestClock.adjust("5 seconds")
      yield* one.closeFor(Duration.seconds(30))
      yield* other.closeFor(Duration.seconds(1))
      yield* TestClock.adjust("2 minutes")
      const moments = yield* Fiber.join(waiting)
      const first = Math.min(...moments)
      const between = Math.max(...moments) - first
      expect(first).toBeGreaterThanOrEqual(35_000)
      expect(first).toBeLessThanOrEqual(35_300)
      expect(between).toBeGreaterThanOrEqual(10_001)
      expect(between).toBeLessThanOrEqual(10_300)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("fails those at once who can't wait that long, with the time to come back at", () =>
    Effect.gen(function*() {
      const one = yield* join({ limit: 1, window: "10 seconds" })
      const other = yield* join({ limit: 1, window: "10 seconds" })
      yield* one.withSlot(patient, Effect.void)
      const waiting = yield* Effect.fork(Effect.either(one.withSlot(Duration.seconds(20), Effect.void)))
      yield* TestClock.adjust("1 second")
      yield* one.closeFor(Duration.hours(2))
      const late = yield* Effect.either(other.withSlot(Duration.minutes(5), Effect.void))
      for (const result of [yield* Fiber.join(waiting), late]) {
        expect(Either.getLeft(result)).toMatchObject({ value: { _tag: "RateLimitWaitExceeded" } })
        expect(Either.isLeft(result) && DateTime.toEpochMillis(result.left.retryAt)).toBe(7_201_000)
      }
      expect(yield* Clock.currentTimeMillis).toBe(1_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("gets back what a process left unused when it ended", () =>
    Effect.gen(function*() {
      const staying = yield* join({ limit: 1, window: "1 minute" })
      // The slot's own scope stays open, as when the process ends in the middle.
      const open = yield* Effect.scope
      yield* Effect.scoped(Effect.flatMap(join({ limit: 1, window: "1 minute" }), ({ reserve }) =>
        Scope.extend(reserve(patient), open)))
      const next = yield* Effect.fork(staying.withSlot(patient, Clock.currentTimeMillis))
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(next)).toBeLessThanOrEqual(1_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("gets back the slots of one that was killed, a lease after it took them", () =>
    Effect.gen(function*() {
      const killed = yield* killable({ limit: 2, window: "60 seconds" })
      yield* Effect.fork(killed.limit.withSlot(patient, Effect.never))
      yield* Effect.fork(killed.limit.withSlot(patient, Effect.never))
      yield* TestClock.adjust("1 second")
      killed.database.away = true
      const survivor = yield* join({ limit: 2, window: "60 seconds" })
      const next = yield* Effect.fork(survivor.withSlot(patient, Clock.currentTimeMillis))
      yield* TestClock.adjust("88 seconds")
      expect(next.unsafePoll()).toBeNull()
      yield* TestClock.adjust("3 seconds")
      const at = yield* Fiber.join(next)
      expect(at).toBeGreaterThanOrEqual(90_000)
      expect(at).toBeLessThanOrEqual(91_000)
      killed.database.away = false
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("leaves a slot to a request that takes longer than its lease, while its process lives", () =>
    Effect.gen(function*() {
      const one = yield* join({ limit: 1, window: "60 seconds" })
      const other = yield* join({ limit: 1, window: "60 seconds" })
      yield* Effect.fork(one.withSlot(patient, Effect.sleep("10 minutes")))
      yield* Effect.sleep("1 second")
      const at = yield* other.withSlot(patient, Clock.currentTimeMillis)
      expect(at).toBeGreaterThanOrEqual(660_001)
      expect(at).toBeLessThanOrEqual(661_200)
    }).pipe(Effect.scoped, Effect.provide(Database.memory), SimulatedTime.run))

  it.scoped("sends nothing in a reserved slot whose lease may have run out while the database was away", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 1, window: "60 seconds" })
      const { use } = yield* limit.reserve(patient)
      database.away = true
      yield* TestClock.adjust("31 seconds")
      const sent = yield* Effect.fork(use(Clock.currentTimeMillis))
      yield* TestClock.adjust("1 minute")
      expect(sent.unsafePoll()).toBeNull()
      database.away = false
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(sent)).toBeGreaterThanOrEqual(91_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("is taken from nobody by a late answer: a slot that someone else has by then stays theirs", () =>
    Effect.gen(function*() {
      const stood = yield* killable({ limit: 1, window: "60 seconds" })
      yield* Effect.fork(stood.limit.withSlot(patient, Effect.sleep("100 seconds")))
      yield* TestClock.adjust("1 second")
      stood.database.away = true
      const other = yield* join({ limit: 1, window: "60 seconds" })
      yield* Effect.fork(other.withSlot(patient, Effect.never))
      yield* TestClock.adjust("95 seconds")
      stood.database.away = false
      yield* TestClock.adjust("10 seconds")
      const [row] = yield* rows
      expect(row?.taken_by).not.toBe("")
      expect(row?.free_at).toBeGreaterThan(170_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))
})

describe("the database of an allowance", () => {
  it.scoped("learns no key, and holds no more rows than there are slots", () =>
    Effect.gen(function*() {
      const limit = yield* join({ limit: 5, window: "1 second" })
      yield* Virtual.run(takeAll(limit, 200))
      const sql = yield* SqlClient.SqlClient
      const all = yield* rows
      expect(all).toHaveLength(5)
      expect(JSON.stringify(all)).not.toContain("a1B2c3D4")
      expect(yield* sql`SELECT * FROM plaza_rate_waiting`).toHaveLength(0)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("is asked about once a second while slots are in flight elsewhere, and not at all while none can come free", () =>
    Effect.gen(function*() {
      const holder = yield* join({ limit: 2, window: "60 seconds" })
      const { database, limit } = yield* killable({ limit: 2, window: "60 seconds" })
      yield* holder.withSlot(patient, Effect.void)
      const inFlight = yield* Effect.fork(holder.withSlot(patient, Effect.sleep("10 seconds")))
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

  it.scoped("stops everything while it is away: nothing is sent, and who has no patience left is told why", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 5, window: "60 seconds" })
      database.away = true
      const hasty = yield* Effect.fork(Effect.either(limit.withSlot(Duration.seconds(10), Effect.void)))
      const waiting = yield* Effect.fork(limit.withSlot(patient, Clock.currentTimeMillis))
      yield* TestClock.adjust("30 seconds")
      const told = yield* Fiber.join(hasty)
      expect(Either.isLeft(told) && told.left.message).toContain("the database is away")
      expect(waiting.unsafePoll()).toBeNull()
      database.away = false
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(waiting)).toBeLessThanOrEqual(32_000)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("hears of an answer when it is back, and of its own time", () =>
    Effect.gen(function*() {
      const { database, limit } = yield* killable({ limit: 1, window: "60 seconds" })
      const request = yield* Effect.fork(limit.withSlot(patient, Effect.sleep("5 seconds")))
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

  it.scoped("is left unlocked and up to date after another process has kept it locked for a while", () =>
    Effect.gen(function*() {
      const filename = yield* Database.file
      const client = Layer.build(Layer.fresh(SqliteClient.layer({ filename })))
      const here = yield* Effect.map(client, Context.get(SqlClient.SqlClient))
      const there = yield* Effect.map(client, Context.get(SqlClient.SqlClient))
      const limit = yield* Effect.provideService(join({ limit: 2 }), SqlClient.SqlClient, here)
      const { use } = yield* limit.reserve(patient)

      yield* there.unsafe("BEGIN IMMEDIATE").raw
      const calls = yield* Effect.fork(Effect.all(
        [use(Effect.void), limit.withSlot(patient, Effect.sleep("1 minute")), limit.closeFor(Duration.seconds(10))],
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

  it.scoped("gets its slots again when someone has cleared its tables", () =>
    Effect.gen(function*() {
      const limit = yield* join({ limit: 2, window: "1 second" })
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM plaza_rate_slots`
      const next = yield* Effect.fork(takeAll(limit, 2))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(next)
      expect(yield* rows).toHaveLength(2)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("is cleared of keys that nobody has used for a month", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(Layer.build(RateLimit.layerSql({ name: "old", limit: 3 })))
      yield* TestClock.adjust("31 days")
      yield* join({ limit: 2 })
      expect((yield* rows).map(({ name }) => name)).not.toContain("name:old")
      expect(yield* rows).toHaveLength(2)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))

  it.scoped("keeps one name's allowance apart from another's", () =>
    Effect.gen(function*() {
      const make = (name: string) =>
        makeFrom(RateLimit.layerSql({ name, limit: 1 }))
      const [one, other, same] = yield* Effect.all([make("one"), make("other"), make("one")])
      yield* one.withSlot(patient, Effect.void)
      yield* other.withSlot(patient, Effect.void)
      const result = yield* Virtual.run(Effect.either(same.withSlot(Duration.seconds(1), Effect.void)), "1 second")
      expect(Either.isLeft(result)).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))
})

describe("calls of several processes with one key", () => {
  it.scoped("go out in the allowance that they share", () =>
    Effect.gen(function*() {
      const sentAt: Array<number> = []
      const service = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.map(Clock.currentTimeMillis, (at) => {
            sentAt.push(at)
            return HttpClientResponse.fromWeb(request, Response.json({ id: "1" }))
          }))
      )
      const options = { apiKey, baseUrl: "https://service.example/open/v1" }
      const plaza = Plaza.layerWithoutRateLimit.pipe(
        Layer.provideMerge(RateLimit.layerSql({ apiKey, limit: 3 })),
        Layer.provide(Layer.effect(Settings, fromOptions(options))),
        Layer.provide(service)
      )
      const calls = Effect.provide(
        Effect.flatMap(Profiles, ({ me }) => Effect.replicateEffect(me, 3, { concurrency: "unbounded", discard: true })),
        Layer.fresh(plaza)
      )
      yield* Virtual.run(Effect.all([calls, calls], { concurrency: "unbounded", discard: true }), "10 seconds")
      expect(sentAt).toHaveLength(6)
      expect(sentAt.filter((at) => at < 60_000)).toHaveLength(3)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))
})

describe("a shared allowance that can't be", () => {
  const failureOf = (allowance: Parameters<typeof RateLimit.layerSql>[0]) =>
    Effect.flip(Layer.build(RateLimit.layerSql(allowance))).pipe(Effect.scoped, Effect.provide(Database.memory))

  it.scoped("is refused with the setting that is wrong", () =>
    Effect.gen(function*() {
      expect(yield* failureOf({ apiKey, limit: 0 })).toMatchObject({ _tag: "InvalidSettings", setting: "limit" })
      expect(yield* failureOf({ apiKey, limit: 1.5 })).toMatchObject({ _tag: "InvalidSettings", setting: "limit" })
      expect(yield* failureOf({ apiKey, window: 0 })).toMatchObject({ _tag: "InvalidSettings", setting: "window" })
      expect(yield* failureOf({ apiKey, window: Duration.infinity })).toMatchObject({ _tag: "InvalidSettings", setting: "window" })
      expect(yield* failureOf({ apiKey, lease: "1 minute" })).toMatchObject({ _tag: "InvalidSettings", setting: "lease" })
      expect(yield* failureOf({ name: "" })).toMatchObject({ _tag: "InvalidSettings", setting: "name" })
    }))
})
