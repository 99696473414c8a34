/**
 * Confirmed stock is sent again only where the source contains the store's own sales, and then with a share of the allowance.
 * A wall clock that is set neither stops the engine nor hurries it.
 */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Clock, Duration, Effect } from "effect"
import { held } from "./support/sandbox.ts"
import { anyStock, fault, faultsEnd, forEver, patches, products, simulated, source, started, stockOf } from "./support/simulation.ts"
import { settable } from "./support/wallClock.ts"

const wanted = products(60, () => 5)
// One reassertion every ten seconds.
const limit = 60
const reassert = { share: 0.1, after: Duration.minutes(5), rateLimit: limit }
const settings = { reassert, sourceIncludesSales: true }
const count = Effect.map(patches, (all) => all.length)

describe("a source that may not include sales", () => {
  it.effect("never has its confirmed stock sent again, so sales of the store stay", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, { reassert })
        yield* Effect.sleep("5 minutes")
        yield* setProduct({ id: "P0042", stock: 1 })
        yield* feed.set({ ...wanted, P0001: 7 })
        yield* Effect.sleep("12 hours")
        expect(yield* count).toBe(61)
        expect(yield* held("P0042")).toEqual({ P0042: 1 })
      }), { limit }))

  it.effect("is not sent by the half-open circuit breaker", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const changed = { P0000: 6, P0001: 6, P0002: 6, P0003: 6, P0004: 6 }
        const feed = yield* source(wanted)
        const { state } = yield* started(feed.service, ledger, { reassert })
        yield* Effect.sleep("2 minutes")
        const before = yield* count
        for (const status of [503, 403]) {
          yield* fault({ kind: "status", when: "before", status, path: anyStock, times: forEver })
          yield* feed.set({ ...wanted, ...changed, P0000: status })
          yield* Effect.sleep("2 hours")
          expect((yield* state).account._tag).toBe(status === 503 ? "Trouble" : "Paused")
          yield* faultsEnd
          yield* Effect.sleep("10 minutes")
          yield* feed.set(wanted)
          yield* Effect.sleep("10 minutes")
        }
        expect(Array.from(new Set((yield* patches).slice(before).map(({ id }) => id))).toSorted()).toEqual(Object.keys(changed))
        expect((yield* state).account).toMatchObject({ _tag: "Running" })
      }), { limit }))

  it.effect("is not sent after a product was quarantined or doubtful", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 404, path: stockOf("P0001"), times: 2 })
        yield* fault({ kind: "drop", when: "after", path: stockOf("P0002"), times: 2 })
        yield* started((yield* source(wanted)).service, ledger, { reassert })
        yield* Effect.sleep("12 hours")
        expect(yield* ledger.counts).toMatchObject({ settled: 60 })
        expect(yield* count).toBe(64)
      }), { limit }))
})

describe("with a source that includes sales, confirmed stock", () => {
  it.effect("is sent again once its confirmation is old, the oldest first, within its share", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* started((yield* source(wanted)).service, ledger, settings)
        yield* Effect.sleep("5 minutes")
        expect(yield* count).toBe(60)
        yield* Effect.sleep("8 minutes")
        const again = (yield* patches).slice(60)
        expect(again.length).toBeGreaterThanOrEqual(46)
        expect(again.length).toBeLessThanOrEqual(49)
        expect(again.slice(0, 20).map(({ id }) => id)).toEqual((yield* patches).slice(0, 20).map(({ id }) => id))
      }), { limit }))

  it.effect("overwrites changes of other programs in the store", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        yield* started((yield* source(wanted)).service, ledger, settings)
        yield* Effect.sleep("5 minutes")
        yield* setProduct({ id: "P0042", stock: 1 })
        yield* Effect.sleep("15 minutes")
        expect(yield* held("P0042")).toEqual({ P0042: 5 })
      }), { limit }))

  it.effect("delays no change", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, { ...settings, reassert: { ...reassert, share: 1 } })
        // The whole allowance goes into reassertion.
        yield* Effect.sleep("390 seconds")
        const before = yield* count
        expect(before).toBeGreaterThan(60)
        yield* feed.set(products(60, (index) => index < 30 ? 6 : 5))
        yield* Effect.sleep("2 minutes")
        const ids = (yield* patches).slice(before, before + 30).map(({ id }) => id)
        expect(ids.every((id) => id < "P0030")).toBe(true)
      }), { limit }))

  it.effect("is not sent again with a share of 0", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* started((yield* source(wanted)).service, ledger, { ...settings, reassert: { ...reassert, share: 0 } })
        yield* Effect.sleep("2 hours")
        expect(yield* count).toBe(60)
      }), { limit }))
})

