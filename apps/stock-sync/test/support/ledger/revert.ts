/** What a revert restores and undoes, and which snapshots are held after it, in every database. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Ledger } from "../../../src/ledger/Ledger.ts"
import type { RevertOptions } from "../../../src/ledger/Snapshot.ts"
import { utc } from "../utc.ts"
import type { Kind } from "./kind.ts"
import {
  at,
  bad,
  begin,
  collect,
  entryOf,
  type Place,
  queueOf,
  receive,
  receiveOn,
  receiveWithout,
  row,
  settle,
  unguarded,
  using
} from "./using.ts"

const options: RevertOptions = {
  guard: { share: 0.2, count: 10, window: Duration.days(1) },
  confirmed: false,
  preview: false,
  limit: undefined
}

const wantedOf = (ledger: Ledger["Service"]) =>
  Effect.map(collect(ledger.all), (all) => Object.fromEntries(all.map(({ productId, wanted }) => [productId, wanted])))

const rowsOf = (stocks: Readonly<Record<string, number | undefined>>) =>
  Object.entries(stocks).flatMap(([id, stock]) => stock === undefined ? [] : [row(id, stock)])

/** A ledger that has taken three snapshots: A and B; B sold out and C new; A and C changed. All is settled. */
const onThree = (kind: Kind) => (test: (ledger: Ledger["Service"], place: Place) => Effect.Effect<void, unknown>) =>
  at(kind, (place) =>
    using(place, (ledger) =>
      Effect.gen(function*() {
        for (const [index, stocks] of [{ A: 5, B: 7 }, { A: 5, B: 0, C: 3 }, { A: 6, B: 0, C: 4 }].entries()) {
          yield* TestClock.setTime(1_000 * (index + 1))
          yield* receive(ledger, ...rowsOf(stocks))
        }
        for (const id of ["A", "B", "C"]) yield* settle(ledger, id)
        yield* TestClock.setTime(10_000)
        yield* test(ledger, place)
      })))

/** A snapshot of the source, or a revert by so many snapshots. */
type Step = { readonly stocks: Readonly<Record<string, number | undefined>>; readonly zero: boolean } | { readonly back: number }

