/** Tests that every rate limit layer must pass. */
import { expect, it, type Vitest } from "@effect/vitest"
import { type ClientError, Metrics, RateLimit, TestTime } from "@plaza/client"
import * as Generate from "@plaza/testing/Generators"
import {
  Arbitrary,
  Cause,
  Clock,
  Context,
  DateTime,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Metric,
  References,
  Result,
  Scheduler,
  Scope
} from "effect"
import { TestClock } from "effect/testing"
import type { TestContext } from "vitest"
import * as CountingServer from "./CountingServer.ts"
import * as Virtual from "./Virtual.ts"

/** Creates a layer with a new allowance each time. */
export type LayerOf = (allowance: RateLimit.Allowance) => Layer.Layer<RateLimit.RateLimit>

/** Values that the types don't allow come from programs in JavaScript, and from calculations. */
export const unusable: Readonly<Record<"limit" | "window", ReadonlyArray<unknown>>> = {
  limit: [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "120"],
  window: ["60s", "soon", 0, -1, Number.NaN, Duration.infinity]
}

export const longMaxWait = Duration.hours(1)

export const makeFrom = <E, R>(layer: Layer.Layer<RateLimit.RateLimit, E, R>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), Context.get(RateLimit.RateLimit))

export const takeAll = (limit: RateLimit.RateLimit["Service"], requests: number) =>
  Effect.all(Array.from({ length: requests }, () => limit.withSlot(longMaxWait, Effect.void)), {
    concurrency: "unbounded",
    discard: true
  })

type Send = <A, E, R>(
  limit: RateLimit.RateLimit["Service"],
  request: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | ClientError.RateLimitWaitExceeded | ClientError.ClientClosed, R>

/** Both ways to send a request, which must have the same results. */
const ways: ReadonlyArray<readonly [name: string, send: Send]> = [
  ["in a slot of its own", (limit, request) => limit.withSlot(longMaxWait, request)],
  [
    "in a slot that was reserved",
    (limit, request) =>
      Effect.scopedWith((scope) => Effect.flatMap(Scope.provide(limit.reserve(longMaxWait), scope), ({ use }) => use(request)))
  ]
]

/** The time before and after the service counts a request, in milliseconds. */
export const latency = Arbitrary.all([Generate.between(0, 200), Generate.between(0, 200)])

const latencies = Generate.arrayOf(latency, { minLength: 60, maxLength: 60 })

/** Runs an effect in virtual time, which starts at 0. */
export const simulated = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(TestTime.advancing(effect), TestClock.layer())

/** Starts effects in the background. */
const forkAll = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) => Effect.forEach(effects, (effect) => Effect.forkChild(effect))

/** The clock of a test. */
export interface Time {
  readonly test: Vitest.Tester<Scope.Scope>
  /** Runs an effect that waits for slots. */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const realTime: Time = { test: it.live, run: (effect) => effect }

/** Rules that also apply to a database with its own clock. */
export const inAnyTime = (
  { run, test }: Time,
  layerOf: (allowance: RateLimit.Allowance, context: TestContext) => Layer.Layer<RateLimit.RateLimit>
): void => {
  test("is handed out in the order of asking", (context) =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 2, window: "300 millis" }, context))
      const order: Array<number> = []
      const all = Array.from({ length: 9 }, (_, index) => limit.withSlot(longMaxWait, Effect.sync(() => order.push(index))))
      yield* run(Effect.all(all, { concurrency: "unbounded" }))
      expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    }))

  test("gives a reserved slot that isn't used to the next one, and no second request to one that is", (context) =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }, context))
      yield* Effect.scoped(limit.reserve(longMaxWait))
      const twice = yield* Effect.exit(
        Effect.scoped(Effect.flatMap(limit.reserve(longMaxWait), ({ use }) => Effect.andThen(use(Effect.void), use(Effect.void))))
      )
      expect(Exit.isFailure(twice) && Cause.hasDies(twice.cause)).toBe(true)
    }))
}

