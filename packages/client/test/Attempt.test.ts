/** Attempts of calls within the allowance of their key, and the waits that a 429 and a 503 require. */
import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles, Store, TestTime } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Clock, Effect, Result } from "effect"
import { Operations } from "../src/internal/contract/Operations.ts"
import type { ResponseClock } from "../src/internal/delivery/Attempt.ts"
import * as Fake from "./support/FakeService.ts"

const window = 60_000
const limit = 120
const getMe = Effect.flatMap(Profiles, ({ me }) => me)

/** Counts a request at a moment. Returns 0 if it is accepted, otherwise the seconds of `Retry-After`. */
type RateServer = (at: number) => number

const seconds = (millis: number) => Math.max(1, Math.ceil(millis / 1_000))

const bucket = (burst: number): RateServer => {
  let tokens = burst
  let last = 0
  return (at) => {
    tokens = Math.min(burst, tokens + ((at - last) * limit) / window)
    last = at
    if (tokens < 1) {
      return seconds(((1 - tokens) * window) / limit)
    }
    tokens -= 1
    return 0
  }
}

const gcra = (burst: number): RateServer => {
  const interval = window / limit
  let nextAt = 0
  return (at) => {
    const earliest = nextAt - (burst - 1) * interval
    if (at < earliest) {
      return seconds(earliest - at)
    }
    nextAt = Math.max(nextAt, at) + interval
    return 0
  }
}

const fixed = (): RateServer => {
  let index = -1
  let count = 0
  return (at) => {
    const current = Math.floor((at + 20_000) / window)
    count = current === index ? count : 0
    index = current
    return count < limit ? (count++, 0) : seconds((index + 1) * window - 20_000 - at)
  }
}

const sliding = (): RateServer => {
  const accepted: Array<number> = []
  return (at) => {
    while (accepted[0] !== undefined && accepted[0] <= at - window) {
      accepted.shift()
    }
    return accepted.length < limit ? (accepted.push(at), 0) : seconds((accepted[0] ?? at) + window - at)
  }
}

/** The outcomes of 240 concurrent calls with different latencies. */
const run = (server: RateServer, latency: number) =>
  Effect.suspend(() => {
    let refused = 0
    let requests = 0
    const layer = Fake.layerPlaza(() =>
      Effect.gen(function*() {
        const share = (requests++ * 7 % 20) / 20
        yield* Effect.sleep(Math.round(latency * share))
        const wait = server(yield* Clock.currentTimeMillis)
        yield* Effect.sleep(Math.round(latency * (1 - share)))
        if (wait > 0) {
          refused++
          return Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": String(wait) })
        }
        return Fake.json({ id: "1" })
      })
    )
    return Effect.replicateEffect(Effect.result(getMe), 240, { concurrency: "unbounded" }).pipe(
      Effect.provide(layer),
      Effect.flatMap((results) =>
        Effect.map(Clock.currentTimeMillis, (took) => ({ failed: results.filter(Result.isFailure).length, refused, took }))
      ),
      TestTime.advancing
    )
  })

describe("240 concurrent calls", () => {
  const services = {
    "a token bucket of 10": { server: () => bucket(10), ideal: 115_000 },
    "GCRA with a burst of 10": { server: () => gcra(10), ideal: 115_000 },
    "a token bucket of 120": { server: () => bucket(120), ideal: 60_000 },
    "a fixed window": { server: fixed, ideal: 60_000 },
    "a sliding window": { server: sliding, ideal: 60_000 }
  }
  for (const [name, { ideal, server }] of Object.entries(services)) {
    for (const latency of [0, 200]) {
      it.effect(`succeed against ${name} that takes ${latency} ms, in about the ideal time`, () =>
        Effect.gen(function*() {
          const { failed, refused, took } = yield* run(server(), latency)
          const small = name.includes("10") && !name.includes("120")
          expect(failed).toBe(0)
          expect(took).toBeLessThanOrEqual(ideal * 1.2)
          // Requests in flight at the first refusal are refused too. The client paces those that follow.
          expect(refused).toBeLessThan(small ? limit : 1)
        }))
    }
  }
})

