/** What a `Retry-After` of any text does to the calls of a key. */
import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { FailureScope, Plaza, Profiles, RateLimit, Store } from "@plaza-legacy/client"
import * as RateLimitSql from "@plaza-legacy/client/RateLimitSql"
import { ProductId } from "@plaza-legacy/domain"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { Clock, DateTime, Duration, Effect, Either, FastCheck as fc, Layer, Option, Random, Redacted, TestClock } from "effect"
import * as Database from "./support/Database.ts"
import * as Fake from "./support/FakeService.ts"
import { join } from "./support/Sharing.ts"

const day = 86_400_000
const week = 7 * day

const getMe = Effect.flatMap(Profiles, ({ me }) => me)
const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 1))

const backends = {
  "in memory": RateLimit.layerMemory(),
  "in a database": Layer.provide(RateLimitSql.layer({ apiKey: Redacted.make(Fake.key) }), Database.memory)
}
type Backend = keyof typeof backends

interface Headers {
  readonly "retry-after"?: string
  readonly date?: string
}

/** A stock update and a read of a service that refuses updates with these headers, and what becomes of both. */
const outcome = (backend: Backend, status: 429 | 503, headers: Headers) =>
  Effect.gen(function*() {
    const requests: Array<number> = []
    const service = Fake.layerHttpClient(({ method }) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        if (method === "GET") return Fake.json({ id: "1" })
        requests.push(at)
        return Fake.refusal(status, status === 429 ? "RATE_LIMITED" : "BUSY", {}, { ...headers })
      })
    )
    const plaza = Plaza.layerWithoutRateLimit({ baseUrl: Fake.baseUrl, apiKey: Redacted.make(Fake.key), maxWait: "2 minutes" }).pipe(
      Layer.provideMerge(backends[backend]),
      Layer.provide(service)
    )
    return yield* Effect.gen(function*() {
      const failure = yield* Effect.flip(setStock)
      const { pausedOperations, pausedUntil } = yield* Effect.flatMap(RateLimit.RateLimit, ({ status }) => status)
      const read = yield* Effect.either(Plaza.withMaxWait("1 minute")(getMe))
      const after = (until: DateTime.Utc) => DateTime.toEpochMillis(until) - (requests.at(-1) ?? 0)
      return {
        requests,
        tag: failure._tag,
        wait: Duration.toMillis(yield* FailureScope.waitOf(failure)),
        pauses: [...(pausedUntil === undefined ? [] : [pausedUntil]), ...pausedOperations.map(({ until }) => until)].map(after),
        pausesOperation: pausedOperations.map(({ operation }) => operation),
        isRead: Either.isRight(read)
      }
    }).pipe(Effect.provide(Layer.orDie(plaza)))
    // With equal delays of retries in each run.
  }).pipe(Effect.withRandom(Random.make(1)), SimulatedTime.run)

const httpDate = (millis: number) => new Date(millis).toUTCString()

/** The virtual clock starts at 0. A shop's clock may be anywhere. */
const shopNow = Date.UTC(2026, 10, 26, 12)

const anyDate = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => httpDate(seconds * 1_000))

const anyHeaders: fc.Arbitrary<Headers> = fc.oneof(
  fc.oneof(fc.nat(), fc.nat({ max: 200_000 }), fc.bigInt({ min: 0n, max: 10n ** 30n })).map((value) => ({ "retry-after": String(value) })),
  fc.integer({ min: -10 * day, max: 10 * day }).map((ahead) => ({ "retry-after": httpDate(shopNow + ahead), date: httpDate(shopNow) })),
  anyDate.map((date) => ({ "retry-after": date })),
  fc.record({ "retry-after": anyDate, date: anyDate }),
  fc.constantFrom("-5", "60, 60", "1e9", "Infinity", "", "soon", "1764200000", "1764200000000", "2026-11-26T12:00:00Z", "9".repeat(400))
    .map((value) => ({ "retry-after": value }))
)

const cases = fc.record({
  backend: fc.constantFrom<Backend>("in memory", "in a database"),
  status: fc.constantFrom<429 | 503>(429, 503),
  headers: anyHeaders
})

const beyondWeek: ReadonlyArray<readonly [name: string, headers: Headers]> = [
  ["a time of day, in seconds", { "retry-after": "1764200000" }],
  ["a time of day, in milliseconds", { "retry-after": "1764200000000" }],
  ["a second more than a week", { "retry-after": String(week / 1_000 + 1) }],
  ["a date in 2082", { "retry-after": "Thu, 26 Nov 2082 12:00:00 GMT", date: httpDate(shopNow) }],
  ["a date more than a week ahead", { "retry-after": httpDate(shopNow + week + 1_000), date: httpDate(shopNow) }],
  ["a date without the clock of the service", { "retry-after": httpDate(shopNow) }],
  ["a text", { "retry-after": "soon" }],
  ["several values", { "retry-after": "60, 60" }]
]