export const revert = (kind: Kind, runs: number): void => {
  const three = onThree(kind)

  describe("a revert", () => {
    it.effect("lists the snapshots with changes, the latest first", () =>
      three((ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, ...rowsOf({ A: 6, B: 0, C: 4 }))
          expect(yield* ledger.pastSnapshots).toEqual([
            { number: 3, takenAt: utc(3_000), rows: 3, changed: 2, revertedTo: undefined },
            { number: 2, takenAt: utc(2_000), rows: 3, changed: 2, revertedTo: undefined },
            { number: 1, takenAt: utc(1_000), rows: 2, changed: 2, revertedTo: undefined }
          ])
        })
      ))

    it.effect("makes the stock of an earlier snapshot wanted, also beside the worker, and keeps products that are new since", () =>
      three((ledger, place) =>
        Effect.gen(function*() {
          const reverted = yield* using(place, (beside) => beside.revert(1, options), "beside")
          expect(reverted).toMatchObject({ number: 4, changed: 2, isImplausible: false, to: { number: 1, takenAt: utc(1_000) } })
          expect(reverted.changes).toEqual([
            { productId: "A", from: 6, to: 5, kind: undefined },
            { productId: "B", from: 0, to: 7, kind: undefined }
          ])
          expect(yield* queueOf(ledger)).toEqual([
            { productId: "A", priority: "falling", from: 6, to: 5 },
            { productId: "B", priority: "backInStock", from: 0, to: 7 }
          ])
          expect((yield* entryOf(ledger, "C"))?.wanted).toBe(4)
          expect((yield* ledger.pastSnapshots)[0]).toEqual({ number: 4, takenAt: utc(10_000), rows: 2, changed: 2, revertedTo: 1 })
          expect((yield* ledger.snapshot).reverted).toEqual({ to: 1, at: utc(10_000) })
          expect((yield* ledger.events).at(-1)).toMatchObject({ kind: "snapshotReverted", detail: "to snapshot 1", count: 2 })
        })
      ))

    it.effect("holds a source that still has a change which was undone, takes it once it is right, and then forgets the revert", () =>
      three((ledger) =>
        Effect.gen(function*() {
          yield* ledger.revert(2, options)
          const wrong = { A: 6, B: 0, C: 4 }
          const held = yield* Effect.flip(receive(ledger, ...rowsOf(wrong)))
          expect(held).toMatchObject({ _tag: "SnapshotHeld", held: { number: 5, figures: { catalogue: 3, reverted: 2, fell: 0 } } })
          expect(held.message).toContain("is held as snapshot 5, because of 3 products, 2 get a stock that was reverted. Nothing")
          expect(yield* collect(ledger.heldChanges)).toEqual([
            { productId: "A", kind: "reverted", from: 5, to: 6 },
            { productId: "C", kind: "reverted", from: 3, to: 4 }
          ])
          // Still wrong in one product, and with a sale in another one.
          expect(yield* Effect.flip(receive(ledger, ...rowsOf({ A: 6, B: 0, C: 2 })))).toMatchObject({ held: { figures: { reverted: 1 } } })
          expect(yield* wantedOf(ledger)).toEqual({ A: 5, B: 0, C: 3 })
          yield* receive(ledger, ...rowsOf({ A: 5, B: 0, C: 2 }))
          expect(yield* wantedOf(ledger)).toEqual({ A: 5, B: 0, C: 2 })
          expect(yield* ledger.snapshot).toMatchObject({ reverted: undefined })
          yield* receive(ledger, ...rowsOf(wrong))
          expect(yield* wantedOf(ledger)).toEqual(wrong)
        })
      ))

    it.effect("goes on holding what was undone after a snapshot that omits, rejects or excludes the products", () =>
      three((ledger) =>
        Effect.gen(function*() {
          yield* ledger.revert(2, options)
          // C alone is right.
          yield* receive(ledger, bad("A", "stock is empty"), row("B", 0), row("C", 3))
          yield* receive(ledger, row("B", 0), row("C", 3))
          yield* receiveWithout(ledger, ["A"], row("B", 0), row("C", 3))
          expect((yield* ledger.snapshot).reverted).toMatchObject({ to: 2 })
          expect(yield* Effect.flip(receive(ledger, ...rowsOf({ A: 6, B: 0, C: 4 })))).toMatchObject({ held: { figures: { reverted: 1 } } })
          yield* receive(ledger, ...rowsOf({ A: 5, B: 0, C: 4 }))
          expect((yield* ledger.snapshot).reverted).toBeUndefined()
        })
      ))

    it.effect("takes what was undone if a person confirms it", () =>
      three((ledger) =>
        Effect.gen(function*() {
          const wrong = rowsOf({ A: 6, B: 0, C: 4 })
          yield* ledger.revert(2, options)
          yield* Effect.flip(receive(ledger, ...wrong))
          yield* ledger.confirmHeld(5)
          expect(yield* receive(ledger, ...wrong)).toMatchObject({ changed: 2 })
          expect(yield* wantedOf(ledger)).toEqual({ A: 6, B: 0, C: 4 })
          // The confirmed snapshot keeps its number.
          expect((yield* ledger.pastSnapshots).map(({ number }) => number)).toEqual([5, 4, 3, 2, 1])
          expect((yield* ledger.snapshot).reverted).toBeUndefined()
        })
      ))

    it.effect("is undone by a revert to the snapshot before it, whose changes then are right", () =>
      three((ledger) =>
        Effect.gen(function*() {
          yield* ledger.revert(1, options)
          yield* ledger.revert(2, options)
          expect(yield* wantedOf(ledger)).toEqual({ A: 5, B: 0, C: 3 })
          yield* ledger.revert(3, options)
          expect(yield* wantedOf(ledger)).toEqual({ A: 6, B: 0, C: 4 })
          expect((yield* ledger.pastSnapshots).map(({ number }) => number)).toEqual([6, 5, 4, 3, 2, 1])
          expect(yield* receive(ledger, ...rowsOf({ A: 6, B: 0, C: 4 }))).toMatchObject({ changed: 0, figures: { reverted: 0 } })
        })
      ))

    it.effect("changes nothing as a preview, if it would be held, or if nothing differs", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const hundred = (stock: number) => Array.from({ length: 100 }, (_, index) => row(`P${index}`, stock))
            yield* receive(ledger, ...hundred(0))
            yield* TestClock.adjust("2 days")
            yield* receiveOn(ledger, unguarded, ...hundred(50))
            yield* TestClock.adjust("2 days")
            for (
              const given of [{ preview: true, confirmed: true }, { preview: true, confirmed: false }, { preview: false, confirmed: false }]
            ) {
              const reverted = yield* ledger.revert(1, { ...options, ...given, limit: 3 })
              expect(reverted).toMatchObject({ number: undefined, changed: 100, isImplausible: true, figures: { soldOut: 100 } })
              expect(reverted.changes).toHaveLength(3)
              expect(reverted.changes[0]).toEqual({ productId: "P0", from: 50, to: 0, kind: "soldOut" })
            }
            expect((yield* ledger.backlog).waiting.soldOut).toBe(0)
            expect(yield* ledger.pastSnapshots).toHaveLength(2)
            expect(yield* ledger.revert(1, { ...options, confirmed: true })).toMatchObject({ number: 3, isImplausible: true })
            expect((yield* ledger.backlog).waiting.soldOut).toBe(100)
            // Confirmed changes count as plausible from now on.
            yield* receive(ledger, ...hundred(0))
            yield* receiveOn(ledger, unguarded, ...hundred(1))
            yield* receive(ledger, ...hundred(0))
            expect(yield* ledger.revert(4, { ...options, preview: true })).toMatchObject({ changed: 100 })
            expect(yield* ledger.revert(3, options)).toMatchObject({ number: undefined, changed: 0 })
          }))))

    it.effect("refuses a snapshot that is unknown, the last one, or too old", () =>
      three((ledger) =>
        Effect.gen(function*() {
          const message = (to: number) => Effect.map(Effect.flip(ledger.revert(to, options)), (failure) => failure.message)
          expect(yield* message(3)).toBe("snapshot 3 is the last one: name an earlier one. `plaza-stock-sync revert` lists them")
          expect(yield* message(9)).toMatch(/^the stock of snapshot 9 can't be restored: it was never applied, or is too old\. `/)
        })
      ))

    it.effect("says that there is nothing before the first snapshot", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            expect((yield* Effect.flip(ledger.revert(1, options))).message).toMatch(/has no snapshot yet: there is nothing to revert to$/)
            expect(yield* ledger.pastSnapshots).toEqual([])
          }))))

    it.effect("drops a held snapshot, leaves excluded products alone, and restores those that were set to 0", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
            yield* receiveOn(ledger, { missing: "zero" }, row("A", 4), row("C", 5))
            yield* receiveWithout(ledger, ["C"], row("A", 4))
            yield* ledger.revert(1, options)
            expect(yield* wantedOf(ledger)).toEqual({ A: 1, B: 2, C: 5 })
            // The source that misses B would set it to 0 again.
            expect(yield* Effect.flip(receiveOn(ledger, { missing: "zero" }, row("A", 9), row("C", 5)))).toMatchObject({
              held: { figures: { reverted: 1 } }
            })
            yield* ledger.revert(2, options)
            expect(yield* ledger.snapshot).toMatchObject({ reverted: { to: 2 } })
            expect(yield* collect(ledger.heldChanges)).toEqual([])
          }))))

    it.effect("leaves a request in flight to its outcome, and then sends the restored stock", () =>
      three((ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, ...rowsOf({ A: 8, B: 0, C: 4 }))
          const send = yield* begin(ledger, "A")
          yield* ledger.revert(3, options)
          expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "sending", wanted: 6 })
          yield* ledger.confirm(send)
          expect(yield* queueOf(ledger)).toEqual([{ productId: "A", priority: "falling", from: 8, to: 6 }])
        })
      ))

    it.effect("keeps the changes of the last snapshots, and at least those of the last one", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const many = (stock: number) => Array.from({ length: 900 }, (_, index) => row(`P${index}`, stock))
            for (const stock of [1, 2, 3, 4]) yield* receiveOn(ledger, unguarded, ...many(stock))
            // 2,000 changes are kept: two snapshots of 900.
            expect((yield* ledger.pastSnapshots).map(({ number }) => number)).toEqual([4, 3, 2])
            yield* receiveOn(ledger, { ...unguarded, missing: "zero" }, row("P0", 9))
            expect((yield* ledger.pastSnapshots).map(({ number }) => number)).toEqual([5, 4, 3])
            yield* ledger.revert(3, { ...options, confirmed: true })
            expect((yield* ledger.backlog).waiting.rest).toBe(900)
            expect(new Set(Object.values(yield* wantedOf(ledger)))).toEqual(new Set([3]))
          }))))

    const stock = Generate.between(0, 3)
    const stocks = Generate.someOf({ A: stock, B: stock, C: stock, D: stock })
    const step = Generate.oneOf<Step>(
      Arbitrary.map(Arbitrary.all([stocks, Generate.boolean]), ([stocks, zero]) => ({ stocks, zero })),
      Arbitrary.map(Generate.between(1, 5), (back) => ({ back }))
    )
    it.effect.prop("restores exactly the stock of that time, whatever happened since", [Generate.arrayOf(step, { maxLength: 12 })],
      ([steps]) =>
        at(kind, (place) =>
          using(place, (ledger) =>
            Effect.gen(function*() {
              const states = new Map<number, Readonly<Record<string, number>>>()
              for (const each of steps) {
                const past = yield* ledger.pastSnapshots
                if ("back" in each) {
                  const to = past[each.back]?.number
                  if (to === undefined) continue
                  const before = yield* wantedOf(ledger)
                  yield* ledger.revert(to, { ...options, confirmed: true })
                  // Products that were unknown then keep their stock.
                  expect(yield* wantedOf(ledger)).toEqual({ ...before, ...states.get(to) })
                } else {
                  const given = { ...unguarded, missing: each.zero ? "zero" : "leave" } as const
                  const taken = receiveOn(ledger, given, ...rowsOf(each.stocks))
                  yield* Effect.catchTag(taken, "SnapshotHeld", ({ held }) => Effect.andThen(ledger.confirmHeld(held.number), taken))
                }
                const [last] = yield* ledger.pastSnapshots
                if (last !== undefined) states.set(last.number, yield* wantedOf(ledger))
              }
            }))), { arbitrary: { runs } })
  })
}
