/**
 * What a ledger takes over of a snapshot and what it keeps, as laws over every kind of ledger.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck, Option, Stream, TestClock } from "effect"
import { SourceRefused } from "@plaza/rows/Refused"
import { terms } from "../world.js"
import { at, bad, collect, type Fresh, id, planOf, receive, refusal, row, settle, stateOf, using } from "./using.js"

export const snapshots = (fresh: Fresh, runs: number): void => {
  describe("snapshots", () => {
    it.effect("what was confirmed is known after the file is opened again, and only what differs is to be sent", () =>
      at(fresh, (path) =>
        Effect.gen(function*() {
          yield* using(path, (ledger) =>
            Effect.gen(function*() {
              yield* receive(ledger, row("A", 1), row("B", 2), row("007", 3))
              expect((yield* planOf(ledger)).map((step) => step.productId)).toEqual(["007", "A", "B"])
              yield* Effect.forEach(["A", "B", "007"], (each) => settle(ledger, each))
            }))
          yield* using(path, (ledger) =>
            Effect.gen(function*() {
              yield* receive(ledger, row("A", 1), row("B", 0), row("7", 1), row("007", 3))
              expect(yield* planOf(ledger)).toEqual([
                { productId: "B", reason: "soldOut", from: 2, to: 0 },
                { productId: "7", reason: "unconfirmed", from: undefined, to: 1 }
              ])
              expect(yield* ledger.counts).toMatchObject({ settled: 2, pending: 2, setAside: 0 })
            }))
        })))

    it.effect("a snapshot that fails halfway changes nothing", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), bad("X", "is odd", 3))
            const refused = new SourceRefused({ source: "x", line: 9, message: "broken" })
            const many = Stream.range(1, 2000).pipe(Stream.map((n) => row(`P${n}`, n)))
            const failed = yield* Effect.flip(ledger.receive(Stream.concat(many, Stream.fail(refused)), terms))
            expect(failed).toBe(refused)
            expect(yield* planOf(ledger)).toEqual([{ productId: "A", reason: "unconfirmed", from: undefined, to: 1 }])
            expect(yield* collect(ledger.setAside)).toEqual([{ line: 3, productId: "X", reason: "is odd" }])
            yield* receive(ledger, row("A", 2))
            expect(yield* ledger.counts).toMatchObject({ pending: 1, setAside: 0 })
          }))))

    it.effect("a product that stands twice is refused with all its lines, also where one of them is bad, and keeps what was wanted", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 5), row("B", 5))
            yield* Effect.forEach(["A", "B"], (each) => settle(ledger, each))
            yield* receive(ledger, row("A", 0, 2), row("C", 1, 3), row("A", 7, 4), bad("B", "stock is empty", 5), row("B", 0, 6))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "C" }])
            expect(yield* collect(ledger.setAside)).toEqual([
              { line: 2, productId: "A", reason: "the product stands on 2 lines (2, 4): keep one of them" },
              { line: 4, productId: "A", reason: "the product stands on 2 lines (2, 4): keep one of them" },
              { line: 5, productId: "B", reason: "stock is empty; the product stands on 2 lines (5, 6): keep one of them" },
              { line: 6, productId: "B", reason: "the product stands on 2 lines (5, 6): keep one of them" }
            ])
            expect(yield* stateOf(ledger, "A")).toBe("settled")
          }))))

    it.effect("a product on many lines names the first of them", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, ...Array.from({ length: 40 }, (_, index) => row("A", 1, index + 2)))
            const aside = yield* collect(ledger.setAside)
            expect(aside).toHaveLength(40)
            expect(aside[39]?.reason).toBe("the product stands on 40 lines (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …): keep one of them")
          }))))

    it.effect("a product that is gone from the file is left alone", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2))
            yield* receive(ledger, row("B", 2))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "B" }])
            expect((yield* collect(ledger.open)).map((entry) => entry.productId)).toEqual(["A", "B"])
          }))))

    it.effect("more products than a page are all there, once", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* ledger.receive(Stream.range(1, 3500).pipe(Stream.map((n) => row(`P${n}`, n, n + 1))), terms)
            const steps = yield* planOf(ledger)
            expect(new Set(steps.map((step) => step.productId)).size).toBe(3500)
          }))))

    it.effect.prop("ids and stocks come back as they went in", [
      FastCheck.uniqueArray(FastCheck.fullUnicodeString({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 20 }),
      FastCheck.maxSafeNat()
    ], ([ids, stock]) =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            const clean = ids.filter((each) => !/\0|\p{Surrogate}/u.test(each))
            yield* receive(ledger, ...clean.map((each) => row(each, stock)))
            const entries = yield* collect(ledger.unsettled)
            expect(new Set(entries.map((entry) => entry.productId))).toEqual(new Set(clean))
            for (const entry of entries) {
              expect(yield* ledger.begin(entry.productId)).toBe(stock)
              yield* ledger.confirm(entry.productId, stock)
            }
            expect(yield* ledger.counts).toMatchObject({ settled: clean.length, pending: 0, sending: 0 })
          }))), { fastCheck: { numRuns: runs } })

    it.effect("an id that no database can keep or find again is set aside, and the rest goes on", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A\0", 1, 2), row("\uD800B", 1, 3), row("C".repeat(501), 1, 4), bad("D\0", "stock is empty", 5), row("E", 1, 6))
            expect((yield* planOf(ledger)).map((step) => step.productId)).toEqual(["E"])
            expect((yield* collect(ledger.setAside)).map((each) => [each.line, each.productId])).toEqual([2, 3, 4, 5].map((at) => [at, undefined]))
          }))))

    it.effect("a snapshot that moves every line and changes one stock changes one product, and shows where a refused one stands now", () =>
      at(fresh, (path) =>
        using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1, 2), row("B", 1, 3), row("C", 1, 4))
            yield* Effect.forEach(["A", "B"], (each) => settle(ledger, each))
            yield* ledger.begin(id("C"))
            yield* ledger.fail(id("C"), "quarantined", refusal(1), false)
            yield* TestClock.setTime(5_000)
            expect(yield* receive(ledger, row("Z", 1, 2), row("A", 1, 3), row("B", 2, 4), row("C", 1, 5))).toMatchObject({ changed: 2 })
            expect(yield* ledger.takenAt).toEqual(Option.some(5_000))
            expect(yield* collect(ledger.open)).toMatchObject([
              { productId: "B", line: 4, updatedAt: 5_000 },
              { productId: "C", line: 5, state: "quarantined" },
              { productId: "Z", line: 2 }
            ])
          }))))
  })
}
