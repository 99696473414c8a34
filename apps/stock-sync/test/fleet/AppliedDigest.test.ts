/** A snapshot with the rows of the last applied one is recognised, and the ledger is as if it had been compared. */
import { describe, expect, it } from "@effect/vitest"
import type { Row } from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, DateTime, Effect, Exit, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import { type Fleet, inAccount, newAccount, open, server, takeOver } from "../support/ledger/fleet.ts"
import { bad, collect, intake, negative, options, policy, row, unguarded } from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"

let fleet: Fleet
shared(server, (built) => {
  fleet = built
})

const opened = Effect.suspend(() => Effect.flatMap(newAccount(fleet), (id) => open(fleet, id, options)))

const lenient = { ...policy, ...unguarded }
const rows = [row("A", 4, 1), row("B", 0, 2), negative("C", 3)]
const more = [row("A", 5, 1), row("B", 0, 2), negative("C", 3)]
const apply = (ledger: Ledger["Service"], given: ReadonlyArray<Row>, excluded: ReadonlyArray<string> = [], how = lenient) =>
  ledger.applySnapshot(intake(Stream.fromIterable(given), excluded), how)

describe("a snapshot with the rows of the last applied one", () => {
  it.effect("changes nothing but the time of the snapshot, also after a takeover", () =>
    Effect.gen(function*() {
      const id = yield* newAccount(fleet)
      const first = yield* open(fleet, id, options)
      const applied = yield* apply(first, rows)
      expect(applied).toMatchObject({ rows: 3, changed: 3, negative: 1 })
      expect(applied.repeated).toBeUndefined()
      const before = yield* collect(first.all)
      yield* TestClock.adjust("1 hour")
      const ledger = yield* fleet.ledgers.open(yield* takeOver(fleet, id, "next"), options, "again")
      expect(yield* apply(ledger, rows)).toEqual({ ...applied, changed: 0, repeated: true })
      expect(yield* collect(ledger.all)).toEqual(before)
      expect((yield* ledger.snapshot).takenAt).toEqual(DateTime.makeUnsafe(3_600_000))
    }))

  it.effect("is compared if its excluded products, its policy or the rows differ, and after another one", () =>
    Effect.gen(function*() {
      const ledger = yield* opened
      const repeated = (given: ReadonlyArray<Row>, excluded?: ReadonlyArray<string>, how?: typeof lenient) =>
        Effect.map(apply(ledger, given, excluded, how), (result) => result.repeated === true)
      expect(yield* repeated(rows)).toBe(false)
      expect(yield* repeated(rows)).toBe(true)
      expect(yield* repeated(rows, ["D"])).toBe(false)
      expect(yield* repeated(rows, ["D"])).toBe(true)
      expect(yield* repeated(rows)).toBe(false)
      expect(yield* repeated(rows, [], { ...lenient, missing: "zero" })).toBe(false)
      expect(yield* repeated(rows, [], { ...lenient, missing: "zero" })).toBe(true)
      expect(yield* repeated(more)).toBe(false)
      expect(yield* repeated(rows)).toBe(false)
      const limited = (max: number) =>
        ledger.applySnapshot({
          ...intake(Stream.fromIterable(rows)),
          adjustments: { all: { max }, products: new Map([["B", {}]]) }
        }, lenient)
      expect(yield* limited(3)).toMatchObject({ changed: 1 })
      expect(yield* limited(3)).toMatchObject({ changed: 0, repeated: true })
      expect(yield* limited(2)).toMatchObject({ changed: 1 })
    }))

  it.effect("ends the hold of a later one", () =>
    Effect.gen(function*() {
      const ledger = yield* opened
      const many = (stock: number) => Array.from({ length: 100 }, (_, index) => row(`P${index}`, stock, index + 1))
      yield* apply(ledger, many(9))
      yield* apply(ledger, many(9), [], policy)
      expect(yield* Effect.flip(apply(ledger, many(0), [], policy))).toMatchObject({ _tag: "SnapshotHeld" })
      expect((yield* apply(ledger, many(9), [], policy)).repeated).toBeUndefined()
      expect((yield* ledger.snapshot).held).toEqual(Option.none())
    }))

  it.effect("is not recognised if it has more rows than are kept in memory", () =>
    Effect.gen(function*() {
      const ledger = yield* opened
      const many = Array.from({ length: 12_000 }, (_, index) => row(`P${index}`, 1, index + 1))
      yield* apply(ledger, rows)
      yield* apply(ledger, many)
      expect((yield* apply(ledger, many)).repeated).toBeUndefined()
      expect((yield* apply(ledger, rows)).repeated).toBeUndefined()
    }), 60_000)

  const cells = Generate.elementOf<Row>([
    row("A", 1, 1),
    row("A", 2, 1),
    row("B", 0, 2),
    row("B", 7, 2),
    negative("C", 3),
    bad("D", "no stock", 4),
    row("D", 3, 4)
  ])
  const feed = Arbitrary.all({
    rows: Generate.arrayOf(cells, { maxLength: 4 }),
    excluded: Generate.elementOf([[], ["A"], ["D"], ["A", "D"]])
  })
  // A few feeds, so that many snapshots repeat the one before.
  const feeds = Arbitrary.flatMap(Arbitrary.all([feed, feed]),
    (pair) => Generate.arrayOf(Generate.elementOf(pair), { minLength: 2, maxLength: 6 }))

  it.effect.prop("leaves the ledger as a comparison would", { steps: feeds, missing: Generate.anyOf(["leave", "zero"]) },
    ({ missing, steps }) =>
      Effect.gen(function*() {
        const quick = yield* opened
        const id = yield* newAccount(fleet)
        const compared = yield* open(fleet, id, options)
        const how = { ...lenient, missing, maxBadRows: 1 }
        for (const { excluded, rows: given } of steps) {
          yield* TestClock.adjust("1 minute")
          const results = yield* Effect.forEach([quick, compared], (ledger) => Effect.exit(apply(ledger, given, excluded, how)))
          yield* inAccount(fleet, id, (sql, account) => sql`UPDATE snapshot SET digest = NULL WHERE account = ${account}`)
          expect(results.map(Exit.isSuccess)[0]).toBe(results.map(Exit.isSuccess)[1])
          for (const read of ["all", "rowIssues", "queue"] as const) {
            expect(yield* Stream.runCollect<unknown, unknown, never>(quick[read])).toEqual(
              yield* Stream.runCollect<unknown, unknown, never>(compared[read])
            )
          }
          expect(yield* quick.snapshot).toEqual(yield* compared.snapshot)
        }
      }), { arbitrary: { runs: 15 }, timeout: 60_000 })
})
