/** Which sources are accepted without a question after a revert, in every database. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Duration, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Ledger } from "../../../src/ledger/Ledger.ts"
import type { RevertOptions, SnapshotPolicy } from "../../../src/ledger/Snapshot.ts"
import type * as DropGuard from "../../../src/ledger/snapshot/DropGuard.ts"
import type { Kind } from "./kind.ts"
import { at, bad, collect, entryOf, intake, policy, row, using } from "./using.ts"

/** What a source says of a product: its stock, a row that is rejected, or nothing because a rule excludes it. */
type Cell = number | "rejected" | "excluded"
type Source = Readonly<Record<string, Cell | undefined>>
type Step = { readonly source: Source } | { readonly back: number } | { readonly days: number }

const options: RevertOptions = { guard: policy.guard, confirmed: false, preview: false, limit: undefined }
const confirmed: RevertOptions = { ...options, confirmed: true }
/** Holds a single implausible change. */
const strict: DropGuard.Limits = { share: 0, count: 0, window: Duration.days(1) }
const unlimited: DropGuard.Limits = { share: 1, count: 1_000_000, window: Duration.days(1) }

const wantedOf = (ledger: Ledger["Service"]) =>
  Effect.map(collect(ledger.all), (all): Readonly<Record<string, number>> =>
    Object.fromEntries(all.map(({ productId, wanted }) => [productId, wanted])))

const receive = (ledger: Ledger["Service"], source: Source, further: Partial<SnapshotPolicy> = {}) => {
  const cells = Object.entries(source)
  const rows = cells.flatMap(([id, cell]) => typeof cell === "number" ? [row(id, cell)] : cell === "rejected" ? [bad(id, "no stock")] : [])
  const excluded = cells.flatMap(([id, cell]) => cell === "excluded" ? [id] : [])
  return ledger.applySnapshot(intake(Stream.fromIterable(rows), excluded), { ...policy, maxBadRows: 1, ...further })
}

/** Takes a source, and confirms it if it is held. */
const confirm = (ledger: Ledger["Service"], source: Source, further: Partial<SnapshotPolicy> = {}) => {
  const received = receive(ledger, source, further)
  return Effect.catchTag(received, "SnapshotHeld", ({ held }) => Effect.andThen(ledger.confirmHeld(held.number), received))
}

/** Products from one number to another, all with this stock. */
const products = (from: number, to: number, stock: Cell): Source =>
  Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`P${from + index}`, stock]))

const inLedger = (kind: Kind, test: (ledger: Ledger["Service"]) => Effect.Effect<void, unknown>) => at(kind, (place) => using(place, test))

// Each kind of implausible change is between two of them.
const stock = Generate.elementOf([0, 3, 500])
const known = Generate.oneOf<Cell>(stock, stock, Generate.anyOf(["rejected", "excluded"]))
const anySource: Arbitrary.Arbitrary<Source> = Arbitrary.map(
  Generate.someOf({ A: known, B: known, C: known, D: stock, E: stock }),
  // A source in which all rows are rejected is refused.
  (source) => ({ ...source, Z: 1 })
)
const anySteps = Generate.arrayOf(
  Generate.oneOf<Step>(
    Arbitrary.map(anySource, (source) => ({ source })),
    Arbitrary.map(anySource, (source) => ({ source })),
    Arbitrary.map(Generate.between(1, 3), (back) => ({ back })),
    Arbitrary.map(Generate.boolean, () => ({ days: 2 }))
  ),
  { maxLength: 8 }
)
const first: Source = { A: 3, B: 500, C: 0, Z: 1 }

/** Takes the steps. Returns the last source, and what each snapshot that can be restored was. */
const walk = (ledger: Ledger["Service"], further: Partial<SnapshotPolicy>, steps: ReadonlyArray<Step>) =>
  Effect.gen(function*() {
    const taken = new Map<number, { readonly source: Source; readonly stocks: Readonly<Record<string, number>> }>()
    let last: Source = first
    for (const step of [{ source: first }, ...steps]) {
      const past = yield* ledger.pastSnapshots
      if ("days" in step) yield* TestClock.adjust(Duration.days(step.days))
      else if ("source" in step) {
        last = step.source
        yield* confirm(ledger, step.source, further)
        const [newest] = yield* ledger.pastSnapshots
        if (newest !== undefined && newest.number !== past[0]?.number) {
          taken.set(newest.number, { source: step.source, stocks: yield* wantedOf(ledger) })
        }
      } else {
        const to = past[step.back]?.number
        if (to !== undefined) yield* ledger.revert(to, confirmed)
      }
    }
    const past = (yield* ledger.pastSnapshots).slice(1).flatMap(({ number }) => {
      const snapshot = taken.get(number)
      return snapshot === undefined ? [] : [{ number, ...snapshot }]
    })
    return { last, past }
  })

