/** Tests that every rate limit layer must pass. */
import { expect, it, type Vitest } from "@effect/vitest"
import { type ClientError, RateLimit } from "@plaza-legacy/client"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import {
  Cause,
  Clock,
  Context,
  DateTime,
  Deferred,
  Duration,
  Effect,
  Either,
  Exit,
  FastCheck as fc,
  Fiber,
  Layer,
  Logger,
  Scope,
  TestClock
} from "effect"
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

export const takeAll = (limit: RateLimit.RateLimit["Type"], requests: number) =>
  Effect.all(Array.from({ length: requests }, () => limit.withSlot(longMaxWait, Effect.void)), {
    concurrency: "unbounded",
    discard: true
  })

type Send = <A, E, R>(
  limit: RateLimit.RateLimit["Type"],
  request: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | ClientError.RateLimitWaitExceeded | ClientError.ClientClosed, R>

/** Both ways to send a request, which must have the same results. */
const ways: ReadonlyArray<readonly [name: string, send: Send]> = [
  ["in a slot of its own", (limit, request) => limit.withSlot(longMaxWait, request)],
  [
    "in a slot that was reserved",
    (limit, request) =>
      Effect.scopedWith((scope) => Effect.flatMap(Scope.extend(limit.reserve(longMaxWait), scope), ({ use }) => use(request)))
  ]
]

const latencies = fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200 })), {
  minLength: 60,
  maxLength: 60
})

/** The clock of a test. */
export interface Time {
  readonly test: Vitest.Tester<Scope.Scope>
  /** Runs an effect that waits for slots. */
  readonly run: typeof Virtual.run
}

export const realTime: Time = { test: it.scopedLive, run: (effect) => effect }

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
        Effect.scoped(Effect.flatMap(limit.reserve(longMaxWait), ({ use }) => Effect.zipRight(use(Effect.void), use(Effect.void))))
      )
      expect(Exit.isFailure(twice) && Cause.isDie(twice.cause)).toBe(true)
    }))
}

const windowRules = (layerOf: LayerOf, numRuns: number): void => {
  for (const kind of ["sliding", "fixed", "bucket"] as const) {
    it.scoped.prop(
      `is never exceeded as a ${kind} window counts, and used to the full`,
      [latencies, fc.integer({ min: 1, max: 12 }), fc.constantFrom(...ways)],
      ([requests, limit, [, send]]) =>
        Effect.gen(function*() {
          const window = 6_000
          const server = yield* CountingServer.make(kind, limit, window)
          const allowance = yield* makeFrom(layerOf({ limit, window }))
          yield* Effect.forEach(requests, ([before, after]) => send(allowance, server.request(before, after)), {
            concurrency: "unbounded",
            discard: true
          })
          expect(yield* server.refused).toBe(0)
          const counted = yield* server.counted
          // Whole windows full of requests, each begun no later than one latency after the one before.
          const windows = Math.ceil(requests.length / limit) - 1
          expect(Math.max(...counted) - Math.min(...counted)).toBeLessThanOrEqual(windows * (window + 401) + 400)
        }).pipe(Effect.scoped, SimulatedTime.run),
      { fastCheck: { numRuns } }
    )
  }

  for (const [name, send] of ways) {
    it.scoped(`frees a slot one window after the response, not after the request (${name})`, () =>
      Effect.gen(function*() {
        const limit = yield* makeFrom(layerOf({ limit: 1, window: "60 seconds" }))
        const second = yield* Effect.fork(Effect.zipRight(
          send(limit, Effect.sleep("10 seconds")),
          send(limit, Clock.currentTimeMillis)
        ))
        yield* TestClock.adjust("2 minutes")
        expect(yield* Fiber.join(second)).toBe(70_001)
      }))

    it.scoped(`counts an interrupted request, because it may have arrived (${name})`, () =>
      Effect.gen(function*() {
        const limit = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
        const request = yield* Effect.fork(send(limit, Effect.never))
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.interrupt(request)
        const next = yield* Effect.fork(send(limit, Clock.currentTimeMillis))
        yield* TestClock.adjust("2 minutes")
        expect(yield* Fiber.join(next)).toBe(70_001)
      }))
  }
}