describe("a 429", () => {
  const refused = (retryAfter?: string) =>
    Fake.refusal(429, "RATE_LIMITED", {}, retryAfter === undefined ? {} : { "retry-after": retryAfter })
  const me = Fake.json({ id: "1" })

  const outcome = <A, E>(call: Effect.Effect<A, E, Plaza.Services>, replies: ReadonlyArray<Fake.Reply>) => {
    const { calls, layer } = Fake.scripted(replies)
    return Effect.map(
      TestTime.advancing(Effect.result(Effect.zip(call, Clock.currentTimeMillis)).pipe(Effect.provide(layer))),
      (result) => ({ result, calls: calls.length })
    )
  }

  it.effect("is retried within the call's maximum wait, any number of times", () =>
    Effect.gen(function*() {
      const { calls, result } = yield* outcome(getMe, [...Array.from({ length: 12 }, () => refused("5")), me])
      expect(calls).toBe(13)
      expect(Result.getOrThrow(result)[1]).toBeGreaterThanOrEqual(60_000)
    }))

  it.effect("reduces the maximum wait of the call, not of each attempt", () =>
    Effect.gen(function*() {
      const { calls, result } = yield* outcome(Plaza.withMaxWait("12 seconds")(getMe), [refused("5")])
      expect(result).toMatchObject({ failure: { _tag: "RateLimited" } })
      expect(calls).toBe(3)
    }))

  it.effect("without Retry-After causes growing waits", () =>
    Effect.gen(function*() {
      const { calls, result } = yield* outcome(getMe, [refused(), refused(), refused(), refused(), me])
      expect(calls).toBe(5)
      expect(Result.getOrThrow(result)[1]).toBeGreaterThanOrEqual(7_500)
    }))

  it.effect("with a Retry-After of ten hours pauses its operation and no other", () =>
    Effect.gen(function*() {
      const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 1))
      const layer = Fake.layerPlaza(({ method }) => Effect.succeed(method === "PATCH" ? refused("36000") : me))
      yield* Effect.gen(function*() {
        expect(yield* Effect.flip(setStock)).toMatchObject({ _tag: "RateLimited" })
        expect(yield* Effect.flip(setStock)).toMatchObject({
          _tag: "RateLimitWaitExceeded",
          message: expect.stringContaining("setStock") as unknown
        })
        expect(yield* getMe).toMatchObject({ id: "1" })
        expect(yield* Clock.currentTimeMillis).toBe(0)
      }).pipe(Effect.provide(layer))
    }))

  for (
    const [clock, date, retryAfter] of [
      ["ahead", "Thu, 01 Jan 1970 00:10:00 GMT", "Thu, 01 Jan 1970 00:10:02 GMT"],
      ["behind", "Wed, 31 Dec 1969 23:50:00 GMT", "Wed, 31 Dec 1969 23:50:02 GMT"]
    ] as const
  ) {
    for (const [status, code] of [[429, "RATE_LIMITED"], [503, "BUSY"]] as const) {
      it.effect(`until a date, by a ${status} of a service whose clock is ten minutes ${clock}, is waited out by that clock`, () =>
        Effect.gen(function*() {
          const { calls, result } = yield* outcome(getMe, [Fake.refusal(status, code, {}, { date, "retry-after": retryAfter }), me])
          expect(calls).toBe(2)
          expect(Result.getOrThrow(result)[1]).toBeGreaterThanOrEqual(2_000)
          expect(Result.getOrThrow(result)[1]).toBeLessThan(5_000)
        }))
    }
  }

  it.effect("the Retry-After of a 503 pauses every call of the key", () =>
    Effect.gen(function*() {
      const busy = Fake.refusal(503, "BUSY", {}, { "retry-after": "30" })
      const { calls, result } = yield* outcome(getMe, [busy, me])
      expect(calls).toBe(2)
      expect(Result.getOrThrow(result)[1]).toBeGreaterThanOrEqual(30_000)
    }))

  it.effect("with a Retry-After of a fraction of a second causes no more requests than the rate allows", () =>
    Effect.gen(function*() {
      const sentAt: Array<number> = []
      const layer = Fake.layerPlaza(() =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          sentAt.push(now)
          return Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "0.05" })
        }), { maxWait: "2 minutes" })
      expect(yield* Effect.flip(TestTime.advancing(Effect.provide(getMe, layer)))).toMatchObject({ _tag: "RateLimited" })
      expect(sentAt.length).toBeGreaterThan(10)
      expect(Math.max(...sentAt.map((end) => sentAt.filter((at) => at <= end && at > end - window).length))).toBeLessThanOrEqual(limit)
    }))

  it.effect("the Retry-After of a 503 beyond the maximum wait fails the call with that 503", () =>
    Effect.gen(function*() {
      const busy = Fake.refusal(503, "BUSY", {}, { "retry-after": "3600" })
      const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 1))
      for (const call of [Effect.asVoid(getMe), Effect.asVoid(setStock)]) {
        const { calls, result } = yield* outcome(call, [busy])
        expect(result).toMatchObject({ failure: { code: "BUSY", status: 503 } })
        expect(calls).toBe(1)
      }
    }))
})

