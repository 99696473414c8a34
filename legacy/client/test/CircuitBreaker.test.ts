import { describe, expect, it } from "@effect/vitest"
import { CircuitBreaker, type ClientError, FailureScope } from "@plaza-legacy/client"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { Clock, DateTime, Duration, Effect, Exit, FastCheck as fc, Fiber, Option, Random, TestClock } from "effect"
import { codes, limited, local, refusal, unknown, unrecognized, waitExceeded } from "./support/Failing.ts"
import * as Virtual from "./support/Virtual.ts"

type Breaker = CircuitBreaker.CircuitBreaker<string>
type Outcome = ClientError.Failure | undefined

const accepted: Effect.Effect<unknown, ClientError.Failure> = Effect.void
const blocked = refusal("STORE_BLOCKED")
const revoked = refusal("INVALID_API_KEY")
const fault = unrecognized(503)
const at = (millis: number) => DateTime.unsafeMake(millis)

/** A breaker that records its probes and states. */
const make = (probe: Effect.Effect<unknown, ClientError.Failure> = accepted) =>
  Effect.gen(function*() {
    const states: Array<CircuitBreaker.State> = []
    let probes = 0
    const breaker: Breaker = yield* CircuitBreaker.make<string>({
      probe: Effect.zipRight(Effect.sync(() => probes++), probe),
      onState: (state) => Effect.sync(() => states.push(state))
    })
    return { ...breaker, states, probes: () => probes, breaker }
  })

/** The permit of an item that was in flight before the breaker opened. */
const closed: CircuitBreaker.Permit<string> = { halfOpen: false, tried: new Set() }

const recordAll = ({ record }: Pick<Breaker, "record">, outcomes: Iterable<readonly [item: string, outcome: Outcome]>) =>
  Effect.forEach(outcomes, ([item, outcome]) => record(closed, item, outcome), { discard: true })

const each = (items: ReadonlyArray<string>, outcome: Outcome) => items.map((item) => [item, outcome] as const)

const five = ["a", "b", "c", "d", "e"]
const three = five.slice(0, 3)
const reasonOf = ({ state }: Pick<Breaker, "state">) => Effect.map(state, (state) => state._tag === "Open" ? state.reason : "Closed")

const acquiredAt = ({ acquire }: Pick<Breaker, "acquire">) => Effect.zipRight(acquire, Clock.currentTimeMillis)

const everyFailure: ReadonlyArray<ClientError.Failure> = [
  ...codes.map(refusal),
  ...[301, 400, 401, 403, 404, 408, 409, 413, 418, 429, 500, 503].flatMap((
    status
  ) => [unrecognized(status), unrecognized(status, "BRAND_NEW")]),
  ...Object.values(local)
]
const withUnknown = [...everyFailure, ...everyFailure.map((failure) => unknown(failure))]
const isRateLimit = (failure: ClientError.Failure) => FailureScope.of(failure)._tag === "RateLimit"

const anyFailure = fc.constantFrom(...withUnknown)
const anyButRateLimit = fc.constantFrom(...withUnknown.filter((failure) => !isRateLimit(failure)))
const notAccountRefusal = fc.constantFrom(undefined, ...withUnknown.filter((failure) => !FailureScope.isAccountRefusal(failure)))

