/** Which snapshots a ledger holds, and what becomes of products that are missing, in every database. */
import { describe, expect, it } from "@effect/vitest"
import type { Row } from "@plaza/tabular/Stock"
import { Duration, Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Ledger } from "../../../src/ledger/Ledger.ts"
import type { SnapshotPolicy } from "../../../src/ledger/Snapshot.ts"
import { utc } from "../utc.ts"
import type { Kind } from "./kind.ts"
import {
  at,
  bad,
  collect,
  entryOf,
  failing,
  intake,
  type Place,
  policy,
  queueOf,
  receive,
  receiveOn,
  receiveWithout,
  row,
  settle,
  stateOf,
  take,
  using
} from "./using.ts"

const products = (count: number, stockOf: (index: number) => number | undefined): ReadonlyArray<Row> =>
  Array.from({ length: count }, (_, index) => ({ index, stock: stockOf(index) })).flatMap(({ index, stock }) =>
    stock === undefined ? [] : [row(`P${index}`, stock)]
  )
const hundred = (stockOf: (index: number) => number | undefined) => products(100, stockOf)
const zero: Partial<SnapshotPolicy> = { missing: "zero" }
const heldOf = (ledger: Ledger["Service"]) => Effect.map(ledger.snapshot, ({ held }) => Option.getOrUndefined(held))
const day = Duration.toMillis("1 day")

/** A ledger that has taken a catalogue of a hundred products with a stock of 50. */
const onCatalogue = (kind: Kind) => (test: (ledger: Ledger["Service"], place: Place) => Effect.Effect<void, unknown>) =>
  at(kind, (place) =>
    using(place, (ledger) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_000)
        yield* receive(ledger, ...hundred(() => 50))
        yield* test(ledger, place)
      })))