const withinWeek: ReadonlyArray<readonly [name: string, wait: number, headers: Headers]> = [
  ["milliseconds for a minute", 60_000_000, { "retry-after": "60000" }],
  ["a day", day, { "retry-after": String(day / 1_000) }],
  ["two days", day, { "retry-after": String(2 * day / 1_000) }],
  ["a week", day, { "retry-after": String(week / 1_000) }],
  ["a date in an hour, by a clock years ahead", 3_600_000, { "retry-after": httpDate(shopNow + 3_600_000), date: httpDate(shopNow) }],
  ["a date in a week", day, { "retry-after": httpDate(shopNow + week), date: httpDate(shopNow) }],
  ["a date in two days, without the clock of the service", day, { "retry-after": httpDate(2 * day) }]
]

describe("a Retry-After", () => {
  it.effect.prop("of any text pauses nothing for longer than a day, on a 429 and a 503, in memory and in a database", [cases],
    ([{ backend, headers, status }]) =>
      Effect.gen(function*() {
        const { pauses, wait } = yield* outcome(backend, status, headers)
        for (const millis of [...pauses, wait]) {
          expect(millis).toBeLessThanOrEqual(day)
        }
      }), { fastCheck: { numRuns: 30 } })

  for (const backend of ["in memory", "in a database"] as const) {
    for (const status of [429, 503] as const) {
      for (const [name, headers] of beyondWeek) {
        it.live(`that is ${name} counts as absent (${status}, ${backend})`, () =>
          Effect.gen(function*() {
            const absent = yield* outcome(backend, status, {})
            expect(yield* outcome(backend, status, headers)).toEqual(absent)
            expect(absent).toMatchObject({ wait: 60_000, pausesOperation: [], isRead: true })
          }))
      }

      for (const [name, wait, headers] of withinWeek) {
        it.live(`that is ${name} pauses its operation only, for at most a day (${status}, ${backend})`, () =>
          Effect.gen(function*() {
            expect(yield* outcome(backend, status, headers)).toMatchObject({
              requests: [0],
              wait,
              pauses: [wait],
              pausesOperation: ["setStock"],
              isRead: true
            })
          }))
      }
    }
  }
})

describe("a pause in the shared database", () => {
  const window = 60_000
  /** Stores the end of a pause, as an earlier process did. */
  const store = (operation: string | undefined, until: number) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ name: string }>`SELECT name FROM plaza_rate_slots LIMIT 1`
      const name = `${row?.name ?? ""}${operation === undefined ? "" : `/${operation}`}`
      yield* sql`INSERT INTO plaza_rate_gates (name, closed_until) VALUES (${name}, ${until})
        ON CONFLICT (name) DO UPDATE SET closed_until = excluded.closed_until`
    })

  for (const operation of [undefined, "setStock"]) {
    const what = operation ?? "the key"
    it.scoped(`of ${what} beyond a week is no pause, for any process`, () =>
      Effect.gen(function*() {
        const [one, other] = [yield* join({ window }), yield* join({ window })]
        yield* store(operation, 56 * 365 * day)
        const sent = yield* Effect.fork(
          Effect.all([one, other].map(({ withSlot }) => withSlot("1 minute", Clock.currentTimeMillis, { operation })))
        )
        yield* TestClock.adjust("5 seconds")
        expect(Option.isSome(yield* sent.poll)).toBe(true)
        expect(yield* one.status).toMatchObject({ pausedUntil: undefined, pausedOperations: [] })
      }).pipe(Effect.scoped, Effect.provide(Database.memory)))

    it.scoped(`of ${what} beyond a day ends within a day`, () =>
      Effect.gen(function*() {
        const { status, withSlot } = yield* join({ window })
        yield* store(operation, 3 * day)
        const { pausedOperations, pausedUntil } = yield* status
        expect(operation === undefined ? pausedUntil : pausedOperations[0]?.until).toEqual(DateTime.unsafeMake(day))
        const sent = yield* Effect.fork(withSlot("2 days", Clock.currentTimeMillis, { operation }))
        yield* TestClock.adjust("25 hours")
        expect(Option.isSome(yield* sent.poll)).toBe(true)
      }).pipe(Effect.scoped, Effect.provide(Database.memory)))
  }
})
