/** What the engine does when the service refuses everything, fails, or has a quota that is used up. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { DateTime, Duration, Effect } from "effect"
import { held } from "./support/sandbox.ts"
import {
  anyStock,
  fault,
  faultsEnd,
  forEver,
  patches,
  products,
  requestsOf,
  type Settings,
  simulated,
  source,
  started,
  stockOf
} from "./support/simulation.ts"

const wanted = products(30, () => 5)
const next = products(30, () => 6)
const ids = Object.keys(wanted)

const requests = Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests)

/** Everything is settled, and the test changes what it likes. */
const settled = <A, E, R>(
  test: (engine: Effect.Success<ReturnType<typeof settling>>) => Effect.Effect<A, E, R>,
  settings?: Settings
) => simulated(wanted, ({ ledger }) => Effect.flatMap(settling(ledger, settings), test))

const settling = (ledger: Parameters<typeof started>[1], settings?: Settings) =>
  Effect.gen(function*() {
    const feed = yield* source(wanted)
    const { state } = yield* started(feed.service, ledger, settings)
    yield* Effect.sleep("10 seconds")
    expect(yield* held(...ids)).toEqual(wanted)
    return { feed, ledger, account: Effect.map(state, ({ account }) => account) }
  })

describe("a service that refuses everything", () => {
  for (
    const [status, code, tag, everywhere] of [
      [401, "INVALID_API_KEY", "InvalidApiKey", true],
      [403, "DEVELOPER_ACCESS_REVOKED", "DeveloperAccessRevoked", true],
      [403, "PROFILE_INCOMPLETE", "ProfileIncomplete", false],
      [403, "INSUFFICIENT_SCOPE", "InsufficientScope", false],
      [403, "STORE_BLOCKED", "StoreBlocked", false],
      [403, "SOMETHING_NEW", "UnrecognizedError", false],
      [409, "CONFLICT", "UnrecognizedError", false]
    ] as const
  ) {
    it.effect(`with ${code} is probed at growing intervals, and receives everything within 6 minutes after it accepts requests again`, () =>
      settled(({ account, feed }) =>
        Effect.gen(function*() {
          const before = (yield* patches).length
          yield* fault({ kind: "status", when: "before", status, code, path: everywhere ? "/**" : anyStock, times: forEver })
          yield* feed.set(next)
          yield* Effect.sleep("1 hour")
          expect(yield* account).toMatchObject({ _tag: "Paused", failure: { tag, code } })
          // What was in flight at the beginning, ten trials at once, and trials up to five minutes apart.
          expect((yield* patches).length - before).toBeLessThan(8 + 10 + 25)
          expect((yield* requestsOf("/me")).length).toBeLessThan(40)
          yield* faultsEnd
          yield* Effect.sleep("6 minutes")
          expect(yield* account).toMatchObject({ _tag: "Running" })
          expect(yield* held(...ids)).toEqual(next)
        })
      ))

    for (const count of [1, 2]) {
      it.effect(`with ${code} is probed a few times an hour for a catalogue of ${count}, which also recovers within 6 minutes`, () => {
        const few = products(count, () => 5)
        const more = products(count, () => 6)
        return simulated(few, ({ ledger }) =>
          Effect.gen(function*() {
            const feed = yield* source(few)
            yield* started(feed.service, ledger)
            yield* Effect.sleep("1 minute")
            expect(yield* held(...Object.keys(few))).toEqual(few)
            const before = (yield* requests).length
            yield* fault({ kind: "status", when: "before", status, code, path: everywhere ? "/**" : anyStock, times: forEver })
            yield* feed.set(more)
            yield* Effect.sleep("3 hours")
            // A request for the product and one for GET /me every five minutes, and more at the beginning.
            expect((yield* requests).length - before).toBeLessThan(count * 3 * 30)
            yield* faultsEnd
            yield* Effect.sleep("6 minutes")
            expect(yield* held(...Object.keys(more))).toEqual(more)
          }))
      })
    }
  }

  it.effect("a key that is refused at the start is probed again, and sending starts once it is accepted", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 401, path: "/me", times: 3 })
        const { state } = yield* started((yield* source(wanted)).service, ledger)
        yield* Effect.sleep("1 minute")
        expect((yield* state).account).toMatchObject({ _tag: "Paused", failure: { tag: "InvalidApiKey" } })
        yield* Effect.sleep("4 minutes")
        expect((yield* state).account).toMatchObject({ _tag: "Running" })
        expect(yield* held(...ids)).toEqual(wanted)
      })))
})