const windowRules = (layerOf: LayerOf, numRuns: number): void => {
  for (const kind of ["sliding", "fixed", "bucket"] as const) {
    it.effect.prop(
      `is never exceeded as a ${kind} window counts, and used to the full`,
      [latencies, Generate.between(1, 12), Generate.elementOf(ways)],
      ([requests, limit, [, send]]) =>
        Effect.gen(function*() {
          const window = 6_000
          const server = CountingServer.make(CountingServer.counters[kind](limit, window))
          const allowance = yield* makeFrom(layerOf({ limit, window }))
          yield* Effect.forEach(requests, ([before, after]) => send(allowance, server.request(before, after)), {
            concurrency: "unbounded",
            discard: true
          })
          expect(server.refused()).toBe(0)
          const { counted } = server
          // Whole windows full of requests, each begun no later than one latency after the one before.
          const windows = Math.ceil(requests.length / limit) - 1
          expect(Math.max(...counted) - Math.min(...counted)).toBeLessThanOrEqual(windows * (window + 401) + 400)
        }).pipe(Effect.scoped, simulated),
      { arbitrary: { runs: numRuns } }
    )
  }

  for (const [name, send] of ways) {
    it.effect(`frees a slot one window after the response, not after the request (${name})`, () =>
      Effect.gen(function*() {
        const limit = yield* makeFrom(layerOf({ limit: 1, window: "60 seconds" }))
        const second = yield* Effect.forkChild(Effect.andThen(
          send(limit, Effect.sleep("10 seconds")),
          send(limit, Clock.currentTimeMillis)
        ))
        yield* TestClock.adjust("2 minutes")
        expect(yield* Fiber.join(second)).toBe(70_001)
      }))

    it.effect(`counts an interrupted request, because it may have arrived (${name})`, () =>
      Effect.gen(function*() {
        const limit = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
        const request = yield* Effect.forkChild(send(limit, Effect.never))
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.interrupt(request)
        const next = yield* Effect.forkChild(send(limit, Clock.currentTimeMillis))
        yield* TestClock.adjust("2 minutes")
        expect(yield* Fiber.join(next)).toBe(70_001)
      }))
  }
}

