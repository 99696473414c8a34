/** A snapshot with the rows of the last applied one is recognised, and the ledger is as if it had been compared. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, FastCheck as fc, Option, Stream, TestClock } from "effect"
import { randomUUID } from "node:crypto"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import { add, type Fleet, inAccount, open, server, takeOver } from "../support/ledger/fleet.ts"
import { bad, intake, negative, options, policy, row, unguarded } from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"

let fleet: Fleet
shared(server, (built) => {
  fleet = built
})

const newAccount = Effect.suspend(() => {
  const id = `digest-${randomUUID()}`
  return Effect.as(add(fleet, id), id)
})

const lenient = { ...policy, ...unguarded }
const rows = [row("A", 4, 1), row("B", 0, 2), negative("C", 3)]
const more = [row("A", 5, 1), row("B", 0, 2), negative("C", 3)]
const apply = (ledger: Ledger["Type"], given: ReadonlyArray<typeof rows[number]>, excluded: ReadonlyArray<string> = [], how = lenient) =>
  ledger.applySnapshot(intake(Stream.fromIterable(given), excluded), how)

describe("a snapshot with the rows of the last applied one", () => {
  it.effect("changes nothing but the time of the snapshot, also after a takeover", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      const first = yield* open(fleet, id, options)
      const applied = yield* apply(first, rows)
      expect(applied).toMatchObject({ rows: 3, changed: 3, negative: 1 })
      expect(applied.repeated).toBeUndefined()
      const before = yield* Stream.runCollect(first.all)
      yield* TestClock.adjust("1 hour")
      const ledger = yield* fleet.ledgers.open(yield* takeOver(fleet, id, "next"), options, "again")
      expect(yield* apply(ledger, rows)).toEqual({ ...applied, changed: 0, repeated: true })
      expect(yield* Stream.runCollect(ledger.all)).toEqual(before)
      expect((yield* ledger.snapshot).takenAt?.epochMillis).toBe(3_600_000)
    }))

  it.effect("is compared if its excluded products, its policy or the rows differ, and after another one", () =>
    Effect.gen(function*() {
      const ledger = yield* open(fleet, yield* newAccount, options)
      const repeated = (given: typeof rows, excluded?: ReadonlyArray<string>, how?: typeof lenient) =>
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
      const ledger = yield* open(fleet, yield* newAccount, options)
      const many = (stock: number) => Array.from({ length: 100 }, (_, index) => row(`P${index}`, stock, index + 1))
      yield* apply(ledger, many(9))
      yield* apply(ledger, many(9), [], policy)
      expect((yield* Effect.flip(apply(ledger, many(0), [], policy)))._tag).toBe("SnapshotHeld")
      expect((yield* apply(ledger, many(9), [], policy)).repeated).toBeUndefined()
      expect((yield* ledger.snapshot).held).toEqual(Option.none())
    }))

  it.effect("is not recognised if it has more rows than are kept in memory", () =>
    Effect.gen(function*() {
      const ledger = yield* open(fleet, yield* newAccount, options)
      const many = Array.from({ length: 12_000 }, (_, index) => row(`P${index}`, 1, index + 1))
      yield* apply(ledger, rows)
      yield* apply(ledger, many)
      expect((yield* apply(ledger, many)).repeated).toBeUndefined()
      expect((yield* apply(ledger, rows)).repeated).toBeUndefined()
    }), 60_000)

  const cells = fc.constantFrom(row("A", 1, 1), row("A", 2, 1), row("B", 0, 2), row("B", 7, 2), negative("C", 3), bad("D", "no stock", 4),
    row("D", 3, 4))
  const feed = fc.record({ rows: fc.array(cells, { maxLength: 4 }), excluded: fc.subarray(["A", "D"]) })
  // A few feeds, so that many snapshots repeat the one before.
  const feeds = fc.tuple(feed, feed).chain((pair) => fc.array(fc.constantFrom(...pair), { minLength: 2, maxLength: 6 }))

  it.effect.prop("leaves the ledger as a comparison would", { steps: feeds, missing: fc.constantFrom("leave" as const, "zero" as const) },
    ({ missing, steps }) =>
      Effect.gen(function*() {
        const ids = [yield* newAccount, yield* newAccount] as const
        const quick = yield* open(fleet, ids[0], options)
        const compared = yield* open(fleet, ids[1], options)
        const how = { ...lenient, missing, maxBadRows: 1 }
        for (const { excluded, rows: given } of steps) {
          yield* TestClock.adjust("1 minute")
          const results = yield* Effect.forEach([quick, compared], (ledger) => Effect.exit(apply(ledger, given, excluded, how)))
          yield* inAccount(fleet, ids[1], fleet.database.sql`UPDATE ledger_snapshot SET digest = NULL
          WHERE account = (SELECT number FROM fleet_account WHERE id = ${ids[1]})`)
          expect(results.map(Exit.isSuccess)[0]).toBe(results.map(Exit.isSuccess)[1])
          for (const read of ["all", "rowIssues", "queue"] as const) {
            expect(yield* Stream.runCollect<unknown, unknown, never>(quick[read])).toEqual(
              yield* Stream.runCollect<unknown, unknown, never>(compared[read])
            )
          }
          expect(yield* quick.snapshot).toEqual(yield* compared.snapshot)
        }
      }), { fastCheck: { numRuns: 15 }, timeout: 60_000 })
})