describe("a closed breaker", () => {
  it.effect.prop(
    "is never opened by failures of one item, unless the probe shows that the service refuses the account",
    [fc.array(fc.oneof(anyButRateLimit, fc.constant(undefined)), { maxLength: 60 }), notAccountRefusal],
    ([outcomes, probe]) =>
      Effect.gen(function*() {
        const breaker = yield* make(probe === undefined ? accepted : Effect.fail(probe))
        for (const outcome of outcomes) {
          yield* breaker.record(yield* breaker.acquire, outcome === undefined ? "good" : "bad", outcome)
          yield* TestClock.adjust("10 seconds")
          expect(yield* reasonOf(breaker)).toBe("Closed")
        }
        expect(breaker.states).toEqual([])
      })
  )

  it.effect.prop(
    "opens when five distinct items in a row fail with service faults, and not earlier",
    [fc.array(
      fc.tuple(fc.integer({ min: 0, max: 7 }),
        fc.constantFrom<Outcome>(fault, fault, fault, fault, local.AttemptTimeout, refusal("NOT_FOUND"), undefined))
    )],
    ([outcomes]) =>
      Effect.gen(function*() {
        const breaker = yield* make()
        const row = new Set<number>()
        for (const [item, outcome] of outcomes) {
          yield* breaker.record(closed, String(item), outcome)
          if (outcome === undefined || FailureScope.of(outcome)._tag !== "Service") row.clear()
          else row.add(item)
          expect(yield* reasonOf(breaker)).toBe(row.size === 5 ? "ServiceFault" : "Closed")
          if (row.size === 5) return
        }
      })
  )

  it.effect.prop(
    "opens when three distinct items are refused with one code and none is accepted, and not earlier",
    [fc.array(
      fc.tuple(fc.integer({ min: 0, max: 4 }),
        fc.constantFrom<Outcome>(blocked, unrecognized(403, "NEW"), fault, refusal("NOT_FOUND"), undefined))
    )],
    ([outcomes]) =>
      Effect.gen(function*() {
        const breaker = yield* make()
        const refused = new Map<string, Set<number>>()
        const faults = new Set<number>()
        for (const [item, outcome] of outcomes) {
          yield* breaker.record(closed, String(item), outcome)
          const scope = outcome === undefined ? undefined : FailureScope.of(outcome)
          if (scope === undefined) refused.clear()
          if (scope?._tag !== "Service") faults.clear()
          else faults.add(item)
          if (scope?._tag === "Refusal") refused.set(scope.code, (refused.get(scope.code) ?? new Set()).add(item))
          const opened = faults.size === 5 ? "ServiceFault" : [...refused.values()].some(({ size }) => size === 3) ? "Refused" : "Closed"
          expect(yield* reasonOf(breaker)).toBe(opened)
          if (opened !== "Closed") return
        }
      })
  )

  it.effect("opens at once if one refusal may concern the account and the probe confirms it", () =>
    Effect.gen(function*() {
      const breaker = yield* make(Effect.fail(refusal("DEVELOPER_ACCESS_REVOKED")))
      expect(yield* breaker.record(closed, "a", revoked)).toBe(false)
      expect(yield* breaker.state).toMatchObject({
        _tag: "Open",
        reason: "Refused",
        failure: { code: "DEVELOPER_ACCESS_REVOKED" },
        halfOpenFailures: 0
      })
      expect(breaker.probes()).toBe(1)
    }))

  it.effect("sends the probe at most once in 15 seconds, for any number of refusals that may concern the account", () =>
    Effect.gen(function*() {
      const breaker = yield* make()
      for (let second = 0; second < 60; second++) {
        yield* recordAll(breaker, [["a", revoked], ["b", undefined], ["a", unknown(revoked)]])
        yield* TestClock.adjust("1 second")
      }
      expect(breaker.probes()).toBe(4)
      expect(breaker.states).toEqual([])
    }))

  it.effect("sends no probe after a refusal that can't concern the account", () =>
    Effect.gen(function*() {
      const breaker = yield* make(Effect.fail(revoked))
      yield* recordAll(breaker, [["a", blocked], ["b", refusal("INSUFFICIENT_SCOPE")], ["c", unrecognized(403, "NEW")], [
        "d",
        refusal("FORBIDDEN")
      ]])
      expect(breaker.probes()).toBe(0)
      expect(yield* reasonOf(breaker)).toBe("Closed")
    }))

  it.effect("opens for the wait of a rate limit, closes by itself, and sends no probe", () =>
    Effect.gen(function*() {
      const breaker = yield* make()
      yield* breaker.record(closed, "a", limited(90))
      expect(yield* breaker.state).toMatchObject({
        _tag: "Open",
        reason: "RateLimited",
        since: at(0),
        retryAt: at(90_000),
        halfOpenFailures: 0
      })
      const next = yield* Effect.fork(breaker.acquire)
      yield* TestClock.adjust("89 seconds")
      expect(next.unsafePoll()).toBeNull()
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(next)).toMatchObject({ halfOpen: false })
      expect(yield* breaker.state).toEqual({ _tag: "Closed", since: at(90_000) })
      expect(breaker.probes()).toBe(0)
    }))
})