const waitingRules = (layerOf: LayerOf, numRuns: number): void => {
  it.effect("grants a slot to the next waiter when a waiter is interrupted", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
      yield* withSlot(longMaxWait, Effect.void)
      const leaving = yield* Effect.forkChild(withSlot(longMaxWait, Effect.void))
      const staying = yield* Effect.forkChild(withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(leaving)
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(staying)).toBe(60_001)
    }))

  it.effect.prop(
    "is not lost or gained when waiters go away at any moment",
    [Generate.arrayOf(Generate.between(0, 40), { minLength: 1, maxLength: 25 }), Generate.elementOf(ways)],
    ([leaveAfter, [, send]]) =>
      Effect.gen(function*() {
        // Slots come free at whole seconds, the very moments at which waiters go away.
        const limit = yield* makeFrom(layerOf({ limit: 2, window: "4999 millis" }))
        yield* Effect.forEach(
          leaveAfter,
          (seconds) => Effect.timeoutOption(send(limit, Effect.sleep("1 second")), Duration.seconds(seconds)),
          { concurrency: "unbounded" }
        )
        yield* Effect.sleep("1 minute")
        // Both slots are there again, and no third one.
        const inside = yield* Deferred.make<void>()
        let entered = 0
        const holders = yield* forkAll(Array.from(
          { length: 3 },
          () => send(limit, Effect.andThen(Effect.sync(() => entered++), Deferred.await(inside)))
        ))
        yield* Effect.sleep("1 second")
        expect(entered).toBe(2)
        yield* Fiber.interruptAll(holders)
      }).pipe(Effect.scoped, simulated),
    { arbitrary: { runs: 30 } }
  )

  const anyCaller = Arbitrary.all([
    Generate.anyOf(["own", "reserved", "unused"]),
    Generate.anyOf(["success", "failure", "refusal", "quota", "outage"]),
    Generate.elementOf(["post", "like"]),
    // When it starts, how long its request takes, and when it is interrupted: in whole seconds, as slots become free, and in steps of
    // its fiber after that.
    Generate.between(0, 4),
    Generate.between(0, 2),
    Generate.between(0, 12),
    Generate.between(0, 8)
  ])
  const pauseRequest = (outcome: "failure" | "refusal" | "quota" | "outage") =>
    ({
      failure: undefined,
      refusal: { retryAfter: Duration.seconds(1), counted: false },
      quota: { retryAfter: Duration.seconds(7), counted: false },
      outage: { retryAfter: Duration.seconds(2), counted: true }
    })[outcome]

  it.effect.prop(
    "is free again, and no request waits, after any callers that were interrupted at any moment",
    // A fiber that yields after a few operations can be interrupted between the grant of its slot and its next operation.
    [Generate.arrayOf(anyCaller, { minLength: 1, maxLength: 15 }), Generate.between(1, 3), Generate.elementOf([3, 4, 2_048])],
    ([callers, limit, operationsBeforeYield]) =>
      Effect.gen(function*() {
        const window = 4_999
        const { reserve, status, withSlot } = yield* makeFrom(layerOf({ limit, window }))
        let inFlight = 0
        let most = 0
        yield* Effect.forEach(callers, ([way, outcome, operation, start, seconds, interruptedAt, steps]) =>
          Effect.gen(function*() {
            yield* Effect.sleep(Duration.seconds(start))
            const request = Effect.acquireUseRelease(
              Effect.sync(() => {
                most = Math.max(most, ++inFlight)
              }),
              () => Effect.andThen(Effect.sleep(Duration.seconds(seconds)), outcome === "success" ? Effect.void : Effect.fail(outcome)),
              () => Effect.sync(() => inFlight--)
            )
            const options = {
              operation,
              pauseRequest: (failure: unknown) => pauseRequest(failure === outcome && outcome !== "success" ? outcome : "failure")
            }
            const call = way === "own"
              ? withSlot(longMaxWait, request, options)
              : Effect.scoped(
                Effect.flatMap(reserve(longMaxWait, options),
                  (slot) => way === "unused" ? Effect.sleep(Duration.seconds(seconds)) : slot.use(request, options))
              )
            const fiber = yield* Effect.forkChild(Effect.provideService(call, Scheduler.MaxOpsBeforeYield, operationsBeforeYield))
            yield* Effect.sleep(Duration.seconds(interruptedAt))
            yield* Effect.repeat(Effect.yieldNow, { times: steps })
            yield* Fiber.interrupt(fiber)
          }), { concurrency: "unbounded", discard: true })
        yield* Effect.sleep("20 seconds")
        expect(most).toBeLessThanOrEqual(limit)
        expect(inFlight).toBe(0)
        expect(yield* status).toEqual({ free: limit, inFlight: 0, waiting: 0, pausedUntil: undefined, pausedOperations: [] })
      }).pipe(Effect.scoped, simulated),
    { arbitrary: { runs: 4 * numRuns } }
  )

  it.effect("fails a waiter as soon as no slot can become free in time, with the time of a useful retry", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
      yield* Effect.forkChild(withSlot(longMaxWait, Effect.never))
      yield* TestClock.adjust("1 second")
      const waiting = yield* Effect.forkChild(Effect.flip(withSlot(Duration.seconds(20), Effect.void)))
      yield* TestClock.adjust("9 seconds")
      expect(waiting.pollUnsafe()).toBeUndefined()
      // The slot in flight would serve nobody before 22 s now, were its request answered at once.
      yield* TestClock.adjust("2 seconds")
      expect(waiting.pollUnsafe()).toBeDefined()
      const failure = yield* Fiber.join(waiting)
      expect(failure._tag === "RateLimitWaitExceeded" && DateTime.toEpochMillis(failure.retryAt)).toBeGreaterThan(21_000)
      expect(failure._tag === "RateLimitWaitExceeded" && DateTime.toEpochMillis(failure.retryAt)).toBeLessThanOrEqual(22_001)
    }))

  it.effect.prop(
    "fails at once who can't be served in time, with a moment before which nobody in its place is served",
    [Generate.between(1, 5), Generate.between(0, 30), Generate.elementOf([0, 0, 150])],
    ([limit, ahead, latency]) =>
      Effect.gen(function*() {
        const { withSlot } = yield* makeFrom(layerOf({ limit, window: "6 seconds" }))
        const request = Effect.sleep(Duration.millis(latency))
        yield* forkAll(Array.from({ length: limit }, () => withSlot(longMaxWait, request)))
        yield* Effect.sleep("1 second")
        yield* forkAll(Array.from({ length: ahead }, () => withSlot(longMaxWait, request)))
        yield* Effect.sleep("1 second")
        const failure = yield* Effect.flip(withSlot(Duration.seconds(1), Effect.void))
        expect(yield* Clock.currentTimeMillis).toBeLessThan(2_100)
        const served = yield* withSlot(longMaxWait, Clock.currentTimeMillis)
        const retryAt = failure._tag === "RateLimitWaitExceeded" ? DateTime.toEpochMillis(failure.retryAt) : Number.NaN
        expect(retryAt).toBeLessThanOrEqual(served)
        if (latency === 0) {
          // No request takes any time, so that the bound is the moment itself, but for what a database adds.
          expect(retryAt).toBeGreaterThanOrEqual(served - 150 * (1 + ahead / limit))
        }
      }).pipe(Effect.scoped, simulated),
    { arbitrary: { runs: 20 } }
  )

  it.effect("fails a request at once if too many others wait before it", () =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 2, window: "1 minute" }))
      yield* takeAll(limit, 2)
      yield* Effect.forkChild(takeAll(limit, 2))
      yield* TestClock.adjust("1 second")
      const result = yield* Effect.result(limit.withSlot(Duration.seconds(30), Effect.void))
      expect(Result.isFailure(result)).toBe(true)
    }))
}

