/** What a ledger takes of a snapshot and what it keeps, in every database. */
import { describe, expect, it } from "@effect/vitest"
import { SourceError } from "@plaza/tabular/SourceError"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { utc } from "../utc.ts"
import type { Kind } from "./kind.ts"
import {
  at,
  bad,
  begin,
  collect,
  entryOf,
  failing,
  intake,
  negative,
  policy,
  queueOf,
  receive,
  receiveOn,
  refusal,
  row,
  settle,
  stateOf,
  take,
  using
} from "./using.ts"

export const snapshots = (kind: Kind, runs: number): void => {
  describe("snapshots", () => {
    it.effect("confirmed stock is known after the ledger is opened again, and only differences wait", () =>
      at(kind, (place) =>
        Effect.gen(function*() {
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              yield* receive(ledger, row("A", 1), row("B", 2), row("007", 3))
              expect((yield* queueOf(ledger)).map((each) => each.productId)).toEqual(["007", "A", "B"])
              yield* Effect.forEach(["A", "B", "007"], (each) => settle(ledger, each))
            }))
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              yield* receive(ledger, row("A", 1), row("B", 0), row("7", 1), row("007", 3))
              expect(yield* queueOf(ledger)).toEqual([
                { productId: "B", priority: "soldOut", from: 2, to: 0 },
                { productId: "7", priority: "rest", from: undefined, to: 1 }
              ])
              expect(yield* ledger.counts).toMatchObject({ settled: 2, pending: 2, rejectedRows: 0 })
            }))
        })))

    it.effect("a snapshot that fails halfway changes nothing", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), bad("X", "is odd", 3))
            const refused = new SourceError({ source: "x", line: 9, message: "broken" })
            const many = Stream.range(1, 2000).pipe(Stream.map((n) => row(`P${n}`, n)))
            const failed = yield* Effect.flip(ledger.applySnapshot(intake(Stream.concat(many, Stream.fail(refused))), policy))
            expect(failed).toBe(refused)
            expect(yield* queueOf(ledger)).toEqual([{ productId: "A", priority: "rest", from: undefined, to: 1 }])
            expect(yield* collect(ledger.rowIssues)).toEqual([{ line: 3, productId: "X", kind: "rejected", reason: "is odd" }])
            yield* receive(ledger, row("A", 2))
            expect(yield* ledger.counts).toMatchObject({ pending: 1, rejectedRows: 0 })
          }))))

    it.effect("a product with two rows is rejected with all its lines, also where one of them is bad, and keeps what was wanted", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 5), row("B", 5))
            yield* Effect.forEach(["A", "B"], (each) => settle(ledger, each))
            expect(yield* receive(ledger, row("A", 0, 2), row("C", 1, 3), row("A", 7, 4), bad("B", "stock is empty", 5), row("B", 0, 6)))
              .toMatchObject({ rows: 5, rejected: 4, changed: 1 })
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "C" }])
            const advice = "keep one of them, or add them up with --duplicates sum"
            expect((yield* collect(ledger.rowIssues)).map(({ line, productId, reason }) => ({ line, productId, reason }))).toEqual([
              { line: 2, productId: "A", reason: `the product has 2 rows (2, 4): ${advice}` },
              { line: 4, productId: "A", reason: `the product has 2 rows (2, 4): ${advice}` },
              { line: 5, productId: "B", reason: `stock is empty; the product has 2 rows (5, 6): ${advice}` },
              { line: 6, productId: "B", reason: `the product has 2 rows (5, 6): ${advice}` }
            ])
            expect(yield* stateOf(ledger, "A")).toBe("settled")
          }))))

    it.effect("a product on many lines names the first of them", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receiveOn(ledger, { maxBadRows: 1 }, row("B", 1), ...Array.from({ length: 40 }, (_, index) => row("A", 1, index + 2)))
            const issues = yield* collect(ledger.rowIssues)
            expect(issues).toHaveLength(40)
            expect(issues[39]?.reason).toContain("the product has 40 rows (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …): keep one of them")
          }))))

    it.effect("a source in which every product has two rows is rejected as a whole", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("P1", 7))
            const twice = Array.from({ length: 30 }, (_, index) => row(`P${index % 15}`, 1, index + 2))
            const refused = yield* Effect.flip(receive(ledger, ...twice))
            expect(refused).toMatchObject({ _tag: "SourceError", source: "stock.csv" })
            expect(refused.message).toContain("all of its 30 rows are rejected, the first in line 2: the product has 2 rows (2, 17)")
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "P1", to: 7 }])
            expect(yield* ledger.snapshot).toMatchObject({ rows: 1 })
          }))))

    it.effect("rows of one product are added up on request; a bad row among them, or a sum that can't be sent exactly, rejects all of them", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const most = Number.MAX_SAFE_INTEGER
            const received = yield* receiveOn(
              ledger,
              { duplicates: "sum" },
              row("A", 1, 2),
              row("B", 3, 3),
              row("A", 4, 4),
              negative("A", 5),
              row("C", most - 1, 6),
              row("C", 1, 7),
              row("D", most, 8),
              row("D", 1, 9),
              bad("E", "stock is empty", 10),
              row("E", 1, 11),
              negative("F", 12)
            )
            const issues = new Map((yield* collect(ledger.rowIssues)).map(({ line, reason }) => [line, reason]))
            expect(issues.get(8)).toBe("the product has 2 rows (8, 9), which can't be added up")
            expect(issues.get(10)).toBe("stock is empty; the product has 2 rows (10, 11), which can't be added up")
            expect(received).toMatchObject({ rows: 8, rejected: 4, negative: 2, changed: 4 })
            expect((yield* queueOf(ledger)).map(({ productId, to }) => [productId, to])).toEqual([["F", 0], ["A", 5], ["B", 3], [
              "C",
              most
            ]])
            expect((yield* collect(ledger.rowIssues)).map(({ kind, line, productId }) => [line, productId, kind])).toEqual([
              [2, "A", "negative"],
              [8, "D", "rejected"],
              [9, "D", "rejected"],
              [10, "E", "rejected"],
              [11, "E", "rejected"],
              [12, "F", "negative"]
            ])
          }))))

    it.effect("a sum beyond the whole numbers of the database rejects its rows", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const huge = Array.from({ length: 1_100 }, () => row("A", Number.MAX_SAFE_INTEGER))
            expect(yield* receiveOn(ledger, { duplicates: "sum", maxBadRows: 1 }, ...huge, row("B", 1), row("B", 2))).toMatchObject({
              rejected: 1_100,
              changed: 1
            })
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "B", to: 3 }])
          }))))

    it.effect("a negative stock is wanted as 0, and is an issue", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            expect(yield* receive(ledger, negative("A", 2), row("B", 1, 3), negative("C", 4), row("C", 2, 5))).toMatchObject({
              negative: 1,
              rejected: 2
            })
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A", to: 0 }, { productId: "B", to: 1 }])
            expect(yield* collect(ledger.rowIssues)).toMatchObject([
              { line: 2, productId: "A", kind: "negative", reason: "the stock is negative: taken as 0" },
              { line: 4, productId: "C", kind: "rejected" },
              { line: 5, productId: "C", kind: "rejected" }
            ])
            expect(yield* ledger.counts).toMatchObject({ negativeRows: 1, rejectedRows: 2 })
          }))))

    it.effect("a missing product keeps its wanted stock, and is sent nevertheless", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2))
            yield* receive(ledger, row("B", 2))
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A" }, { productId: "B" }])
            expect((yield* collect(ledger.unsettled)).map((entry) => entry.productId)).toEqual(["A", "B"])
            expect(yield* take(ledger)).toMatchObject({ productId: "A", value: 1 })
          }))))

    it.effect("more products than a page are listed once, in order", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* ledger.applySnapshot(intake(Stream.range(1, 3500).pipe(Stream.map((n) => row(`P${n}`, n % 7, n + 1)))), policy)
            const ids = (queue: ReadonlyArray<{ readonly productId: string }>) => queue.map(({ productId }) => productId)
            const queue = yield* queueOf(ledger)
            expect(new Set(ids(queue)).size).toBe(3500)
            expect(queue.map(({ to }) => to === 0)).toEqual(queue.map((_, index) => index < 500))
            for (const stream of [ledger.all, ledger.unsettled]) expect(ids(yield* collect(stream))).toEqual([...ids(queue)].sort())
          }))))

    it.effect.prop("ids and stocks are read as they were written", [
      Arbitrary.map(Generate.arrayOf(Generate.unicode({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 20 }),
        (all) => [...new Set(all)]),
      Generate.between(0, Number.MAX_SAFE_INTEGER)
    ], ([ids, stock]) =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const clean = ids.filter((each) => !/\0|\p{Surrogate}/u.test(each))
            if (clean.length === 0) return
            yield* receive(ledger, ...clean.map((each) => row(each, stock)))
            const entries = yield* collect(ledger.all)
            expect(new Set(entries.map((entry) => entry.productId))).toEqual(new Set(clean))
            for (let taken = yield* take(ledger); taken !== undefined; taken = yield* take(ledger)) {
              expect(taken.value).toBe(stock)
              yield* ledger.confirm(taken)
            }
            expect(yield* ledger.counts).toMatchObject({ settled: clean.length, pending: 0, sending: 0 })
          }))), { arbitrary: { runs } })

    it.effect("an id that no database can store or find again rejects its row only", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A\0", 1, 2), row("\uD800B", 1, 3), row("C".repeat(501), 1, 4), bad("D\0", "stock is empty", 5),
              row("E", 1, 6))
            expect((yield* queueOf(ledger)).map((each) => each.productId)).toEqual(["E"])
            expect((yield* collect(ledger.rowIssues)).map((each) => [each.line, each.productId])).toEqual(
              [2, 3, 4, 5].map((n) => [n, undefined])
            )
          }))))

    it.effect("a reason that no database can store does not stop the ledger", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, bad("A", "stock \"1\0\uD800\" is not a number", 2), row("B", 1, 3))
            expect(yield* collect(ledger.rowIssues)).toMatchObject([{ line: 2, reason: "stock \"1\uFFFD\uFFFD\" is not a number" }])
          }))))

    it.effect("a snapshot that moves every line and changes one stock changes one product, and shows where a quarantined one is now", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1, 2), row("B", 1, 3), row("C", 1, 4))
            yield* Effect.forEach(["A", "B"], (each) => settle(ledger, each))
            yield* failing(ledger, "C", "quarantined")
            yield* TestClock.setTime(5_000)
            expect(yield* receive(ledger, row("Z", 1, 2), row("A", 1, 3), row("B", 2, 4), row("C", 1, 5))).toMatchObject({ changed: 2 })
            expect(yield* ledger.snapshot).toMatchObject({ takenAt: utc(5_000), rows: 4, unit: "line" })
            expect(yield* collect(ledger.unsettled)).toMatchObject([
              { productId: "B", line: 4, updatedAt: utc(5_000) },
              { productId: "C", line: 5, state: "quarantined", refusal: refusal(1) },
              { productId: "Z", line: 2 }
            ])
          }))))

    it.effect("a stock that is wanted while another one is sent waits for that request", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1))
            const taken = yield* begin(ledger, "A")
            yield* receive(ledger, row("A", 2))
            expect(yield* stateOf(ledger, "A")).toBe("sending")
            expect(yield* take(ledger)).toBeUndefined()
            yield* ledger.confirm(taken)
            expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "pending", wanted: 2, confirmed: 1 })
            expect(yield* take(ledger)).toMatchObject({ value: 2, attempts: 1 })
          }))))
  })
}