describe("a rate limit", () => {
  const seconds = fc.integer({ min: 1, max: 100 })
  const step = fc.tuple(
    fc.constantFrom("record", "recordProbe", "release"),
    fc.oneof(fc.constant(undefined), anyFailure, seconds.map(limited), seconds.map((time) => unknown(waitExceeded(time * 1_000)))),
    fc.constantFrom(...five),
    fc.boolean(),
    fc.integer({ min: 0, max: 5 })
  )

  it.effect.prop(
    "is never shortened by outcomes of items in flight, of half-open permits or of probes",
    [seconds, fc.array(step, { maxLength: 30 })],
    ([asked, steps]) =>
      Effect.gen(function*() {
        const breaker = yield* make(Effect.fail(revoked))
        // The worst case: it was open for another reason before.
        yield* recordAll(breaker, each(three, blocked))
        yield* breaker.record(closed, "z", limited(asked))
        let until = asked * 1_000
        for (const [kind, failure, item, halfOpen, wait] of steps) {
          const now = yield* Clock.currentTimeMillis
          if (now >= until) break
          if (failure !== undefined && isRateLimit(failure) && kind !== "release") {
            until = Math.max(until, now + Duration.toMillis(yield* FailureScope.waitOf(failure)))
          }
          const permit = { ...closed, halfOpen }
          if (kind === "release") yield* breaker.release(permit)
          else if (kind === "recordProbe" && failure !== undefined) yield* breaker.recordProbe(failure)
          else yield* breaker.record(permit, item, failure)
          const state = yield* breaker.state
          expect(state._tag === "Open" ? DateTime.toEpochMillis(state.retryAt) : 0).toBeGreaterThanOrEqual(until)
          yield* TestClock.adjust(Duration.seconds(wait))
        }
        const rest = Math.max(0, until - (yield* Clock.currentTimeMillis))
        const next = yield* Effect.fork(breaker.acquire)
        if (rest > 0) {
          yield* TestClock.adjust(Duration.millis(rest - 1))
          expect(next.unsafePoll()).toBeNull()
        }
        yield* Fiber.interrupt(next)
      })
  )

  for (const [reason, outcomes] of [["Refused", each(three, blocked)], ["ServiceFault", each(five, fault)]] as const) {
    it.effect(`that is met while the breaker is open (${reason}) delays the next half-open permit and keeps the reason`, () =>
      Effect.gen(function*() {
        const breaker = yield* make()
        yield* recordAll(breaker, outcomes)
        const before = yield* breaker.state
        yield* breaker.record(closed, "late", limited(6))
        expect(yield* breaker.state).toMatchObject({ ...before, retryAt: at(6_000) })
        const next = yield* Effect.fork(Effect.zip(breaker.acquire, Clock.currentTimeMillis))
        yield* TestClock.adjust("1 minute")
        const [permit, permittedAt] = yield* Fiber.join(next)
        expect(permittedAt).toBe(6_000)
        expect(permit.halfOpen).toBe(true)
        expect([...permit.tried]).toEqual(outcomes.map(([item]) => item))
        expect(yield* reasonOf(breaker)).toBe(reason)

        // A half-open permit that ends with a rate limit changes as little.
        yield* breaker.record(permit, "half-open", limited(90))
        const last = yield* Effect.fork(breaker.acquire)
        yield* TestClock.adjust("90 seconds")
        expect(yield* Fiber.join(last)).toMatchObject({ halfOpen: true })
        expect(yield* reasonOf(breaker)).toBe(reason)
      }))
  }

  it.effect("during another rate limit extends the wait, also for a fiber that waits already", () =>
    Effect.gen(function*() {
      const breaker = yield* make()
      yield* breaker.record(closed, "a", limited(10))
      const next = yield* Effect.fork(acquiredAt(breaker))
      yield* TestClock.adjust("5 seconds")
      yield* breaker.record(closed, "b", limited(60))
      yield* TestClock.adjust("10 minutes")
      expect(yield* Fiber.join(next)).toBe(65_000)
    }))

  it.effect("that is longer than a timer ends after a day, the longest wait", () =>
    Effect.gen(function*() {
      const breaker = yield* make()
      yield* breaker.record(closed, "a", limited(Duration.toSeconds(Duration.days(30))))
      const next = yield* Effect.fork(Virtual.withTimers(acquiredAt(breaker)))
      yield* TestClock.adjust("60 days")
      expect(yield* Fiber.poll(next)).toEqual(Option.some(Exit.succeed(Duration.toMillis(Duration.days(1)))))
    }))

  it.effect("with a wait of zero causes a short wait", () =>
    Effect.gen(function*() {
      const breaker = yield* make()
      yield* breaker.record(closed, "a", limited(0))
      const next = yield* Effect.fork(acquiredAt(breaker))
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(next)).toBe(500)
    }))
})