const reservedRules = (layerOf: LayerOf): void => {
  it.effect("reserves a slot before the caller chooses the request", () =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
      yield* limit.withSlot(longMaxWait, Effect.void)
      let urgent = "rising"
      const sent = yield* Effect.forkChild(Effect.scoped(Effect.gen(function*() {
        const slot = yield* limit.reserve(longMaxWait)
        return yield* slot.use(Effect.sync(() => urgent))
      })))
      yield* TestClock.adjust("30 seconds")
      urgent = "sold out"
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(sent)).toBe("sold out")
    }))

  it.effect("counts a used reserved slot once, and an unused one not at all", () =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
      yield* Effect.scoped(limit.reserve(longMaxWait))
      yield* Effect.exit(
        Effect.scoped(Effect.flatMap(limit.reserve(longMaxWait), ({ use }) => Effect.andThen(use(Effect.void), use(Effect.void))))
      )
      const next = yield* Effect.forkChild(limit.withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(next)).toBe(60_001)
    }))
}

const escapedRules = (layerOf: LayerOf): void => {
  it.effect("dies on a request in a reserved slot that was released", () =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
      const { use } = yield* Effect.scoped(limit.reserve(longMaxWait))
      const late = yield* Effect.exit(use(Effect.void))
      expect(Exit.isFailure(late) && Cause.hasDies(late.cause)).toBe(true)
      yield* limit.withSlot(longMaxWait, Effect.void)
      const next = yield* Effect.forkChild(limit.withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(next)).toBe(60_001)
    }))
}