export const guard = (kind: Kind): void => {
  const taken = onCatalogue(kind)

  describe("the drop guard", () => {
    it.effect("holds a snapshot that sells out more than 20% and more than 10 products, and applies nothing of it", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, ...hundred(() => 50), bad("X", "is odd", 102))
          yield* TestClock.setTime(2_000)
          const held = yield* Effect.flip(receive(ledger, ...hundred((index) => index < 21 ? 0 : 51)))
          const figures = { catalogue: 100, soldOut: 21, fell: 0, rose: 0, missing: 0, zeroed: 0, reverted: 0 }
          expect(held).toMatchObject({
            _tag: "SnapshotHeld",
            held: { number: 2, figures, since: utc(2_000), at: utc(2_000), confirmed: false }
          })
          expect(held.message).toContain("of 100 products, 21 sell out within 1d, and the limit is 20.")
          expect(held.message).toContain("plaza-stock-sync confirm 2")
          expect((yield* queueOf(ledger)).every((each) => each.to === 50)).toBe(true)
          expect(yield* collect(ledger.rowIssues)).toHaveLength(1)
          expect(yield* ledger.snapshot).toMatchObject({ takenAt: utc(1_000), rows: 101 })
          const changes = yield* collect(ledger.heldChanges)
          expect(changes).toHaveLength(21)
          expect(changes[0]).toEqual({ productId: "P0", kind: "soldOut", from: 50, to: 0 })
          // The same once more keeps its number; something else is another one.
          yield* TestClock.setTime(3_000)
          yield* Effect.flip(receive(ledger, ...hundred((index) => index < 21 ? 0 : 52)))
          expect(yield* heldOf(ledger)).toEqual({ number: 2, figures, since: utc(2_000), at: utc(3_000), confirmed: false })
          yield* Effect.flip(receive(ledger, ...hundred(() => 0)))
          expect(yield* heldOf(ledger)).toMatchObject({ number: 3, since: utc(3_000), figures: { soldOut: 100 } })
          expect(yield* collect(ledger.heldChanges)).toHaveLength(100)
        })
      ))

    it.effect("applies a fifth that sells out, and holds the next fifth: changes add up within the window", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          const fifths = (sold: number) => hundred((index) => index < 20 * sold ? 0 : 50)
          yield* receive(ledger, ...fifths(1))
          for (const sold of [2, 3, 4, 5]) {
            yield* TestClock.adjust("1 hour")
            const held = yield* Effect.flip(receive(ledger, ...fifths(sold)))
            expect(held).toMatchObject({ _tag: "SnapshotHeld", held: { figures: { soldOut: 20 * sold } } })
          }
          expect((yield* ledger.backlog).waiting.soldOut).toBe(20)
          // Products do not count of which the change is as old as the window.
          yield* TestClock.setTime(1_000 + day)
          yield* receive(ledger, ...fifths(2))
          expect((yield* ledger.backlog).waiting.soldOut).toBe(40)
        })
      ))

    it.effect("forgets changes before a product is restocked", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          for (const sold of [0, 20, 40, 60, 80]) {
            yield* receive(ledger, ...hundred((index) => index >= sold && index < sold + 20 ? 0 : 50))
          }
          expect((yield* ledger.backlog).waiting.soldOut).toBe(20)
        })
      ))

    for (
      const [what, stock, kind, text] of [
        ["falls to 1", 1, "fell", "100 fall to a third or less"],
        ["rises to 999999", 999_999, "rose", "100 rise more than tenfold"],
        ["sells out", 0, "soldOut", "100 sell out"]
      ] as const
    ) {
      it.effect(`holds a snapshot in which everything ${what}`, () =>
        taken((ledger) =>
          Effect.gen(function*() {
            const held = yield* Effect.flip(receive(ledger, ...hundred(() => stock)))
            expect(held).toMatchObject({ held: { figures: { [kind]: 100 } } })
            expect(held.message).toContain(`of 100 products, ${text} within`)
            expect(yield* collect(ledger.heldChanges)).toHaveLength(100)
          })
        ))
    }

    it.effect("applies a snapshot in which everything changes plausibly", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, ...hundred(() => 17))
          yield* receive(ledger, ...hundred((index) => index < 50 ? 500 : 60))
          expect(yield* receive(ledger, ...hundred(() => 17))).toMatchObject({ figures: { soldOut: 0, fell: 0, rose: 0 } })
          // Step by step it is as much: 50, 17, 5.
          expect(yield* Effect.flip(receive(ledger, ...hundred(() => 5)))).toMatchObject({ held: { figures: { fell: 100 } } })
        })
      ))

    it.effect("holds a snapshot that misses more than 20% of the products, whether they are left or zeroed", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          const named = (count: number) => hundred((index) => index < count ? 50 : undefined)
          expect(yield* Effect.flip(receive(ledger, ...named(79)))).toMatchObject({
            held: { figures: { catalogue: 100, missing: 21, zeroed: 0, reverted: 0 } }
          })
          expect(yield* collect(ledger.heldChanges)).toContainEqual({ productId: "P99", kind: "missing", from: 50, to: 50 })
          expect(yield* Effect.flip(receiveOn(ledger, zero, ...named(79)))).toMatchObject({
            held: { figures: { missing: 21, zeroed: 21, reverted: 0 } }
          })
          yield* receive(ledger, ...named(85))
          expect(yield* ledger.counts).toMatchObject({ missing: 15 })
          // Missing products add up as well, and sold out ones with those that would be zeroed.
          expect(yield* Effect.flip(receive(ledger, ...named(75)))).toMatchObject({ held: { figures: { catalogue: 100, missing: 25 } } })
          const mixed = hundred((index) => index < 10 ? 0 : index < 85 ? 50 : undefined)
          expect(yield* Effect.flip(receiveOn(ledger, zero, ...mixed))).toMatchObject({
            held: { figures: { soldOut: 10, zeroed: 15, reverted: 0 } }
          })
          yield* TestClock.adjust("1 day")
          yield* receive(ledger, ...named(75))
          expect(yield* ledger.counts).toMatchObject({ missing: 25 })
        })
      ))

    it.effect("holds a snapshot that would zero what was left alone before", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          const named = (count: number) => hundred((index) => index < count ? 50 : undefined)
          for (const count of [85, 72, 60]) {
            yield* receive(ledger, ...named(count))
            yield* TestClock.adjust("1 day")
          }
          expect(yield* Effect.flip(receiveOn(ledger, zero, ...named(60)))).toMatchObject({
            held: { figures: { zeroed: 40, reverted: 0 } }
          })
          expect(yield* collect(ledger.heldChanges)).toContainEqual({ productId: "P99", kind: "missing", from: 50, to: 0 })
          yield* ledger.confirmHeld(2)
          expect(yield* receiveOn(ledger, zero, ...named(60))).toMatchObject({ changed: 40 })
        })
      ))

    it.effect("applies the first snapshot whatever it contains, and new products", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, ...hundred((index) => index < 90 ? 0 : 999_999))
            yield* receive(ledger, ...products(1_000, (index) => index < 90 ? 0 : 999_999))
            expect(yield* ledger.counts).toMatchObject({ pending: 1_000 })
          }))))

    it.effect("does not hold small catalogues for ten products or fewer", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const eleven = (stock: number, zeros: number) => products(11, (index) => index < zeros ? 0 : stock)
            yield* receive(ledger, ...eleven(5, 0))
            yield* receive(ledger, ...eleven(5, 10))
            expect(yield* Effect.flip(receive(ledger, ...eleven(5, 11)))).toMatchObject({
              held: { figures: { soldOut: 11, catalogue: 11 } }
            })
          }))))

    it.effect("requires both the share and the count; products that were at 0 do not count", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          const zeros = (count: number) => hundred((index) => index < count ? 0 : 5)
          const on = (share: number, count: number) => ({ guard: { share, count, window: Duration.days(1) } })
          yield* receiveOn(ledger, on(1, 0), ...zeros(75))
          yield* TestClock.adjust("1 day")
          expect(yield* Effect.flip(receiveOn(ledger, on(0.1, 9), ...zeros(86)))).toMatchObject({ held: { figures: { soldOut: 11 } } })
          yield* receiveOn(ledger, on(0.11, 9), ...zeros(86))
          yield* TestClock.adjust("1 day")
          yield* receiveOn(ledger, on(0, 14), ...zeros(100))
        })
      ))

    it.effect("is as strict after a snapshot that named few products", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          yield* receiveOn(ledger, { guard: { share: 1, count: 0, window: Duration.days(1) } }, row("P0", 50))
          expect(yield* Effect.flip(receive(ledger, ...hundred(() => 0)))).toMatchObject({
            held: { figures: { soldOut: 100, catalogue: 100 } }
          })
        })
      ))

    it.effect("forgets a held snapshot after a plausible one, and gives the next held one another number", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          yield* Effect.flip(receive(ledger, ...hundred(() => 0)))
          yield* receive(ledger, ...hundred(() => 51))
          expect(yield* heldOf(ledger)).toBeUndefined()
          expect(yield* collect(ledger.heldChanges)).toEqual([])
          yield* Effect.flip(receive(ledger, ...hundred(() => 0)))
          expect(yield* heldOf(ledger)).toMatchObject({ number: 4 })
        })
      ))

    it.effect("applies a snapshot that was confirmed by its number, also beside the worker, and resets its window", () =>
      taken((ledger, place) =>
        Effect.gen(function*() {
          yield* Effect.flip(receive(ledger, ...hundred(() => 0)))
          expect((yield* Effect.flip(ledger.confirmHeld(7))).message).toContain("snapshot 7 is not held (any longer); snapshot 2 is")
          expect(yield* using(place, (beside) => beside.confirmHeld(2), "beside")).toMatchObject({ number: 2, confirmed: true })
          expect(yield* heldOf(ledger)).toMatchObject({ number: 2, confirmed: true })
          expect(yield* receive(ledger, ...hundred(() => 0))).toMatchObject({ changed: 100 })
          expect(yield* heldOf(ledger)).toBeUndefined()
          expect((yield* ledger.backlog).waiting.soldOut).toBe(100)
          yield* receive(ledger, ...hundred((index) => index < 20 ? 50 : 0))
          expect(yield* Effect.flip(receive(ledger, ...hundred((index) => index === 0 ? 0 : undefined)))).toMatchObject({
            held: { number: 4 }
          })
          const stale = yield* Effect.flip(ledger.confirmHeld(2))
          expect(stale).toMatchObject({ _tag: "NotHeld" })
          yield* receive(ledger, ...hundred(() => 0))
          expect((yield* Effect.flip(ledger.confirmHeld(4))).message).toMatch(
            /^no snapshot is held in the ledger .+: there is nothing to confirm in it$/
          )
        })
      ))

    it.effect("applies a confirmed snapshot that has changed since, if it has few other implausible changes", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          yield* Effect.flip(receive(ledger, ...hundred((index) => index < 60 ? 0 : 50)))
          yield* ledger.confirmHeld(2)
          // Fewer, other plausible changes, and ten more that sell out.
          expect(yield* receive(ledger, ...hundred((index) => index < 10 ? 50 : index < 70 ? 0 : 40))).toMatchObject({ changed: 90 })
        })
      ))

    it.effect("holds a confirmed snapshot that became more implausible, with a new number", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          yield* Effect.flip(receive(ledger, ...hundred((index) => index < 60 ? 0 : 50)))
          yield* ledger.confirmHeld(2)
          const held = yield* Effect.flip(receive(ledger, ...hundred((index) => index < 60 ? 0 : 1)))
          expect(held).toMatchObject({ held: { number: 3, confirmed: false, figures: { soldOut: 60, fell: 40 } } })
          expect(yield* heldOf(ledger)).toMatchObject({ number: 3, confirmed: false })
          expect(yield* collect(ledger.heldChanges)).toHaveLength(100)
          // Other changes of the same products are others as well.
          yield* ledger.confirmHeld(3)
          expect(yield* Effect.flip(receive(ledger, ...hundred(() => 999_999)))).toMatchObject({ held: { number: 4 } })
        })
      ))

    it.effect("resets its window only with a snapshot that required the confirmation", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          const sold = (count: number) => hundred((index) => index < count ? 0 : 50)
          yield* receive(ledger, ...sold(15))
          yield* Effect.flip(receive(ledger, ...sold(100)))
          yield* ledger.confirmHeld(3)
          yield* receive(ledger, ...sold(15))
          expect(yield* Effect.flip(receive(ledger, ...sold(30)))).toMatchObject({ held: { number: 4, figures: { soldOut: 30 } } })
        })
      ))

    it.effect("counts missing products as such also after their absence was confirmed", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          const half = hundred((index) => index < 50 ? 50 : undefined)
          yield* Effect.flip(receive(ledger, ...half))
          yield* ledger.confirmHeld(2)
          expect(yield* receive(ledger, ...half)).toMatchObject({ changed: 0 })
          expect(yield* ledger.counts).toMatchObject({ missing: 50 })
          // They do not count against the next snapshot, nor when they come back.
          yield* receive(ledger, ...hundred((index) => index < 40 ? 50 : undefined))
          yield* receive(ledger, ...hundred(() => 50))
          expect(yield* ledger.counts).toMatchObject({ missing: 0 })
        })
      ))

    it.effect("does not count excluded products", () =>
      taken((ledger) =>
        Effect.gen(function*() {
          const excluded = Array.from({ length: 40 }, (_, index) => `P${index}`)
          expect(yield* receiveWithout(ledger, excluded, ...hundred((index) => index < 40 ? undefined : 50)))
            .toMatchObject({ rows: 60, figures: { missing: 0, catalogue: 100 } })
          expect(yield* receiveWithout(ledger, excluded, ...hundred((index) => index < 40 ? undefined : 50)))
            .toMatchObject({ figures: { missing: 0, catalogue: 60 } })
        })
      ))
  })

  describe("products that are missing", () => {
    it.effect("are counted as missing, and in their state", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const states = ["settled", "pending", "sending", "doubtful", "quarantined"] as const
            // Two of each state, one of them missing; one more of the pending ones stays.
            const kept = states.map((state) => row(`kept ${state}`, 1))
            const missing = states.map((state) => row(`missing ${state}`, 1))
            yield* receive(ledger, ...kept, ...missing, row("kept too", 1))
            for (const whose of ["kept", "missing"]) {
              yield* settle(ledger, `${whose} settled`)
              for (const state of ["doubtful", "quarantined"] as const)
                yield* failing(ledger, `${whose} ${state}`, state, { retryIn: Duration.hours(1) })
            }
            for (let n = 0; n < 5; n++) yield* take(ledger)
            const counts = {
              settled: 2,
              pending: 0,
              sending: 5,
              doubtful: 2,
              uncertain: 0,
              quarantined: 2,
              missing: 0,
              rejectedRows: 0,
              negativeRows: 0,
              ruleIssues: 0
            }
            expect(yield* ledger.counts).toEqual(counts)
            yield* receive(ledger, ...kept, row("kept too", 1))
            expect(yield* ledger.counts).toEqual({ ...counts, missing: 5 })
          }))))

    it.effect("are set to 0 on request, also those that were missing before, and sent as sold out, until they are named again", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
            for (const each of ["A", "B", "C"]) yield* settle(ledger, each)
            yield* receive(ledger, row("B", 2), row("C", 3))
            expect(yield* receiveOn(ledger, zero, row("C", 3))).toMatchObject({
              changed: 2,
              figures: { zeroed: 2, missing: 2, catalogue: 3 },
              missingKept: false
            })
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A", priority: "soldOut", to: 0 }, {
              productId: "B",
              priority: "soldOut",
              to: 0
            }])
            yield* settle(ledger, "A")
            expect(yield* receiveOn(ledger, zero, row("C", 3))).toMatchObject({ changed: 0, figures: { zeroed: 0, missing: 2 } })
            yield* receiveOn(ledger, zero, row("A", 8), row("C", 3))
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "B", to: 0 }, { productId: "A", priority: "backInStock", to: 8 }])
          }))))

    it.effect("are not those of a rejected row, and none is missing for certain while such a row names no known product", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
            for (const each of ["A", "B", "C"]) yield* settle(ledger, each)
            for (const nobody of [bad(undefined, "productId is empty"), bad("Ghost", "stock is empty")]) {
              expect(yield* receiveOn(ledger, zero, row("A", 1), nobody)).toMatchObject({ missingKept: true })
              expect(yield* queueOf(ledger)).toEqual([])
            }
            // Rows may be missing behind a last one that is cut.
            expect(yield* receiveOn(ledger, zero, row("A", 1), bad("B", "stock \"3ORA-01555\" is not a number"))).toMatchObject({
              missingKept: true
            })
            expect(yield* queueOf(ledger)).toEqual([])
            yield* receiveOn(ledger, zero, bad("B", "stock is empty"), row("A", 1))
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "C", to: 0 }])
          }))))

    it.effect("are quarantined like any other product", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2))
            yield* receiveOn(ledger, zero, row("B", 2))
            yield* failing(ledger, "A", "quarantined", { observed: "absent", retryIn: Duration.hours(1) })
            yield* receiveOn(ledger, zero, row("B", 2))
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "B" }])
            expect(yield* stateOf(ledger, "A")).toBe("quarantined")
          }))))

    it.effect("keep their delay after a failure when they are named again", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2))
            yield* failing(ledger, "A", "pending", { retryIn: Duration.minutes(1) })
            yield* receive(ledger, row("B", 2))
            yield* receive(ledger, row("A", 1), row("B", 2))
            expect(yield* entryOf(ledger, "A")).toMatchObject({ dueAt: utc(60_000), attempts: 1 })
          }))))
  })
}