describe("an open breaker", () => {
  const openings: ReadonlyArray<readonly [reason: CircuitBreaker.Reason, outcomes: ReturnType<typeof each>]> = [
    ["ServiceFault", each(five, fault)],
    ["Refused", each(three, blocked)]
  ]

  for (const [reason, outcomes] of openings) {
    it.live(`(${reason}) is closed by a trial that is accepted`, () =>
      Effect.gen(function*() {
        const breaker = yield* make()
        yield* recordAll(breaker, outcomes)
        expect(yield* reasonOf(breaker)).toBe(reason)
        const permit = yield* breaker.acquire
        expect(permit.halfOpen).toBe(true)
        expect([...permit.tried]).toEqual(outcomes.map(([item]) => item))
        expect(yield* breaker.record(permit, "f", undefined)).toBe(true)
        expect(yield* breaker.state).toMatchObject({ _tag: "Closed" })
        expect(breaker.states.map(({ _tag }) => _tag)).toEqual(["Open", "Closed"])
        // What counted before counts no more.
        yield* recordAll(breaker, outcomes.slice(1))
        expect(yield* reasonOf(breaker)).toBe("Closed")
      }).pipe(SimulatedTime.run))

    it.live(`(${reason}) tries another item each time, until every one was tried`, () =>
      Effect.gen(function*() {
        const breaker = yield* make()
        yield* recordAll(breaker, outcomes)
        const all = Array.from({ length: 12 }, (_, number) => String(number))
        const order: Array<string> = []
        for (let trial = 0; trial < 24; trial++) {
          let permit = yield* breaker.acquire
          let item = all.find((one) => !permit.tried.has(one))
          if (item === undefined) {
            yield* breaker.release(permit)
            permit = yield* breaker.acquire
            item = all.find((one) => !permit.tried.has(one)) ?? ""
          }
          order.push(item)
          yield* breaker.record(permit, item, reason === "Refused" ? blocked : fault)
        }
        expect(order).toEqual([...all, ...all])
        expect(yield* breaker.state).toMatchObject({ reason, since: at(0), halfOpenFailures: 24 })
      }).pipe(SimulatedTime.run))

    it.live(`(${reason}) takes a success of what was in flight for a hint, and not for a proof`, () =>
      Effect.gen(function*() {
        const breaker = yield* make()
        yield* recordAll(breaker, outcomes)
        for (let trial = 0; trial < 12; trial++)
          yield* breaker.record(yield* breaker.acquire, `trial ${trial}`, reason === "Refused" ? blocked : fault)
        const next = yield* Effect.fork(acquiredAt(breaker))
        const before = yield* Clock.currentTimeMillis
        expect(yield* breaker.record(closed, "j", undefined)).toBe(false)
        expect(yield* reasonOf(breaker)).toBe(reason)
        expect(yield* Fiber.join(next)).toBe(before)
      }).pipe(SimulatedTime.run))

    it.live(`(${reason}) learns nothing from an item that could not be sent, and tries the next one at once`, () =>
      Effect.gen(function*() {
        const breaker = yield* make()
        yield* recordAll(breaker, outcomes)
        const permit = yield* breaker.acquire
        const before = yield* Clock.currentTimeMillis
        expect(yield* breaker.record(permit, "f", local.InvalidInput)).toBe(false)
        const next = yield* breaker.acquire
        expect(next).toMatchObject({ halfOpen: true })
        expect(next.tried.has("f")).toBe(true)
        expect(yield* Clock.currentTimeMillis).toBe(before)
      }).pipe(SimulatedTime.run))

    it.live(`(${reason}) closes where no item is left at all`, () =>
      Effect.gen(function*() {
        const breaker = yield* make()
        yield* recordAll(breaker, outcomes)
        yield* breaker.release(yield* breaker.acquire)
        expect(yield* reasonOf(breaker)).toBe(reason)
        yield* breaker.release(yield* breaker.acquire)
        expect(yield* reasonOf(breaker)).toBe("Closed")
      }).pipe(SimulatedTime.run))
  }

  it.live("after three items refused with one code closes with the next half-open permit if other items are accepted", () =>
    Effect.gen(function*() {
      const breaker = yield* make()
      yield* recordAll(breaker, each(three, unrecognized(409, "LOCKED")))
      expect(yield* breaker.record(yield* breaker.acquire, "d", undefined)).toBe(true)
      expect(yield* Clock.currentTimeMillis).toBe(0)
      expect(breaker.probes()).toBe(1)
    }).pipe(SimulatedTime.run))

  it.live("after refusals stays open after an invalid item, and permits the next item at once", () =>
    Effect.gen(function*() {
      const breaker = yield* make()
      yield* recordAll(breaker, each(three, blocked))
      for (let item = 0; item < 100; item++) {
        expect(yield* breaker.record(yield* breaker.acquire, String(item), refusal("NOT_FOUND"))).toBe(false)
      }
      expect(yield* Clock.currentTimeMillis).toBe(0)
      expect(breaker.probes()).toBe(1)
      expect(yield* breaker.record(yield* breaker.acquire, "good", undefined)).toBe(true)
    }).pipe(SimulatedTime.run))

  it.live("after faults closes with any response to a half-open permit, and one refusal alone doesn't open it again", () =>
    Effect.gen(function*() {
      for (const response of [refusal("NOT_FOUND"), blocked, unrecognized(403, "NEW"), refusal("PROFILE_INCOMPLETE")]) {
        const breaker = yield* make()
        yield* recordAll(breaker, each(five, fault))
        expect(yield* breaker.record(yield* breaker.acquire, "f", response)).toBe(true)
        expect(yield* reasonOf(breaker)).toBe("Closed")
      }
      const breaker = yield* make(Effect.fail(revoked))
      yield* recordAll(breaker, each(five, fault))
      expect(yield* breaker.record(yield* breaker.acquire, "f", revoked)).toBe(false)
      expect(yield* reasonOf(breaker)).toBe("Refused")
    }).pipe(SimulatedTime.run))

  it.live("after a refusal of the account waits until the probe succeeds, and then permits an item", () =>
    Effect.gen(function*() {
      const answer = Effect.flatMap(Clock.currentTimeMillis, (now) => now < 3_600_000 ? Effect.fail(revoked) : Effect.void)
      const breaker = yield* make(answer)
      yield* breaker.record(closed, "a", revoked)
      const permit = yield* breaker.acquire
      const now = yield* Clock.currentTimeMillis
      expect(now).toBeGreaterThanOrEqual(3_600_000)
      expect(now).toBeLessThanOrEqual(3_600_000 + 300_000)
      expect(permit.halfOpen).toBe(true)
      expect(breaker.probes()).toBeLessThan(30)
      expect(yield* breaker.record(permit, "a", undefined)).toBe(true)
    }).pipe(SimulatedTime.run))

  it.live("after refusals stays open for that reason while the service is unreachable", () =>
    Effect.gen(function*() {
      const breaker = yield* make(Effect.fail(local.ConnectionFailed))
      yield* recordAll(breaker, each(three, blocked))
      yield* Effect.fork(breaker.acquire)
      yield* Effect.sleep("1 hour")
      expect(yield* breaker.state).toMatchObject({ reason: "Refused", failure: { code: "STORE_BLOCKED" }, since: at(0) })
    }).pipe(Effect.scoped, SimulatedTime.run))

  it.effect("reports whether a failed probe shows that the service accepts no item", () =>
    Effect.gen(function*() {
      const cases = [[revoked, "Refused"], [fault, "ServiceFault"], [limited(60), "RateLimited"], [
        refusal("INSUFFICIENT_SCOPE"),
        "Closed"
      ]] as const
      for (const [failure, reason] of cases) {
        const breaker = yield* make()
        expect(yield* breaker.recordProbe(failure)).toBe(reason !== "Closed")
        expect(yield* reasonOf(breaker)).toBe(reason)
      }
    }))

  it.live("backs off between half-open permits, up to a minute for faults and five minutes for refusals", () =>
    Effect.gen(function*() {
      for (const [reason, outcomes] of openings) {
        const breaker = yield* make()
        yield* recordAll(breaker, outcomes)
        const waits: Array<number> = []
        for (let trial = 0; trial < 20; trial++) {
          const before = yield* Clock.currentTimeMillis
          const permit = yield* breaker.acquire
          waits.push((yield* Clock.currentTimeMillis) - before)
          yield* breaker.record(permit, String(trial), reason === "Refused" ? blocked : fault)
        }
        const expected = reason === "Refused"
          ? [...Array.from({ length: 10 }, () => 0), 15_000, 30_000, 60_000, 120_000, 240_000, 300_000]
          : [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]
        for (const [trial, wait] of waits.entries()) {
          const longest = expected[Math.min(trial, expected.length - 1)] ?? 0
          expect(wait).toBeLessThanOrEqual(longest + 1)
          expect(wait).toBeGreaterThanOrEqual(longest * 0.75)
        }
      }
    }).pipe(SimulatedTime.run))
})