const closingRules = (layerOf: LayerOf): void => {
  it.effect("pauses every waiting request after a 429 of another caller, until its Retry-After has passed", () =>
    Effect.gen(function*() {
      const { pauseFor, withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
      yield* withSlot(longMaxWait, Effect.void)
      const waiting = yield* Effect.forkChild(Effect.all(
        [withSlot(longMaxWait, Clock.currentTimeMillis), withSlot(longMaxWait, Clock.currentTimeMillis)],
        { concurrency: "unbounded" }
      ))
      yield* TestClock.adjust("5 seconds")
      yield* pauseFor(Duration.seconds(30))
      yield* pauseFor(Duration.seconds(1))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(waiting)).toEqual([35_000, 45_001])
    }))

  it.effect("fails waiters at once that can't wait for the end of a pause, with the time of a useful retry", () =>
    Effect.gen(function*() {
      const { pauseFor, withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
      yield* withSlot(longMaxWait, Effect.void)
      const waiting = yield* Effect.forkChild(Effect.result(withSlot(Duration.seconds(20), Effect.void)))
      yield* TestClock.adjust("1 second")
      yield* pauseFor(Duration.hours(2))
      const late = yield* Effect.result(withSlot(Duration.minutes(5), Effect.void))
      for (const result of [yield* Fiber.join(waiting), late]) {
        expect(Result.getFailure(result)).toMatchObject({
          value: { _tag: "RateLimitWaitExceeded", retryAt: DateTime.makeUnsafe(7_201_000) }
        })
      }
      expect(yield* Clock.currentTimeMillis).toBe(1_000)
    }))
}

const operationRules = (layerOf: LayerOf): void => {
  it.effect("pauses only the operation with an exhausted quota, including its waiters", () =>
    Effect.gen(function*() {
      const { pauseFor, status, withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
      yield* withSlot(longMaxWait, Effect.void)
      const call = (operation: string, maxWait: Duration.Input) =>
        Effect.forkChild(Effect.result(withSlot(Duration.fromInputUnsafe(maxWait), Clock.currentTimeMillis, { operation })))
      const short = yield* call("comment", "1 minute")
      const long = yield* call("comment", "3 hours")
      const other = yield* call("like", "1 minute")
      yield* TestClock.adjust("1 second")
      yield* pauseFor(Duration.hours(2), "comment")
      const late = yield* call("comment", "1 minute")
      yield* TestClock.adjust("1 second")

      for (const waiting of [short, late]) {
        const result = yield* Fiber.join(waiting)
        expect(Result.getFailure(result)).toMatchObject({
          value: {
            _tag: "RateLimitWaitExceeded",
            message: "comment is paused, most likely because a quota is exhausted; retry after 1970-01-01T02:00:01.000Z"
          }
        })
      }
      expect(yield* status).toMatchObject({
        pausedUntil: undefined,
        pausedOperations: [{ operation: "comment", until: DateTime.makeUnsafe(7_201_000) }]
      })
      yield* TestClock.adjust("10 seconds")
      expect(Result.getOrThrow(yield* Fiber.join(other))).toBeLessThanOrEqual(10_300)
      expect(long.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("2 hours")
      expect(Result.getOrThrow(yield* Fiber.join(long))).toBeGreaterThanOrEqual(7_201_000)
      expect((yield* status).pausedOperations).toEqual([])
    }))

  it.effect("treats a Retry-After beyond a window as a quota of the operation, and a shorter one as the rate limit of the key", () =>
    Effect.gen(function*() {
      const { status, withSlot } = yield* makeFrom(layerOf({ limit: 5, window: "10 seconds" }))
      const refused = (operation: string, seconds: number) =>
        Effect.ignore(withSlot(longMaxWait, Effect.fail("refused"), {
          operation,
          pauseRequest: () => ({ retryAfter: Duration.seconds(seconds), counted: false })
        }))
      yield* refused("comment", 36_000)
      expect(yield* withSlot(longMaxWait, Clock.currentTimeMillis, { operation: "like" })).toBe(0)
      expect((yield* status).pausedOperations).toMatchObject([{ operation: "comment", until: DateTime.makeUnsafe(36_000_000) }])
      yield* refused("like", 10)
      expect(yield* status).toMatchObject({ free: 0, pausedUntil: DateTime.makeUnsafe(10_000) })
    }))

  it.effect("reports each pause once, and a long wait once for all waiters", () =>
    Effect.gen(function*() {
      const counted = (scope: string) =>
        Effect.map(Metric.value(Metric.withAttributes(Metrics.pauses, { scope })), ({ count }) => Number(count))
      const [keys, operations] = [yield* counted("key"), yield* counted("operation")]
      const events: Array<string> = []
      const logger = Logger.make(({ fiber, logLevel, message }) => {
        const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations)).toSorted(([a], [b]) => a.localeCompare(b))
        events.push(`${logLevel} ${String(message)} ${JSON.stringify(Object.fromEntries(annotations))}`)
      })
      yield* Effect.gen(function*() {
        const { pauseFor, withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "30 seconds" }))
        yield* withSlot(longMaxWait, Effect.void)
        yield* TestClock.adjust("1 second")
        yield* pauseFor(Duration.seconds(20))
        yield* pauseFor(Duration.seconds(25))
        yield* pauseFor(Duration.hours(10), "comment")
        yield* pauseFor(Duration.hours(10), "comment")
        yield* forkAll(Array.from({ length: 20 }, () => withSlot(longMaxWait, Effect.void)))
        yield* TestClock.adjust("10 seconds")
      }).pipe(Effect.provide(Logger.layer([logger])))
      expect(events.slice(0, 2)).toEqual([
        "Info rate_limit.key_paused {\"seconds\":20}",
        "Warn rate_limit.operation_paused {\"operation\":\"comment\",\"seconds\":36000}"
      ])
      expect(events.slice(2)).toHaveLength(1)
      expect(events[2]).toMatch(/^Info rate_limit.waiting/)
      expect([(yield* counted("key")) - keys, (yield* counted("operation")) - operations]).toEqual([1, 1])
    }))
}

