/**
 * What a ledger makes of a snapshot that would take much out of sale, and of products that are gone from one, as laws over every kind of
 * ledger.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import type { Terms } from "../../../src/Ledger.js"
import type { Row } from "@plaza/rows/Stock"
import { at, bad, collect, type Fresh, id, planOf, receive, receiveOn, refusal, row, settle, using } from "./using.js"

const hundred = (stockOf: (index: number) => number): ReadonlyArray<Row> => Array.from({ length: 100 }, (_, index) => row(`P${index}`, stockOf(index)))
const zero: Partial<Terms> = { gone: "zero" }

export const brake = (fresh: Fresh): void => {
  describe("the brake", () => {
    it.effect("holds a snapshot that takes more than 20% and more than 25 products out of sale, and nothing of it is taken", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, ...hundred(() => 5), bad("X", "is odd", 102))
            yield* TestClock.setTime(1_000)
            const held = yield* Effect.flip(receive(ledger, ...hundred((index) => index < 26 ? 0 : 9)))
            expect(held).toMatchObject({ _tag: "SnapshotHeld", exitCode: 2, held: { zeroed: 26, dropped: 0, catalogue: 100, since: 1_000 } })
            expect(held.message).toContain("26 of 100 products")
            expect(held.message).toContain("--confirm")
            expect((yield* planOf(ledger)).every((step) => step.to === 5)).toBe(true)
            expect(yield* collect(ledger.setAside)).toHaveLength(1)
            yield* TestClock.setTime(2_000)
            yield* Effect.flip(receive(ledger, ...hundred(() => 0)))
            expect(yield* ledger.held).toEqual(Option.some({ since: 1_000, at: 2_000, zeroed: 100, dropped: 0, catalogue: 100 }))
            expect(yield* ledger.takenAt).toEqual(Option.some(0))
          }))))

    it.effect("lets go when the next snapshot is harmless, and when somebody confirms", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, ...hundred(() => 5))
            yield* Effect.flip(receive(ledger, ...hundred(() => 0)))
            yield* receive(ledger, ...hundred(() => 6))
            expect(yield* ledger.held).toEqual(Option.none())
            yield* Effect.flip(receive(ledger, ...hundred(() => 0)))
            expect(yield* receiveOn(ledger, { confirmed: true }, ...hundred(() => 0))).toMatchObject({ braked: true, changed: 100 })
            expect(yield* ledger.held).toEqual(Option.none())
            expect((yield* ledger.backlog).waiting.soldOut).toBe(100)
          }))))

    it.effect("needs both, the share and the count, as they are told; what was wanted 0 before doesn't count", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, ...hundred((index) => index < 50 ? 0 : 5))
            yield* receive(ledger, ...hundred((index) => index < 75 ? 0 : 5))
            const strict = { share: 0.1, count: 9 }
            expect(yield* Effect.flip(receiveOn(ledger, { brake: strict }, ...hundred((index) => index < 86 ? 0 : 5)))).toMatchObject({ held: { zeroed: 11 } })
            yield* receiveOn(ledger, { brake: { share: 0.11, count: 9 } }, ...hundred((index) => index < 86 ? 0 : 5))
            yield* receiveOn(ledger, { brake: { share: 0, count: 14 } }, ...hundred(() => 0))
          }))))

    it.effect("isn't loosened by a snapshot that named few products", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, ...hundred(() => 5))
            yield* receive(ledger, row("P0", 5))
            expect(yield* Effect.flip(receive(ledger, ...hundred(() => 0)))).toMatchObject({ held: { zeroed: 100, catalogue: 1 } })
          }))))
  })

  describe("products that are gone", () => {
    it.effect("are left alone unless told, and are not handed out", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2))
            yield* receive(ledger, row("B", 2))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "B" }])
            expect((yield* ledger.backlog).waiting.rest).toBe(1)
            yield* receive(ledger, row("A", 1), row("B", 2))
            expect((yield* ledger.backlog).waiting.rest).toBe(2)
          }))))

    it.effect("are counted in no state, whichever they are in, and the others in theirs", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const states = ["settled", "pending", "sending", "doubtful", "quarantined"] as const
            // Two of each state, one of them gone; one more of the pending ones stays.
            const kept = states.map((state) => row(`kept ${state}`, 1))
            const gone = states.map((state) => row(`gone ${state}`, 1))
            yield* receive(ledger, ...kept, ...gone, row("kept too", 1))
            for (const whose of ["kept", "gone"]) {
              yield* settle(ledger, `${whose} settled`)
              yield* ledger.begin(id(`${whose} sending`))
              for (const state of ["doubtful", "quarantined"] as const) {
                yield* ledger.begin(id(`${whose} ${state}`))
                yield* ledger.fail(id(`${whose} ${state}`), state, refusal(1), false)
              }
            }
            expect(yield* ledger.counts).toEqual({ settled: 2, pending: 3, sending: 2, doubtful: 2, quarantined: 2, setAside: 0 })
            yield* receive(ledger, ...kept, row("kept too", 1))
            expect(yield* ledger.counts).toEqual({ settled: 1, pending: 2, sending: 1, doubtful: 1, quarantined: 1, setAside: 0 })
          }))))

    it.effect("are wanted 0 on request, also those that went before, and sent as sold out; they come back when they are named again", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
            yield* Effect.forEach(["A", "B", "C"], (each) => settle(ledger, each))
            yield* receive(ledger, row("B", 2), row("C", 3))
            expect(yield* receiveOn(ledger, zero, row("C", 3))).toMatchObject({ damage: { zeroed: 0, dropped: 2, catalogue: 2 }, goneSpared: false })
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", reason: "soldOut", to: 0 }, { productId: "B", reason: "soldOut", to: 0 }])
            yield* settle(ledger, "A")
            expect(yield* receiveOn(ledger, zero, row("C", 3))).toMatchObject({ changed: 0, damage: { dropped: 0 } })
            yield* receiveOn(ledger, zero, row("A", 8), row("C", 3))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "B" }, { productId: "A", reason: "backInStock", to: 8 }])
          }))))

    it.effect("count for the brake where they would be wanted 0", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, ...hundred(() => 5))
            expect(yield* Effect.flip(receiveOn(ledger, zero, ...hundred((index) => index < 10 ? 0 : 5).slice(0, 70)))).toMatchObject({
              held: { zeroed: 10, dropped: 30, catalogue: 100 }
            })
            yield* receive(ledger, row("P0", 5))
          }))))

    it.effect("are not those that stand in a row that was set aside, and none is gone for sure while such a row names no known product", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
            yield* Effect.forEach(["A", "B", "C"], (each) => settle(ledger, each))
            for (const nobody of [bad(undefined, "productId is empty"), bad("Ghost", "stock is empty")]) {
              expect(yield* receiveOn(ledger, zero, row("A", 1), nobody)).toMatchObject({ goneSpared: true })
              expect(yield* planOf(ledger)).toEqual([])
            }
            yield* receiveOn(ledger, zero, row("A", 1), bad("B", "stock is empty"))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "C", to: 0 }])
          }))))

    it.effect("are left in peace by the service's refusal, as any other product", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2))
            yield* receiveOn(ledger, zero, row("B", 2))
            yield* ledger.begin(id("A"))
            yield* ledger.fail(id("A"), "quarantined", refusal(0), true)
            yield* receiveOn(ledger, zero, row("B", 2))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "B" }])
          }))))
  })
}