const waitingRules = (layerOf: LayerOf): void => {
  it.scoped("uses no more memory the longer requests wait", () =>
    Effect.gen(function*() {
      const ancestors = yield* Virtual.mostAncestors(Effect.gen(function*() {
        const { withSlot } = yield* makeFrom(layerOf({ limit: 5, window: "10 seconds" }))
        // Different durations, so that the slots become free at different moments and there is always one to wait for.
        const requests = Array.from({ length: 200 }, (_, index) => withSlot(longMaxWait, Effect.sleep((index % 5) * 500)))
        yield* Effect.all(requests, { concurrency: "unbounded", discard: true })
      }))
      expect(ancestors).toBeLessThanOrEqual(12)
    }).pipe(SimulatedTime.run))

  it.scoped("grants a slot to the next waiter when a waiter is interrupted", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
      yield* withSlot(longMaxWait, Effect.void)
      const leaving = yield* Effect.fork(withSlot(longMaxWait, Effect.void))
      const staying = yield* Effect.fork(withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(leaving)
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(staying)).toBe(60_001)
    }))

  it.scoped.prop(
    "is not lost or gained when waiters go away at any moment",
    [fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 25 }), fc.constantFrom(...ways)],
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
        const holders = yield* Effect.forkAll(Array.from(
          { length: 3 },
          () => send(limit, Effect.zipRight(Effect.sync(() => entered++), Deferred.await(inside)))
        ))
        yield* Effect.sleep("1 second")
        expect(entered).toBe(2)
        yield* Fiber.interrupt(holders)
      }).pipe(Effect.scoped, SimulatedTime.run),
    { fastCheck: { numRuns: 30 } }
  )

  it.scoped("fails a waiter as soon as no slot can become free in time, with the time of a useful retry", () =>
    Effect.gen(function*() {
      const { withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
      yield* Effect.fork(withSlot(longMaxWait, Effect.never))
      yield* TestClock.adjust("1 second")
      const waiting = yield* Effect.fork(Effect.flip(withSlot(Duration.seconds(20), Effect.void)))
      yield* TestClock.adjust("9 seconds")
      expect(waiting.unsafePoll()).toBeNull()
      // The slot in flight would serve nobody before 22 s now, were its request answered at once.
      yield* TestClock.adjust("2 seconds")
      expect(waiting.unsafePoll()).not.toBeNull()
      const failure = yield* Fiber.join(waiting)
      expect(failure._tag === "RateLimitWaitExceeded" && DateTime.toEpochMillis(failure.retryAt)).toBeGreaterThan(21_000)
      expect(failure._tag === "RateLimitWaitExceeded" && DateTime.toEpochMillis(failure.retryAt)).toBeLessThanOrEqual(22_001)
    }))

  it.scoped.prop(
    "fails at once who can't be served in time, with a moment before which nobody in its place is served",
    [fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 30 }), fc.constantFrom(0, 0, 150)],
    ([limit, ahead, latency]) =>
      Effect.gen(function*() {
        const { withSlot } = yield* makeFrom(layerOf({ limit, window: "6 seconds" }))
        const request = Effect.sleep(Duration.millis(latency))
        yield* Effect.forkAll(Array.from({ length: limit }, () => withSlot(longMaxWait, request)))
        yield* Effect.sleep("1 second")
        yield* Effect.forkAll(Array.from({ length: ahead }, () => withSlot(longMaxWait, request)))
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
      }).pipe(Effect.scoped, SimulatedTime.run),
    { fastCheck: { numRuns: 20 } }
  )

  it.scoped("fails a request at once if too many others wait before it", () =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 2, window: "1 minute" }))
      yield* takeAll(limit, 2)
      yield* Effect.fork(takeAll(limit, 2))
      yield* TestClock.adjust("1 second")
      const result = yield* Effect.either(limit.withSlot(Duration.seconds(30), Effect.void))
      expect(Either.isLeft(result)).toBe(true)
    }))
}

const reservedRules = (layerOf: LayerOf): void => {
  it.scoped("reserves a slot before the caller chooses the request", () =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
      yield* limit.withSlot(longMaxWait, Effect.void)
      let urgent = "rising"
      const sent = yield* Effect.fork(Effect.scoped(Effect.gen(function*() {
        const slot = yield* limit.reserve(longMaxWait)
        return yield* slot.use(Effect.sync(() => urgent))
      })))
      yield* TestClock.adjust("30 seconds")
      urgent = "sold out"
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(sent)).toBe("sold out")
    }))

  it.scoped("counts a used reserved slot once, and an unused one not at all", () =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
      yield* Effect.scoped(limit.reserve(longMaxWait))
      yield* Effect.exit(
        Effect.scoped(Effect.flatMap(limit.reserve(longMaxWait), ({ use }) => Effect.zipRight(use(Effect.void), use(Effect.void))))
      )
      const next = yield* Effect.fork(limit.withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(next)).toBe(60_001)
    }))
}

