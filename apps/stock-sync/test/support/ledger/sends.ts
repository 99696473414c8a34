/**
 * What a ledger hands out to be sent, and what becomes of a send, as laws over every kind of ledger.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import { urgencies } from "../../../src/Entry.js"
import type { Taken } from "../../../src/Ledger.js"
import * as Plan from "../../../src/Plan.js"
import { at, collect, type Fresh, id, planOf, receive, receiveOn, refusal, row, settle, stateOf, take, using } from "./using.js"

export const sends = (fresh: Fresh): void => {
  describe("what becomes of a send", () => {
    it.effect("a send that a crash cut off is doubtful at the next start, and is sent again", () =>
      at(fresh, (path) =>
        Effect.gen(function*() {
          yield* using(path, (ledger) => Effect.zipRight(receive(ledger, row("A", 1)), ledger.begin(id("A"))))
          yield* using(path, (ledger) =>
            Effect.gen(function*() {
              expect(yield* stateOf(ledger, "A")).toBe("doubtful")
              yield* receive(ledger, row("A", 1))
              expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", reason: "doubtful", to: 1 }])
            }))
        })))

    it.effect("a doubt stays when another value is wanted, and when that value certainly didn't arrive", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* settle(ledger, "A")
            yield* receive(ledger, row("A", 9))
            yield* ledger.begin(id("A"))
            yield* ledger.fail(id("A"), "doubtful", refusal(9), false)
            yield* receive(ledger, row("A", 4))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", reason: "falling", to: 4 }])
            yield* ledger.begin(id("A"))
            yield* ledger.fail(id("A"), "pending", refusal(4), false)
            expect(yield* collect(ledger.open)).toMatchObject([{ state: "doubtful", sent: 9, wanted: 4, confirmed: 4 }])
            yield* settle(ledger, "A")
            expect(yield* planOf(ledger)).toEqual([])
          }))))

    it.effect("a refused product is quarantined with its reason until another value is wanted", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* ledger.begin(id("A"))
            yield* ledger.fail(id("A"), "quarantined", refusal(4), false)
            yield* receive(ledger, row("A", 4))
            expect(yield* planOf(ledger)).toEqual([])
            expect(yield* collect(ledger.open)).toMatchObject([{ state: "quarantined", refusal: refusal(4), attempts: 1 }])
            yield* receive(ledger, row("A", 5))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", to: 5 }])
            yield* settle(ledger, "A")
            expect(yield* ledger.counts).toMatchObject({ settled: 1, quarantined: 0 })
          }))))

    it.effect("a product that the service doesn't have is sent even if an earlier confirmed value is wanted again", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* settle(ledger, "A")
            yield* receive(ledger, row("A", 5))
            yield* ledger.begin(id("A"))
            yield* ledger.fail(id("A"), "quarantined", refusal(5), true)
            yield* receive(ledger, row("A", 4))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", reason: "unconfirmed", to: 4 }])
          }))))

    it.effect("a confirmation says when it came, by the clock", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* TestClock.setTime(1_700_000_000_000)
            yield* settle(ledger, "A")
            yield* receive(ledger, row("A", 5))
            expect(yield* collect(ledger.open)).toMatchObject([{ confirmed: 4, confirmedAt: 1_700_000_000_000 }])
          }))))

    it.effect("a doubt outlives a refusal: what the service may hold is not taken for what it once confirmed", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            const doubted = Effect.gen(function*() {
              yield* receive(ledger, row("A", 4))
              yield* settle(ledger, "A")
              yield* receive(ledger, row("A", 9))
              yield* ledger.begin(id("A"))
              yield* ledger.fail(id("A"), "doubtful", refusal(9), false)
              yield* receive(ledger, row("A", 77))
              yield* ledger.begin(id("A"))
              yield* ledger.fail(id("A"), "quarantined", refusal(77), false)
            })
            yield* doubted
            yield* receive(ledger, row("A", 4))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", reason: "falling", to: 4 }])
            yield* settle(ledger, "A")
            yield* doubted
            expect(yield* collect(ledger.quarantined)).toMatchObject([{ productId: "A", state: "quarantined", refusal: refusal(77) }])
            yield* ledger.release(Option.none())
            expect(yield* collect(ledger.quarantined)).toEqual([])
            expect(yield* collect(ledger.open)).toMatchObject([{ state: "doubtful", sent: 9, wanted: 77 }])
          }))))
  })

  describe("what is handed out", () => {
    it.effect("is the plan's order, whatever the ledger holds; settled products only where they are asked for, the oldest first", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            // Every way in which a product can stand: what was confirmed, what was sent in doubt after it, and what is wanted now.
            const stocks = [0, 2, 5]
            const ways = [undefined, ...stocks].flatMap((confirmed) =>
              [undefined, ...stocks].flatMap((doubted) => stocks.map((wanted) => ({ confirmed, doubted, wanted }))))
            const named = ways.map((way, index) => ({ ...way, name: `P${String(index).padStart(2, "0")}` }))
            const at = (of: (way: (typeof named)[number]) => number | undefined) =>
              named.flatMap((way) => Option.toArray(Option.map(Option.fromNullable(of(way)), (stock) => row(way.name, stock))))
            yield* receive(ledger, ...at((way) => way.confirmed))
            yield* Effect.forEach(named.filter((way) => way.confirmed !== undefined), (way) => settle(ledger, way.name))
            yield* receiveOn(ledger, { confirmed: true }, ...at((way) => way.doubted))
            yield* Effect.forEach(named, ({ doubted, name }) =>
              doubted === undefined ? Effect.void : Effect.zipRight(ledger.begin(id(name)), ledger.fail(id(name), "doubtful", refusal(doubted), false)))
            yield* TestClock.setTime(1_000)
            yield* receiveOn(ledger, { confirmed: true }, ...at((way) => way.wanted))

            const plan = yield* planOf(ledger)
            const backlog = yield* ledger.backlog
            const taken: Array<Taken> = []
            for (let next = yield* take(ledger); next !== undefined; next = yield* take(ledger)) taken.push(next)
            expect(new Map(taken.map((each) => [each.productId, each.urgency]))).toEqual(
              new Map(plan.map((step) => [step.productId, Plan.urgencyOf[step.reason]]))
            )
            expect(taken.map((each) => urgencies.indexOf(each.urgency))).toEqual(plan.map((step) => urgencies.indexOf(Plan.urgencyOf[step.reason])))
            for (const each of taken) expect(each.value).toBe(plan.find((step) => step.productId === each.productId)?.to)
            const counted = Object.entries(backlog.waiting).map(([urgency, n]) => [urgency, n])
            expect(counted).toEqual(urgencies.slice(0, 5).map((urgency) => [urgency, taken.filter((each) => each.urgency === urgency).length]))
            expect((yield* ledger.backlog)).toMatchObject({ sending: taken.length, oldest: Option.none(), waiting: { soldOut: 0, rest: 0 } })
            const settled = named.length - taken.length
            expect(settled).toBeGreaterThan(0)
            let asserted = 0
            while ((yield* take(ledger, [], 2_000))?.urgency === "assertion") asserted++
            expect(asserted).toBe(settled)
          }))))

    it.effect("among equals is what waits longest, never what is being sent or rests, and what changed meanwhile goes out as it is wanted then", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("B", 1))
            yield* TestClock.setTime(1_000)
            yield* receive(ledger, row("B", 1), row("A", 1), row("C", 1))
            yield* TestClock.setTime(2_000)
            yield* receive(ledger, row("B", 7), row("A", 1), row("C", 1))
            expect(yield* ledger.backlog).toMatchObject({
              oldest: Option.some({ productId: "B", since: 0 }),
              longest: { soldOut: undefined, rest: 0 }
            })
            expect(yield* take(ledger)).toEqual({ productId: "B", value: 7, urgency: "rest", since: 0 })
            expect(yield* take(ledger, ["A"])).toMatchObject({ productId: "C" })
            expect(yield* take(ledger, ["A"])).toBeUndefined()
            yield* receive(ledger, row("B", 0), row("A", 1), row("C", 1))
            yield* ledger.confirm(id("B"), 7)
            expect(yield* take(ledger)).toEqual({ productId: "B", value: 0, urgency: "soldOut", since: 2_000 })
          }))))

    it.effect("is the oldest confirmation where nothing waits, and only one from before the time that is named", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
            for (const [index, each] of ["B", "C", "A"].entries()) {
              yield* TestClock.setTime(1_000 * (index + 1))
              yield* settle(ledger, each)
            }
            expect((yield* ledger.backlog).oldestConfirmation).toEqual(Option.some(1_000))
            expect(yield* take(ledger)).toBeUndefined()
            expect(yield* take(ledger, [], 1_000)).toBeUndefined()
            expect(yield* take(ledger, [], 2_500)).toEqual({ productId: "B", value: 2, urgency: "assertion", since: 1_000 })
            expect(yield* take(ledger, [], 2_500)).toMatchObject({ productId: "C" })
            yield* ledger.confirm(id("B"), 2)
            expect(yield* take(ledger, [], 2_500)).toBeUndefined()
            expect(yield* stateOf(ledger, "B")).toBe("settled")
          }))))

    it.effect("takes what a clock that was set back makes come from the future for what came now", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* TestClock.setTime(5_000)
            yield* receive(ledger, row("A", 1), row("B", 1), row("C", 1))
            yield* settle(ledger, "A")
            yield* TestClock.setTime(900_000)
            yield* settle(ledger, "B")
            yield* receive(ledger, row("A", 1), row("B", 1), row("C", 2))
            yield* TestClock.setTime(100_000)
            yield* ledger.forgetFuture
            const waiting = yield* take(ledger)
            expect(waiting).toMatchObject({ productId: "C", since: 5_000 })
            yield* TestClock.setTime(200_000)
            expect(yield* take(ledger, [], 200_000)).toMatchObject({ productId: "A", since: 5_000 })
            expect(yield* take(ledger, [], 200_000)).toMatchObject({ productId: "B", since: 100_000 })
          }))))
  })

  describe("what the store is seen to hold", () => {
    it.effect("has a product sent again that differs from what was confirmed, and counts as a confirmation where it doesn't", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 0))
            for (const each of ["A", "B", "C"]) yield* settle(ledger, each)
            yield* TestClock.setTime(9_000)
            const seen = [["A", 1], ["B", 7], ["C", 3], ["NOBODY'S", 4]] as const
            expect(yield* ledger.observe(seen.map(([each, stock]) => ({ productId: id(each), stock })), 8_000)).toBe(2)
            expect(yield* take(ledger)).toEqual({ productId: "C", value: 0, urgency: "soldOut", since: 9_000 })
            expect(yield* take(ledger)).toEqual({ productId: "B", value: 2, urgency: "falling", since: 9_000 })
            expect(yield* take(ledger)).toBeUndefined()
            expect((yield* ledger.backlog).oldestConfirmation).toEqual(Option.some(8_000))
          }))))

    it.effect("says nothing of what was sent, refused or changed since the look began", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3), row("D", 4))
            for (const each of ["A", "B", "C", "D"]) yield* settle(ledger, each)
            yield* TestClock.setTime(5_000)
            yield* settle(ledger, "A")
            yield* receive(ledger, row("A", 1), row("B", 9), row("C", 3), row("D", 4))
            yield* ledger.begin(id("C"))
            yield* ledger.begin(id("D"))
            yield* ledger.fail(id("D"), "doubtful", refusal(4), false)
            const before = yield* collect(ledger.open)
            const seen = ["A", "B", "C", "D"].map((each) => ({ productId: id(each), stock: 50 }))
            expect(yield* ledger.observe(seen, 4_000)).toBe(0)
            expect(yield* collect(ledger.open)).toEqual(before)
            expect(yield* stateOf(ledger, "A")).toBe("settled")
          }))))
  })

  describe("a release", () => {
    it.effect("lets quarantined products be sent again, all or those that are named, and tells which", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 1), row("C", 1), row("D", 1))
            for (const each of ["A", "B", "C"]) {
              yield* ledger.begin(id(each))
              yield* ledger.fail(id(each), "quarantined", refusal(1), false)
            }
            yield* settle(ledger, "D")
            expect(yield* take(ledger)).toBeUndefined()
            // From beside, as another process does it.
            expect(yield* using(path, (other) => other.release(Option.some(["B", "D", "X"])), "layerBeside")).toEqual(["B"])
            expect(yield* take(ledger)).toMatchObject({ productId: "B" })
            expect([...(yield* ledger.release(Option.none()))].sort()).toEqual(["A", "C"])
            expect(yield* ledger.counts).toMatchObject({ quarantined: 0, pending: 2, sending: 1, settled: 1 })
          }))))
  })
}