/** For a ledger that can be copied. */
export const previews = (kind: Kind): void => {
  const taken = onCatalogue(kind)

  describe("a preview", () => {
    it.effect("equals the effect of the snapshot, and leaves the ledger unchanged", () =>
      taken((ledger, place) =>
        Effect.gen(function*() {
          for (let index = 0; index < 30; index++) yield* settle(ledger, `P${index}`)
          yield* failing(ledger, "P40", "quarantined")
          const next = [
            ...hundred((index) => index < 15 ? 0 : index < 90 ? 49 : undefined),
            bad("P95", "stock is empty"),
            bad("New", "is odd")
          ]
          const all = (of: Ledger["Service"]) =>
            Effect.all([
              collect(of.queue),
              collect(of.all),
              collect(of.rowIssues),
              of.counts,
              of.backlog,
              of.snapshot,
              collect(of.heldChanges)
            ])
          const before = yield* all(ledger)
          const previewed = yield* using(place, (copy) =>
            Effect.gen(function*() {
              expect(yield* all(copy)).toEqual(before)
              const preview = yield* copy.previewSnapshot(intake(Stream.fromIterable(next)), { ...policy, ...zero })
              return [preview, yield* all(copy)] as const
            }), "copy")
          expect(yield* all(ledger)).toEqual(before)
          const received = yield* receiveOn(ledger, zero, ...next)
          expect(previewed[0]).toEqual({ ...received, held: Option.none() })
          expect(yield* all(ledger)).toEqual(previewed[1])
        })
      ))

    it.effect("shows what would be held and then sent, and holds nothing", () =>
      taken((ledger, place) =>
        Effect.gen(function*() {
          const next = hundred(() => 0)
          const preview = yield* using(place, (copy) =>
            Effect.gen(function*() {
              const preview = yield* copy.previewSnapshot(intake(Stream.fromIterable(next)), policy)
              expect((yield* copy.backlog).waiting.soldOut).toBe(100)
              expect(yield* collect(copy.heldChanges)).toHaveLength(100)
              return preview
            }), "copy")
          expect(Option.getOrUndefined(preview.held)).toMatchObject({ number: 2, figures: { soldOut: 100 } })
          expect(yield* heldOf(ledger)).toBeUndefined()
          const held = yield* Effect.flip(receive(ledger, ...next))
          expect(Option.getOrUndefined(preview.held)).toMatchObject({ figures: held._tag === "SnapshotHeld" ? held.held.figures : {} })
        })
      ))
  })
}
