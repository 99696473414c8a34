/** The allowance of 120 requests per minute, and services that count requests differently. */
import { describe, expect, it } from "@effect/vitest"
import { RateLimit } from "@plaza/client"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as CountingServer from "./support/CountingServer.ts"

const limit = 120
const window = 60_000

const { bucket, fixed, leaky, sliding, slidingCounter } = CountingServer.counters

interface Refusal {
  readonly wait: number
}

/** A call that is sent again after a 429, as the client does. `Retry-After` has whole seconds. */
const makeCall = (allowance: RateLimit.RateLimit["Service"], server: CountingServer.Server) => {
  let sent = 0
  const attempt = (isRetry: boolean): Effect.Effect<void> => {
    const number = sent++
    // Different from request to request, and the same in every run.
    const [before, after] = [number * 37 % 200, number * 61 % 200]
    const request = Effect.flatMap(server.request(before, after), (wait) => wait === 0 ? Effect.void : Effect.fail<Refusal>({ wait }))
    const pauseRequest = ({ wait }: Refusal) => ({ retryAfter: Duration.seconds(Math.ceil(wait / 1_000)), counted: false })
    return allowance.withSlot("10 hours", request, {
      isRetry,
      pauseRequest: (failure) => "wait" in failure ? pauseRequest(failure) : undefined
    }).pipe(
      Effect.catchIf((failure): failure is Refusal => "wait" in failure, () => attempt(true)),
      Effect.orDie
    )
  }
  return { call: Effect.suspend(() => attempt(false)), sent: () => sent }
}

/** A backlog of calls. All of them succeed. */
const backlog = (counter: CountingServer.Counter, calls: number, concurrency: number | "unbounded" = "unbounded") =>
  Effect.gen(function*() {
    const server = CountingServer.make(counter)
    const { call, sent } = makeCall(yield* RateLimit.makeMemory({ limit, window }), server)
    const start = yield* Clock.currentTimeMillis
    const all = yield* Effect.forkChild(
      Effect.andThen(Effect.forEach(Array.from({ length: calls }), () => call, { concurrency, discard: true }), Clock.currentTimeMillis)
    )
    while (all.pollUnsafe() === undefined) {
      yield* TestClock.adjust("10 minutes")
    }
    const took = (yield* Fiber.join(all)) - start
    expect(server.counted).toHaveLength(calls)
    return { refused: server.refused(), share: server.refused() / sent(), took }
  }).pipe(Effect.scoped)

const phases = [0, 5, 15, 25, 35, 45, 55].map((seconds) => seconds * 1_000)

describe("a backlog of 2,400 calls uses 99.5% of the limit, without a 429, if the service counts", () => {
  const calls = 2_400
  const services: Readonly<Record<string, ReadonlyArray<() => CountingServer.Counter>>> = {
    "a sliding log": [() => sliding(limit, window)],
    "a fixed window, wherever it starts": phases.map((phase) => () => fixed(limit, window, phase)),
    "a token bucket with as many tokens as the limit": [() => bucket(limit, window)],
    "a leaky bucket with as many places as the limit": [() => leaky(limit, window)]
  }
  for (const [name, counters] of Object.entries(services)) {
    it.effect(name, () =>
      Effect.gen(function*() {
        for (const counter of counters) {
          const { refused, took } = yield* backlog(counter(), calls)
          expect(refused).toBe(0)
          // The first 120 calls wait for nothing.
          expect((calls / limit - 1) * window / took).toBeGreaterThanOrEqual(0.995)
        }
      }))
  }
})

describe("a service with a sliding-window counter", () => {
  for (const [calls, concurrency, most] of [[600, "unbounded", 0.1], [2_400, "unbounded", 0.03], [600, 8, 0.03]] as const) {
    it.effect(`refuses between one and ${most * 100}% of the requests of ${calls} calls, ${concurrency} at a time, and all succeed at the rate of the limit`, () =>
      Effect.gen(function*() {
        for (const phase of phases) {
          const { refused, share, took } = yield* backlog(slidingCounter(limit, window, phase), calls, concurrency)
          expect(refused).toBeGreaterThan(0)
          expect(share).toBeLessThanOrEqual(most)
          expect(took).toBeLessThanOrEqual(calls / limit * window * 1.02)
        }
      }))
  }
})

describe("a service that allows the rate, but no burst of the limit", () => {
  for (const size of [60, 10, 5]) {
    for (const kind of ["bucket", "leaky"] as const) {
      it.effect(`refuses only requests that were in flight together, and all calls succeed at its rate (${kind} of ${size})`, () =>
        Effect.gen(function*() {
          const counter = CountingServer.counters[kind](limit, window, size)
          const { refused, took } = yield* backlog(counter, 600)
          expect(refused).toBeLessThanOrEqual(limit - size + 5)
          expect(took).toBeLessThanOrEqual(5 * window * 1.02)
          const few = yield* backlog(CountingServer.counters[kind](limit, window, size), 600, 8)
          expect(few.refused).toBeLessThanOrEqual(8)
        }))
    }
  }

  it.effect("refuses the second of two bursts in ten windows less often than the first", () =>
    Effect.gen(function*() {
      const server = CountingServer.make(bucket(limit, window, 10))
      const { call } = makeCall(yield* RateLimit.makeMemory({ limit, window }), server)
      const burst = Effect.gen(function*() {
        const before = server.refused()
        const all = yield* Effect.forkChild(Effect.forEach(Array.from({ length: 60 }), () => call, { concurrency: "unbounded" }))
        yield* TestClock.adjust("3 minutes")
        yield* Fiber.join(all)
        return server.refused() - before
      })
      const first = yield* burst
      expect(first).toBeGreaterThan(40)
      expect(yield* burst).toBeLessThanOrEqual(2)
    }))
})

describe("after ten windows without a 429", () => {
  it.effect("requests are no longer spaced", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* RateLimit.makeMemory({ limit, window })
      const burst = Effect.gen(function*() {
        const start = yield* Clock.currentTimeMillis
        const times = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 20 }), () => withSlot("1 hour", Clock.currentTimeMillis), { concurrency: "unbounded" })
        )
        yield* TestClock.adjust("1 minute")
        return Math.max(...yield* Fiber.join(times)) - start
      })
      yield* Effect.flip(
        withSlot("1 hour", Effect.fail("refused"), { pauseRequest: () => ({ retryAfter: Duration.seconds(1), counted: false }) })
      )
      expect(yield* burst).toBe(1_000 + 19 * window / limit)
      yield* TestClock.adjust("10 minutes")
      expect(yield* burst).toBe(0)
    }))
})

describe("429 responses without Retry-After, in a row", () => {
  it.effect("pause the key for twice the time each, from an interval to a window, and start again after a success", () =>
    Effect.gen(function*() {
      const { status, withSlot } = yield* RateLimit.makeMemory({ limit, window })
      const pauseAfter429 = Effect.gen(function*() {
        yield* Effect.flip(
          withSlot("1 hour", Effect.fail("refused"), { pauseRequest: () => ({ retryAfter: undefined, counted: false }) })
        )
        const { pausedUntil } = yield* status
        const pause = (pausedUntil?.epochMilliseconds ?? Number.NaN) - (yield* Clock.currentTimeMillis)
        yield* TestClock.adjust("1 minute")
        return pause
      })
      const pauses = yield* Effect.forEach(Array.from({ length: 9 }), () => pauseAfter429)
      expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
      yield* withSlot("1 hour", Effect.void)
      yield* TestClock.adjust("1 second")
      expect(yield* pauseAfter429).toBe(500)
    }))
})