describe("a service that fails", () => {
  for (
    const [name, asked] of [
      ["answers 503", { kind: "status", when: "before", status: 503 }],
      ["loses every connection before the request", { kind: "drop", when: "before" }],
      ["carries out everything and responds with nothing", { kind: "drop", when: "after" }]
    ] as const
  ) {
    it.effect(`and ${name} receives about one request a minute for an hour, and everything soon after it recovers`, () =>
      settled(({ account, feed }) =>
        Effect.gen(function*() {
          const before = (yield* patches).length
          yield* fault({ ...asked, path: anyStock, times: forEver })
          yield* feed.set(next)
          yield* Effect.sleep("1 hour")
          expect(yield* account).toMatchObject({ _tag: "Trouble" })
          const tried = (yield* patches).length - before
          expect(tried).toBeGreaterThan(50)
          expect(tried).toBeLessThan(100)
          yield* faultsEnd
          yield* Effect.sleep("70 seconds")
          expect(yield* account).toMatchObject({ _tag: "Running" })
          expect(yield* held(...ids)).toEqual(next)
        })
      ))
  }

  it.effect("receives a sold-out product with the first request that it accepts again", () =>
    settled(({ feed }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 503, path: anyStock, times: forEver })
        yield* feed.set(next)
        yield* Effect.sleep("20 minutes")
        yield* feed.set({ ...next, P0029: 0 })
        yield* faultsEnd
        const before = (yield* patches).length
        yield* Effect.sleep("70 seconds")
        expect((yield* patches)[before]?.id).toBe("P0029")
      })
    ))

  it.effect("receives a value of unknown outcome once more", () =>
    settled(({ feed, ledger }) =>
      Effect.gen(function*() {
        const before = (yield* patches).length
        yield* fault({ kind: "drop", when: "after", path: stockOf("P0003"), times: 1 })
        yield* feed.set({ ...wanted, P0003: 8 })
        yield* Effect.sleep("5 minutes")
        expect((yield* patches).slice(before).map(({ id }) => id)).toEqual(["P0003", "P0003"])
        expect(yield* ledger.counts).toMatchObject({ settled: 30, doubtful: 0 })
      })
    ))
})

describe("a quota", () => {
  it.effect("that is used up stops every request until it resets, and then everything is sent", () =>
    settled(({ account, feed }) =>
      Effect.gen(function*() {
        const before = (yield* requests).length
        yield* fault({ kind: "status", when: "before", status: 429, retryAfter: String(7 * 3_600), path: anyStock, times: 7 })
        yield* feed.set(next)
        yield* Effect.sleep("5 seconds")
        const state = yield* account
        expect(state).toMatchObject({ _tag: "Quota", failure: { code: "RATE_LIMITED" } })
        expect(state._tag === "Quota" && Duration.toHours(DateTime.distance(state.since, state.until))).toBeGreaterThanOrEqual(7)
        yield* Effect.sleep("6 hours")
        expect((yield* requests).length - before).toBeLessThanOrEqual(8)
        yield* Effect.sleep("62 minutes")
        expect(yield* account).toMatchObject({ _tag: "Running" })
        expect(yield* held(...ids)).toEqual(next)
      })
    ))

  it.effect("that a 503 announces is respected as that of a 429: no stock is sent before its end", () =>
    settled(({ feed }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 503, retryAfter: "3600", path: anyStock, times: 1 })
        const before = (yield* patches).length
        yield* feed.set(next)
        yield* Effect.sleep("59 minutes")
        // Those that were in flight with it, and it.
        expect((yield* patches).length - before).toBeLessThanOrEqual(7)
        yield* Effect.sleep("3 minutes")
        expect(yield* held(...ids)).toEqual(next)
      })
    ))

  it.effect("without Retry-After pauses sending for a minute", () =>
    settled(({ account, feed }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 429, path: anyStock, times: 1 })
        yield* feed.set(next)
        yield* Effect.sleep("50 seconds")
        const state = yield* account
        expect(state._tag === "Quota" ? Duration.toSeconds(DateTime.distance(state.since, state.until)) : undefined).toBe(60)
        yield* Effect.sleep("20 seconds")
        expect(yield* account).toMatchObject({ _tag: "Running" })
        // After a 429 the client spaces requests evenly.
        yield* Effect.sleep("10 seconds")
        expect(yield* held(...ids)).toEqual(next)
      })
    ))

  it.effect("of the day ends at midnight of the service", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        const { state } = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        yield* feed.set(next)
        yield* Effect.sleep("1 minute")
        const { account } = yield* state
        const midnight = 24 * 3_600_000
        expect(account._tag === "Quota" ? DateTime.toEpochMillis(account.until) - midnight : undefined).toSatisfy((late: number) =>
          late >= 0 && late < 2_000
        )
        yield* Effect.sleep("24 hours")
        expect((yield* state).account).toMatchObject({ _tag: "Running" })
        expect(yield* held(...ids)).toEqual(next)
        expect((yield* patches).filter(({ status }) => status === 429).length).toBeLessThanOrEqual(8)
      }), { dailyQuota: 40 }))
})
