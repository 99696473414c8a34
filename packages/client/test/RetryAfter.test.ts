/** The pauses of a key and of its operations after a `Retry-After` of any text. */
import { describe, expect, it } from "@effect/vitest"
import { FailureScope, Plaza, Profiles, RateLimit, Store, TestTime } from "@plaza/client"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import { ProductId } from "@plaza/domain"
import { anyOf, arrayOf, between, elementOf, oneOf } from "@plaza/testing/Generators"
import { Arbitrary, Clock, DateTime, Duration, Effect, Layer, Random, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "./support/Database.ts"
import * as Fake from "./support/FakeService.ts"
import { join } from "./support/Sharing.ts"

const day = 86_400_000
const week = 7 * day

const getMe = Effect.flatMap(Profiles, ({ me }) => me)
const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 1))

const backends = {
  "in memory": RateLimit.layerMemory(),
  "in a database": Layer.provide(RateLimitSql.layer({ name: "shop" }), Database.memory)
}
type Backend = keyof typeof backends

interface Headers {
  readonly "retry-after"?: string
  readonly date?: string
}

/** The outcomes of a stock update and a read at a service that refuses updates with these headers. */
const outcome = (backend: Backend, status: 429 | 503, headers: Headers) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const requests: Array<number> = []
    const service = Fake.layerHttpClient(({ method }) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        if (method === "GET") return Fake.json({ id: "1" })
        requests.push(at - start)
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
      const read = yield* Effect.result(Plaza.withMaxWait("1 minute")(getMe))
      const after = (until: DateTime.Utc) => DateTime.toEpochMillis(until) - start - (requests.at(-1) ?? 0)
      return {
        requests,
        tag: failure._tag,
        wait: Duration.toMillis(yield* FailureScope.waitOf(failure)),
        pauses: [...(pausedUntil === undefined ? [] : [pausedUntil]), ...pausedOperations.map(({ until }) => until)].map(after),
        pausesOperation: pausedOperations.map(({ operation }) => operation),
        isRead: Result.isSuccess(read)
      }
    }).pipe(Effect.provide(Layer.orDie(plaza)))
    // With equal delays of retries in each run.
  }).pipe(Random.withSeed(1), TestTime.advancing)

const httpDate = (millis: number) => new Date(millis).toUTCString()

/** The virtual clock starts at 0. A shop's clock may be anywhere. */
const shopNow = Date.UTC(2026, 10, 26, 12)

const anyDate = Arbitrary.map(between(0, 4_000_000_000), (seconds) => httpDate(seconds * 1_000))

const anySeconds = oneOf(
  Arbitrary.map(between(0, 2 ** 31 - 1), String),
  Arbitrary.map(between(0, 200_000), String),
  Arbitrary.map(arrayOf(between(0, 9), { minLength: 1, maxLength: 30 }), (digits) => digits.join("")),
  elementOf(["-5", "60, 60", "1e9", "Infinity", "", "soon", "1764200000", "1764200000000", "2026-11-26T12:00:00Z", "9".repeat(400)])
)

const anyHeaders = oneOf<Headers>(
  Arbitrary.map(anySeconds, (value) => ({ "retry-after": value })),
  Arbitrary.map(between(-10 * day, 10 * day), (ahead) => ({ "retry-after": httpDate(shopNow + ahead), date: httpDate(shopNow) })),
  Arbitrary.map(anyDate, (date) => ({ "retry-after": date })),
  Arbitrary.all({ "retry-after": anyDate, date: anyDate })
)

const cases = Arbitrary.all({
  backend: anyOf<Backend>(["in memory", "in a database"]),
  status: elementOf<429 | 503>([429, 503]),
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
      }), { arbitrary: { runs: 60 } })

  for (const backend of ["in memory", "in a database"] as const) {
    for (const status of [429, 503] as const) {
      for (const [name, headers] of beyondWeek) {
        it.effect(`that is ${name} counts as absent (${status}, ${backend})`, () =>
          Effect.gen(function*() {
            const absent = yield* outcome(backend, status, {})
            expect(yield* outcome(backend, status, headers)).toEqual(absent)
            expect(absent).toMatchObject({ wait: 60_000, pausesOperation: [], isRead: true })
          }))
      }

      for (const [name, wait, headers] of withinWeek) {
        it.effect(`that is ${name} pauses its operation only, for at most a day (${status}, ${backend})`, () =>
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
    it.effect(`of ${what} beyond a week is no pause, for any process`, () =>
      Effect.gen(function*() {
        const [one, other] = [yield* join({ window }), yield* join({ window })]
        yield* store(operation, 56 * 365 * day)
        const sentAt = yield* TestTime.advancing(
          Effect.all([one, other].map(({ withSlot }) => withSlot("1 minute", Clock.currentTimeMillis, { operation })))
        )
        expect(Math.max(...sentAt)).toBeLessThanOrEqual(5_000)
        expect(yield* one.status).toMatchObject({ pausedUntil: undefined, pausedOperations: [] })
      }).pipe(Effect.provide(Database.memory)))

    it.effect(`of ${what} beyond a day ends within a day`, () =>
      Effect.gen(function*() {
        const { status, withSlot } = yield* join({ window })
        yield* store(operation, 3 * day)
        const { pausedOperations, pausedUntil } = yield* status
        expect(operation === undefined ? pausedUntil : pausedOperations[0]?.until).toEqual(DateTime.makeUnsafe(day))
        const sentAt = yield* TestTime.advancing(withSlot("2 days", Clock.currentTimeMillis, { operation }))
        expect(sentAt).toBeGreaterThanOrEqual(day)
        expect(sentAt).toBeLessThanOrEqual(day + 3_600_000)
      }).pipe(Effect.provide(Database.memory)))
  }
})