const endRules = (layerOf: LayerOf): void => {
  it.effect("leaves no waiter behind when its layer is released", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const limit = yield* Scope.provide(makeFrom(layerOf({ limit: 1, window: "1 minute" })), scope)
      const inFlight = yield* Effect.forkChild(limit.withSlot(longMaxWait, Effect.sleep("30 seconds")))
      yield* TestClock.adjust("1 second")
      yield* limit.pauseFor(Duration.minutes(10), "comment")
      const waiting = yield* Effect.forkChild(Effect.flip(limit.withSlot(longMaxWait, Effect.void)))
      const paused = yield* Effect.forkChild(Effect.flip(limit.withSlot(longMaxWait, Effect.void, { operation: "comment" })))
      yield* TestClock.adjust("1 second")
      const release = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(release)
      expect((yield* Fiber.join(waiting))._tag).toBe("ClientClosed")
      expect((yield* Fiber.join(paused))._tag).toBe("ClientClosed")
      expect((yield* Effect.flip(limit.withSlot(longMaxWait, Effect.void)))._tag).toBe("ClientClosed")
      expect((yield* Effect.flip(Effect.scoped(limit.reserve(longMaxWait))))._tag).toBe("ClientClosed")
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(inFlight)
    }))

  it.effect("sends no request in a reserved slot after the release of its layer", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const limit = yield* Scope.provide(makeFrom(layerOf({ limit: 1, window: "1 minute" })), scope)
      const { use } = yield* limit.reserve(longMaxWait)
      yield* Scope.close(scope, Exit.void)
      expect((yield* Effect.flip(use(Effect.void)))._tag).toBe("ClientClosed")
    }))

  it.effect("doesn't keep a slot for an hour if the wall clock is set back by an hour", () =>
    Effect.flatMap(Virtual.wallClock, ({ clock, setBy }) =>
      Effect.gen(function*() {
        const { withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
        yield* withSlot(longMaxWait, Effect.void)
        yield* TestClock.adjust("1 second")
        setBy(-3_600_000)
        const next = yield* Effect.forkChild(withSlot(longMaxWait, Effect.void))
        yield* TestClock.adjust("8 seconds")
        expect(next.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust("12 seconds")
        expect(next.pollUnsafe()).toBeDefined()
      }).pipe(Effect.provideService(Clock.Clock, clock))))
}

/** Every rule in virtual time, with `numRuns` runs of random requests. */
export const inVirtualTime = (layerOf: LayerOf, numRuns: number): void => {
  windowRules(layerOf, numRuns)
  waitingRules(layerOf, numRuns)
  reservedRules(layerOf)
  escapedRules(layerOf)
  closingRules(layerOf)
  operationRules(layerOf)
  endRules(layerOf)
  inAnyTime({ test: it.effect, run: TestTime.advancing }, layerOf)
}