describe("an hour", () => {
  /** Sends items one after the other for an hour, as fast as the breaker lets them go. */
  const hour = (outcome: (item: string) => Outcome, probe: Effect.Effect<unknown, ClientError.Failure>, items: number) =>
    Effect.gen(function*() {
      const breaker = yield* make(probe)
      const all = Array.from({ length: items }, (_, number) => String(number))
      let sent = 0
      const send = Effect.gen(function*() {
        const permit = yield* breaker.acquire
        const untried = all.filter((one) => !permit.tried.has(one))
        const item = untried[Math.floor((yield* Random.next) * untried.length)]
        if (item === undefined) return yield* breaker.release(permit)
        sent++
        yield* Effect.sleep("100 millis")
        yield* breaker.record(permit, item, outcome(item))
      })
      yield* Effect.timeoutOption(Effect.forever(send), "1 hour")
      return { sent, probes: breaker.probes() }
    }).pipe(SimulatedTime.run)

  const probes = [
    ["is accepted", accepted],
    ["is refused", Effect.fail(revoked)],
    ["can't be sent", Effect.fail(local.ConnectionFailed)],
    ["is limited", Effect.fail(limited(43_200))],
    ["waits", Effect.fail(waitExceeded(0))],
    ["lacks a scope", Effect.fail(refusal("INSUFFICIENT_SCOPE"))]
  ] as const

  for (const [name, probe] of probes) {
    it.live(`of refusals while the probe ${name} takes few requests`, () =>
      Effect.gen(function*() {
        for (const failure of [blocked, revoked, refusal("PROFILE_INCOMPLETE"), unrecognized(403, "NEW"), unrecognized(302)]) {
          const { probes, sent } = yield* hour(() => failure, probe, 50)
          expect(sent).toBeLessThanOrEqual(40)
          expect(probes).toBeLessThanOrEqual(40)
        }
      }))
  }

  it.live("of faults causes few requests", () =>
    Effect.gen(function*() {
      for (const failure of [fault, local.ConnectionFailed, unknown(local.AttemptTimeout), local.UnreadableSuccess]) {
        const { probes, sent } = yield* hour(() => failure, accepted, 50)
        expect(sent).toBeLessThanOrEqual(110)
        expect(probes).toBe(0)
      }
    }))

  it.live("with a few items that always fail sends the others without a pause", () =>
    Effect.gen(function*() {
      for (const failure of [blocked, fault, unrecognized(403, "NEW"), refusal("PROFILE_INCOMPLETE")]) {
        const { probes, sent } = yield* hour((item) => Number(item) < 8 ? failure : undefined, accepted, 50)
        expect(sent).toBeGreaterThan(0.8 * 36_000)
        expect(probes).toBeLessThanOrEqual(3_600 / 15 + 1)
      }
    }).pipe(Effect.withRandom(Random.make("few items"))))
})