describe("the clock of a response", () => {
  /** The clocks of the responses to a call of a service with these replies, each after a second. */
  const clocksOf = (...replies: ReadonlyArray<Fake.Reply>) =>
    Effect.gen(function*() {
      const clocks: Array<ResponseClock> = []
      const rest = [...replies]
      const layer = Fake.layerPlaza(() => Effect.delay(Effect.sync(() => rest.shift() ?? "hang"), "1 second"))
      const call = Effect.flatMap(Operations, ({ send }) => send("getMe", {}, { onResponse: (clock) => clocks.push(clock) }))
      yield* TestTime.advancing(Effect.result(Effect.provide(call, layer)))
      return clocks
    })

  const noon = Date.UTC(2026, 9, 1, 12)
  const headers: ReadonlyArray<readonly [header: string | undefined, date: number | undefined]> = [
    ["Thu, 01 Oct 2026 12:00:00 GMT", noon],
    ["Thursday, 01-Oct-26 12:00:00 GMT", noon],
    ["Thu Oct  1 12:00:00 2026", noon],
    [undefined, undefined],
    ["0", undefined],
    ["cache 7", undefined],
    ["2026-10-01T12:00:00", undefined],
    ["Thu, 99 Oct 2026 12:00:00 GMT", undefined]
  ]
  for (const [header, dateMillis] of headers) {
    it.effect(`with the Date ${String(header)} is ${dateMillis === undefined ? "unknown" : "that moment"}`, () =>
      Effect.gen(function*() {
        const clocks = yield* clocksOf(Fake.json({ id: "1" }, 200, header === undefined ? {} : { date: header }))
        expect(clocks).toEqual([{ sentAt: 0, headAt: 1_000, dateMillis }])
      }))
  }

  it.effect("is read of every response of a call, refusals and faults included, and of none without a head", () =>
    Effect.gen(function*() {
      const [date, later] = [noon, noon + 60_000].map((millis) => new Date(millis).toUTCString())
      const limited = Fake.refusal(429, "RATE_LIMITED", {}, { date: date ?? "", "retry-after": "2" })
      const clocks = yield* clocksOf(limited, Fake.lost, { status: 503 }, Fake.json({ id: "1" }, 200, { date: later ?? "" }))
      expect(clocks.map(({ dateMillis }) => dateMillis)).toEqual([noon, undefined, noon + 60_000])
      expect(clocks.map(({ headAt, sentAt }) => headAt - sentAt)).toEqual([1_000, 1_000, 1_000])
    }))
})