export const revertedSource = (kind: Kind, runs: number): void => {
  describe("the source after a revert", () => {
    it.effect("is not asked about missing products that were confirmed before, whatever the wrong source did with them", () =>
      inLedger(kind, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, products(0, 60, 5))
          yield* confirm(ledger, products(30, 60, 5))
          // Named again, with wrong stocks.
          yield* confirm(ledger, products(0, 60, 200))
          yield* ledger.revert(1, confirmed)
          expect(yield* receive(ledger, products(30, 60, 5))).toMatchObject({ changed: 0, figures: { missing: 0 } })
          // Set to 0.
          const [before] = yield* ledger.pastSnapshots
          yield* confirm(ledger, products(30, 60, 5), { missing: "zero" })
          yield* ledger.revert(before?.number ?? 0, confirmed)
          expect((yield* entryOf(ledger, "P0"))?.wanted).toBe(5)
          expect(yield* receive(ledger, products(30, 60, 5))).toMatchObject({ changed: 0, figures: { missing: 0 } })
        })))

    it.effect("is not asked about products that were missing in the restored snapshot and set to 0", () =>
      inLedger(kind, (ledger) =>
        Effect.gen(function*() {
          const zero = { missing: "zero" } as const
          yield* receive(ledger, products(0, 60, 5), zero)
          yield* confirm(ledger, products(30, 60, 5), zero)
          yield* confirm(ledger, products(0, 60, 200), zero)
          yield* ledger.revert(2, confirmed)
          expect((yield* entryOf(ledger, "P0"))?.wanted).toBe(0)
          expect(yield* receive(ledger, products(30, 60, 5), zero)).toMatchObject({ changed: 0, figures: { missing: 0, zeroed: 0 } })
        })))

    for (const missing of ["leave", "zero"] as const) {
      it.effect(`may have the products that are new since, and may lack them, with --gone ${missing}`, () =>
        inLedger(kind, (ledger) =>
          Effect.gen(function*() {
            const right = products(30, 60, 5)
            const wrong = { ...right, ...products(30, 38, 200), ...products(0, 30, 300) }
            yield* receive(ledger, right, { missing })
            yield* receive(ledger, wrong, { missing })
            yield* ledger.revert(1, options)
            // As any other product, until a source says otherwise.
            expect(yield* ledger.counts).toMatchObject({ missing: 0 })
            expect(yield* receive(ledger, { ...wrong, ...right }, { missing })).toMatchObject({ changed: 0 })
            // Named by a source that was accepted since, so the guard counts them again.
            expect(yield* Effect.flip(receive(ledger, right, { missing }))).toMatchObject({ held: { figures: { missing: 30 } } })
            yield* ledger.revert(1, options)
            expect(yield* receive(ledger, right, { missing })).toMatchObject({ changed: missing === "zero" ? 30 : 0 })
            expect((yield* entryOf(ledger, "P0"))?.wanted).toBe(missing === "zero" ? 0 : 300)
            expect(yield* ledger.counts).toMatchObject({ missing: 30 })
            // They count as confirmed.
            expect(yield* receive(ledger, products(32, 60, 5), { missing })).toMatchObject({ figures: { missing: 2, soldOut: 0 } })
          })))
    }

    it.effect("is asked about missing products that no accepted source has missed since", () =>
      inLedger(kind, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, products(0, 60, 5))
          yield* confirm(ledger, products(0, 60, 200))
          yield* ledger.revert(1, confirmed)
          expect(yield* Effect.flip(receive(ledger, products(30, 60, 5)))).toMatchObject({ held: { figures: { missing: 30 } } })
        })))

    const missings = Generate.anyOf(["leave", "zero"])
    const back = Generate.between(0, 2)

    it.effect.prop("is accepted without a question if it is that of the restored snapshot, and changes nothing", [missings, anySteps, back],
      ([missing, steps, back]) =>
        inLedger(kind, (ledger) =>
          Effect.gen(function*() {
            const to = (yield* walk(ledger, { missing, guard: strict }, steps)).past[back]
            if (to === undefined) return
            yield* ledger.revert(to.number, confirmed)
            const reverted = yield* wantedOf(ledger)
            yield* receive(ledger, to.source, { missing, guard: strict })
            // Products that were unknown then are missing. Those that a rule excluded at the revert have waited for the source.
            const expected = Object.entries(reverted).map(([id, wanted]) => {
              const cell = to.source[id]
              return [id, typeof cell === "number" ? cell : missing === "zero" && cell === undefined ? 0 : wanted]
            })
            expect(yield* wantedOf(ledger)).toEqual(Object.fromEntries(expected))
          })), { arbitrary: { runs } })

    const others = Generate.someOf({
      A: Generate.boolean,
      B: Generate.boolean,
      C: Generate.boolean,
      D: Generate.boolean,
      E: Generate.boolean
    })
    it.effect.prop("is not held if it would not be without the revert, when it has the right stocks and changes of other products", [
      missings,
      anySteps,
      back,
      others
    ], ([missing, steps, back, others]) =>
      Effect.gen(function*() {
        const isAccepted = (isReverted: boolean) =>
          at(kind, (place) =>
            using(place, (ledger) =>
              Effect.gen(function*() {
                const { last, past } = yield* walk(ledger, { missing, guard: unlimited }, steps)
                const to = past[back]
                if (to === undefined) return true
                const wrong = yield* wantedOf(ledger)
                if (isReverted) yield* ledger.revert(to.number, { ...options, guard: unlimited })
                const right = { ...last }
                for (const [id, stock] of Object.entries(to.stocks)) {
                  if (stock !== wrong[id] && (typeof last[id] === "number" || missing === "zero")) right[id] = stock
                }
                for (const [id, isSold] of Object.entries(others)) {
                  if (to.stocks[id] !== undefined && to.stocks[id] !== wrong[id]) continue
                  if (isSold && typeof right[id] === "number") right[id] = 1
                  if (!isSold && wrong[id] !== 0) delete right[id]
                }
                return yield* Effect.match(receive(ledger, right, { missing, guard: strict }), {
                  onFailure: () => false,
                  onSuccess: () => true
                })
              })))
        if (yield* isAccepted(false)) expect(yield* isAccepted(true)).toBe(true)
      }), { arbitrary: { runs } })
  })
}
