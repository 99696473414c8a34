/**
 * What was confirmed is asserted again with what is left of the allowance, and clocks that jump neither stop nor hurry it.
 */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect } from "effect"
import { inShop, patches, products, source, started } from "./support/looping.js"
import { shifted } from "./support/shifted.js"
import { held } from "./support/world.js"

const wanted = products(60, () => 5)
// One assertion each ten seconds.
const limit = 60
const share = { share: 0.1, after: Duration.minutes(5), allowance: { limit, windowMillis: 60_000 } }
const count = Effect.map(patches, (all) => all.length)

describe("assertions", () => {
  it.live("begin when confirmations have grown old, the oldest first, and keep to their share", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, { assertions: share })
        yield* Effect.sleep("5 minutes")
        expect(yield* count).toBe(60)
        yield* Effect.sleep("8 minutes")
        const again = (yield* patches).slice(60)
        expect(again.length).toBeGreaterThanOrEqual(46)
        expect(again.length).toBeLessThanOrEqual(49)
        expect(again.slice(0, 20).map(({ id }) => id)).toEqual((yield* patches).slice(0, 20).map(({ id }) => id))
      }), { limit }))

  it.live("heal what was changed in the shop by others", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, { assertions: share })
        yield* Effect.sleep("5 minutes")
        yield* setProduct({ id: "P0042", stock: 1 })
        yield* Effect.sleep("15 minutes")
        expect(yield* held("P0042")).toEqual({ P0042: 5 })
      }), { limit }))

  it.live("keep no change waiting", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, { assertions: { ...share, share: 1 } })
        // Everything of the allowance goes into assertions.
        yield* Effect.sleep("390 seconds")
        const before = yield* count
        expect(before).toBeGreaterThan(60)
        yield* feed.set(products(60, (index) => index < 30 ? 6 : 5))
        yield* Effect.sleep("2 minutes")
        const ids = (yield* patches).slice(before, before + 30).map(({ id }) => id)
        expect(ids.every((id) => id < "P0030")).toBe(true)
      }), { limit }))

  it.live("are made of nothing where the share is none", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, { assertions: { ...share, share: 0 } })
        yield* Effect.sleep("2 hours")
        expect(yield* count).toBe(60)
      }), { limit }))
})

describe("a wall clock that jumps", () => {
  for (const [name, by] of [["a day forth", 86_400_000], ["a day back", -86_400_000], ["a year back", -31_536_000_000]] as const) {
    it.live(`${name} doesn't keep changes from the shop, nor assertions, nor makes more of them`, () =>
      inShop(wanted, (ledger) =>
        Effect.gen(function*() {
          const clock = yield* shifted
          yield* Effect.gen(function*() {
            const feed = yield* source(wanted)
            yield* started(feed.service, ledger, { assertions: share })
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
          }).pipe(Effect.withClock(clock))
        }), { limit }))
  }

  it.live("keeps nobody waiting beyond a quota, nor lets anything through before it", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const clock = yield* shifted
        const { addFault } = yield* Sandbox.Sandbox
        yield* Effect.gen(function*() {
          const feed = yield* source(wanted)
          yield* addFault({ kind: "status", when: "before", status: 429, retryAfter: "3600", path: "/store/products/*/stock", times: 8 })
          yield* started(feed.service, ledger)
          yield* Effect.sleep("1 minute")
          clock.shift(30 * 60_000)
          yield* Effect.sleep("40 minutes")
          expect((yield* patches).filter(({ status }) => status === 200)).toEqual([])
          clock.shift(-86_400_000)
          yield* Effect.sleep("23 minutes")
          expect(yield* held(...Object.keys(wanted))).toEqual(wanted)
        }).pipe(Effect.withClock(clock))
      }), { limit }))

  it.live("after which a ledger is opened whose confirmations come from the future doesn't keep them from being asserted", () =>
    inShop({ P0: 1 }, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source({ P0: 1 })
        const clock = yield* shifted
        clock.shift(86_400_000)
        yield* Effect.gen(function*() {
          const { stop } = yield* started(feed.service, ledger)
          yield* Effect.sleep("1 minute")
          yield* stop
        }).pipe(Effect.withClock(clock))
        expect(yield* count).toBe(1)
        yield* started(feed.service, ledger, { assertions: share })
        yield* Effect.sleep("6 minutes")
        expect(yield* count).toBe(2)
      }), { limit }))
})
