import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles, Store } from "@plaza-legacy/client"
import { ProductId } from "@plaza-legacy/domain"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { Clock, Effect, Either } from "effect"
import * as Fake from "./support/FakeService.ts"
import * as Virtual from "./support/Virtual.ts"

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
    return Effect.replicateEffect(Effect.either(getMe), 240, { concurrency: "unbounded" }).pipe(
      Effect.provide(layer),
      Effect.flatMap((results) =>
        Effect.map(Clock.currentTimeMillis, (took) => ({ failed: results.filter(Either.isLeft).length, refused, took }))
      ),
      SimulatedTime.run
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
      it(`succeed against ${name} that takes ${latency} ms, in about the ideal time`, { timeout: 120_000 }, async () => {
        const { failed, refused, took } = await Effect.runPromise(run(server(), latency))
        const small = name.includes("10") && !name.includes("120")
        expect(failed).toBe(0)
        expect(took).toBeLessThanOrEqual(ideal * 1.2)
        // Those that are in flight when the first refusal comes are refused with it; what follows is paced.
        expect(refused).toBeLessThan(small ? limit : 1)
      })
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
      Virtual.run(Effect.either(Effect.zip(call, Clock.currentTimeMillis)).pipe(Effect.provide(layer)), "1 second"),
      (result) => ({ result, calls: calls.length })
    )
  }

  it.effect("is retried within the call's maximum wait, any number of times", () =>
    Effect.gen(function*() {
      const { calls, result } = yield* outcome(getMe, [...Array.from({ length: 12 }, () => refused("5")), me])
      expect(calls).toBe(13)
      expect(Either.getOrThrow(result)[1]).toBeGreaterThanOrEqual(60_000)
    }))

  it.effect("reduces the maximum wait of the call, not of each attempt", () =>
    Effect.gen(function*() {
      const { calls, result } = yield* outcome(Plaza.withMaxWait("12 seconds")(getMe), [refused("5")])
      expect(Either.getLeft(result)).toMatchObject({ value: { _tag: "RateLimited" } })
      expect(calls).toBe(3)
    }))

  it.effect("without Retry-After causes growing waits", () =>
    Effect.gen(function*() {
      const { calls, result } = yield* outcome(getMe, [refused(), refused(), refused(), refused(), me])
      expect(calls).toBe(5)
      expect(Either.getOrThrow(result)[1]).toBeGreaterThanOrEqual(7_500)
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
          expect(Either.getOrThrow(result)[1]).toBeGreaterThanOrEqual(2_000)
          expect(Either.getOrThrow(result)[1]).toBeLessThan(5_000)
        }))
    }
  }

  it.effect("the Retry-After of a 503 pauses every call of the key", () =>
    Effect.gen(function*() {
      const busy = Fake.refusal(503, "BUSY", {}, { "retry-after": "30" })
      const { calls, result } = yield* outcome(getMe, [busy, me])
      expect(calls).toBe(2)
      expect(Either.getOrThrow(result)[1]).toBeGreaterThanOrEqual(30_000)
    }))

  it.effect("with a Retry-After of a fraction of a second causes no more requests than the rate allows", () =>
    Effect.gen(function*() {
      const sentAt: Array<number> = []
      const layer = Fake.layerPlaza(() =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          sentAt.push(now)
          return Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "0.05" })
        }), { maxWait: "2 minutes" })
      expect(yield* Effect.flip(SimulatedTime.run(Effect.provide(getMe, layer)))).toMatchObject({ _tag: "RateLimited" })
      expect(sentAt.length).toBeGreaterThan(10)
      expect(Math.max(...sentAt.map((end) => sentAt.filter((at) => at <= end && at > end - window).length))).toBeLessThanOrEqual(limit)
    }))

  it.effect("the Retry-After of a 503 beyond the maximum wait fails the call with that 503", () =>
    Effect.gen(function*() {
      const busy = Fake.refusal(503, "BUSY", {}, { "retry-after": "3600" })
      const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 1))
      for (const call of [Effect.asVoid(getMe), Effect.asVoid(setStock)]) {
        const { calls, result } = yield* outcome(call, [busy])
        expect(Either.getLeft(result)).toMatchObject({ value: { code: "BUSY", status: 503 } })
        expect(calls).toBe(1)
      }
    }))
})