describe("a wall clock that is set", () => {
  for (const [name, by] of [["a day forward", 86_400_000], ["a day back", -86_400_000], ["a year back", -31_536_000_000]] as const) {
    it.effect(`${name} neither stops nor adds changes and reassertions`, () =>
      simulated(wanted, ({ ledger }) =>
        Effect.gen(function*() {
          const clock = yield* settable
          yield* Effect.gen(function*() {
            const feed = yield* source(wanted)
            yield* started(feed.service, ledger, settings)
            yield* Effect.sleep("8 minutes")
            const before = yield* count
            clock.shift(by)
            yield* Effect.sleep("6 minutes")
            expect((yield* count) - before).toBeLessThanOrEqual(37)
            const later = yield* count
            yield* Effect.sleep("4 minutes")
            expect((yield* count) - later).toBeGreaterThanOrEqual(22)
            yield* feed.set({ ...wanted, P0007: 0 })
            yield* Effect.sleep("5 seconds")
            expect(yield* held("P0007")).toEqual({ P0007: 0 })
            expect((yield* patches).filter(({ status }) => status === 429)).toEqual([])
          }).pipe(Effect.provideService(Clock.Clock, clock))
        }), { limit }))

    it.effect(`${name} delays no retry of a quarantined or doubtful product`, () =>
      simulated(wanted, ({ ledger }) =>
        Effect.gen(function*() {
          const clock = yield* settable
          yield* Effect.gen(function*() {
            const { setLatitude } = yield* Sandbox.Sandbox
            yield* setLatitude({ lateCommitMillis: 20_000 })
            const feed = yield* source({ ...wanted, P0001: 0 })
            yield* fault({ kind: "status", when: "before", status: 404, path: stockOf("P0000"), times: 1 })
            yield* fault({ kind: "status", when: "before", status: 504, path: stockOf("P0001"), times: 1 })
            yield* started(feed.service, ledger)
            yield* Effect.sleep("100 millis")
            yield* feed.set(wanted)
            yield* Effect.sleep("5 seconds")
            clock.shift(by)
            yield* Effect.sleep("2 minutes")
            expect(yield* held(...Object.keys(wanted))).toEqual(wanted)
            expect(yield* ledger.counts).toMatchObject({ settled: 60 })
          }).pipe(Effect.provideService(Clock.Clock, clock))
        }), { limit: 120 }))
  }

  it.effect("neither extends a quota nor sends before its end", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const clock = yield* settable
        yield* Effect.gen(function*() {
          const feed = yield* source(wanted)
          yield* fault({ kind: "status", when: "before", status: 429, retryAfter: "3600", path: anyStock, times: 7 })
          yield* started(feed.service, ledger)
          yield* Effect.sleep("1 minute")
          clock.shift(30 * 60_000)
          yield* Effect.sleep("40 minutes")
          expect((yield* patches).filter(({ status }) => status === 200)).toEqual([])
          clock.shift(-86_400_000)
          yield* Effect.sleep("23 minutes")
          expect(yield* held(...Object.keys(wanted))).toEqual(wanted)
        }).pipe(Effect.provideService(Clock.Clock, clock))
      }), { limit }))

  it.effect("while no process runs leaves confirmations in the future, which are reasserted on time", () =>
    simulated({ P0: 1 }, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source({ P0: 1 })
        const clock = yield* settable
        clock.shift(86_400_000)
        yield* Effect.gen(function*() {
          const { stop } = yield* started(feed.service, ledger)
          yield* Effect.sleep("1 minute")
          yield* stop
        }).pipe(Effect.provideService(Clock.Clock, clock))
        expect(yield* count).toBe(1)
        yield* started(feed.service, ledger, settings)
        yield* Effect.sleep("6 minutes")
        expect(yield* count).toBe(2)
      }), { limit }))
})