const escapedRules = (layerOf: LayerOf): void => {
  it.scoped("dies on a request in a reserved slot that was released", () =>
    Effect.gen(function*() {
      const limit = yield* makeFrom(layerOf({ limit: 1, window: "1 minute" }))
      const { use } = yield* Effect.scoped(limit.reserve(longMaxWait))
      const late = yield* Effect.exit(use(Effect.void))
      expect(Exit.isFailure(late) && Cause.isDie(late.cause)).toBe(true)
      yield* limit.withSlot(longMaxWait, Effect.void)
      const next = yield* Effect.fork(limit.withSlot(longMaxWait, Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(next)).toBe(60_001)
    }))
}

const closingRules = (layerOf: LayerOf): void => {
  it.scoped("pauses every waiting request after a 429 of another caller, until its Retry-After has passed", () =>
    Effect.gen(function*() {
      const { pauseFor: closeFor, withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
      yield* withSlot(longMaxWait, Effect.void)
      const waiting = yield* Effect.fork(Effect.all(
        [withSlot(longMaxWait, Clock.currentTimeMillis), withSlot(longMaxWait, Clock.currentTimeMillis)],
        { concurrency: "unbounded" }
      ))
      yield* TestClock.adjust("5 seconds")
      yield* closeFor(Duration.seconds(30))
      yield* closeFor(Duration.seconds(1))
      yield* TestClock.adjust("2 minutes")
      expect(yield* Fiber.join(waiting)).toEqual([35_000, 45_001])
    }))

  it.scoped("fails waiters at once that can't wait for the end of a pause, with the time of a useful retry", () =>
    Effect.gen(function*() {
      const { pauseFor: closeFor, withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
      yield* withSlot(longMaxWait, Effect.void)
      const waiting = yield* Effect.fork(Effect.either(withSlot(Duration.seconds(20), Effect.void)))
      yield* TestClock.adjust("1 second")
      yield* closeFor(Duration.hours(2))
      const late = yield* Effect.either(withSlot(Duration.minutes(5), Effect.void))
      for (const result of [yield* Fiber.join(waiting), late]) {
        expect(Either.getLeft(result)).toMatchObject({ value: { _tag: "RateLimitWaitExceeded" } })
        expect(Either.isLeft(result) && "retryAt" in result.left && DateTime.toEpochMillis(result.left.retryAt)).toBe(7_201_000)
      }
      expect(yield* Clock.currentTimeMillis).toBe(1_000)
    }))
}

const operationRules = (layerOf: LayerOf): void => {
  it.scoped("pauses only the operation with an exhausted quota, including its waiters", () =>
    Effect.gen(function*() {
      const { pauseFor: closeFor, status, withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
      yield* withSlot(longMaxWait, Effect.void)
      const call = (operation: string, maxWait: Duration.DurationInput) =>
        Effect.fork(Effect.either(withSlot(Duration.decode(maxWait), Clock.currentTimeMillis, { operation })))
      const short = yield* call("comment", "1 minute")
      const long = yield* call("comment", "3 hours")
      const other = yield* call("like", "1 minute")
      yield* TestClock.adjust("1 second")
      yield* closeFor(Duration.hours(2), "comment")
      const late = yield* call("comment", "1 minute")
      yield* TestClock.adjust("1 second")

      for (const waiting of [short, late]) {
        const result = yield* Fiber.join(waiting)
        expect(Either.getLeft(result)).toMatchObject({
          value: {
            _tag: "RateLimitWaitExceeded",
            message: "comment is paused, most likely because a quota is exhausted; retry after 1970-01-01T02:00:01.000Z"
          }
        })
      }
      expect(yield* status).toMatchObject({
        pausedUntil: undefined,
        pausedOperations: [{ operation: "comment", until: DateTime.unsafeMake(7_201_000) }]
      })
      yield* TestClock.adjust("10 seconds")
      expect(Either.getOrThrow(yield* Fiber.join(other))).toBeLessThanOrEqual(10_300)
      expect(long.unsafePoll()).toBeNull()
      yield* TestClock.adjust("2 hours")
      expect(Either.getOrThrow(yield* Fiber.join(long))).toBeGreaterThanOrEqual(7_201_000)
      expect((yield* status).pausedOperations).toEqual([])
    }))

  it.scoped("treats a Retry-After beyond a window as a quota of the operation, and a shorter one as the rate limit of the key", () =>
    Effect.gen(function*() {
      const { status, withSlot } = yield* makeFrom(layerOf({ limit: 5, window: "10 seconds" }))
      const refused = (operation: string, seconds: number) =>
        Effect.ignore(withSlot(longMaxWait, Effect.fail("refused"), {
          operation,
          pauseRequest: () => ({ retryAfter: Duration.seconds(seconds), counted: false })
        }))
      yield* refused("comment", 36_000)
      expect(yield* withSlot(longMaxWait, Clock.currentTimeMillis, { operation: "like" })).toBe(0)
      expect((yield* status).pausedOperations).toMatchObject([{ operation: "comment", until: DateTime.unsafeMake(36_000_000) }])
      yield* refused("like", 10)
      expect(yield* status).toMatchObject({ free: 0, pausedUntil: DateTime.unsafeMake(10_000) })
    }))

  it.scoped("reports each pause once, and a long wait once for all waiters", () =>
    Effect.gen(function*() {
      const events: Array<string> = []
      const logger = Logger.make(({ annotations, logLevel, message }) => {
        events.push(`${logLevel.label} ${String(message)} ${
          JSON.stringify(Object.fromEntries([...annotations].toSorted(([a], [b]) => a.localeCompare(b))))
        }`)
      })
      yield* Effect.gen(function*() {
        const { pauseFor: closeFor, withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "30 seconds" }))
        yield* withSlot(longMaxWait, Effect.void)
        yield* TestClock.adjust("1 second")
        yield* closeFor(Duration.seconds(20))
        yield* closeFor(Duration.seconds(25))
        yield* closeFor(Duration.hours(10), "comment")
        yield* closeFor(Duration.hours(10), "comment")
        yield* Effect.forkAll(Array.from({ length: 20 }, () =>
          withSlot(longMaxWait, Effect.void)))
        yield* TestClock.adjust("10 seconds")
      }).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      expect(events.slice(0, 2)).toEqual([
        "INFO rate_limit.key_paused {\"seconds\":20}",
        "WARN rate_limit.operation_paused {\"operation\":\"comment\",\"seconds\":36000}"
      ])
      expect(events.slice(2)).toHaveLength(1)
      expect(events[2]).toMatch(/^INFO rate_limit.waiting/)
    }))
}

const endRules = (layerOf: LayerOf): void => {
  it.scoped("leaves no waiter behind when its layer is released", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const limit = yield* Scope.extend(makeFrom(layerOf({ limit: 1, window: "1 minute" })), scope)
      const inFlight = yield* Effect.fork(limit.withSlot(longMaxWait, Effect.sleep("30 seconds")))
      yield* TestClock.adjust("1 second")
      yield* limit.pauseFor(Duration.minutes(10), "comment")
      const waiting = yield* Effect.fork(Effect.flip(limit.withSlot(longMaxWait, Effect.void)))
      const paused = yield* Effect.fork(Effect.flip(limit.withSlot(longMaxWait, Effect.void, { operation: "comment" })))
      yield* TestClock.adjust("1 second")
      const release = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(release)
      expect((yield* Fiber.join(waiting))._tag).toBe("ClientClosed")
      expect((yield* Fiber.join(paused))._tag).toBe("ClientClosed")
      expect((yield* Effect.flip(limit.withSlot(longMaxWait, Effect.void)))._tag).toBe("ClientClosed")
      expect((yield* Effect.flip(Effect.scoped(limit.reserve(longMaxWait))))._tag).toBe("ClientClosed")
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(inFlight)
    }))

  it.scoped("doesn't keep a slot for an hour if the wall clock is set back by an hour", () =>
    Effect.flatMap(Virtual.wallClock, ({ clock, setBy }) =>
      Effect.gen(function*() {
        const { withSlot } = yield* makeFrom(layerOf({ limit: 1, window: "10 seconds" }))
        yield* withSlot(longMaxWait, Effect.void)
        yield* TestClock.adjust("1 second")
        setBy(-3_600_000)
        const next = yield* Effect.fork(withSlot(longMaxWait, Effect.void))
        yield* TestClock.adjust("8 seconds")
        expect(next.unsafePoll()).toBeNull()
        yield* TestClock.adjust("12 seconds")
        expect(next.unsafePoll()).not.toBeNull()
      }).pipe(Effect.withClock(clock))))
}

/** Every rule in virtual time, with `numRuns` runs of random requests. */
export const inVirtualTime = (layerOf: LayerOf, numRuns: number): void => {
  windowRules(layerOf, numRuns)
  waitingRules(layerOf)
  reservedRules(layerOf)
  escapedRules(layerOf)
  closingRules(layerOf)
  operationRules(layerOf)
  endRules(layerOf)
  inAnyTime({ test: it.scoped, run: Virtual.run }, layerOf)
}
