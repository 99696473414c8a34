/** A small snapshot of a fleet's account is compared without temporary tables, and the ledger is as if it had been compared with them. */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Either, FastCheck as fc, Option, Redacted, Stream, TestClock } from "effect"
import { randomUUID } from "node:crypto"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import type { SnapshotPolicy } from "../../src/ledger/Snapshot.ts"
import { add, type Fleet, open, prepared, server } from "../support/ledger/fleet.ts"
import { bad, collect, freshFile, intake, negative, options, policy, receiveOn, row, unguarded, using } from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"

let fleet: Fleet
shared(server, (built) => {
  fleet = built
})

const ids = ["A", "B", "C", "D", "E"] as const
const id = fc.constantFrom(...ids)
const anyRow = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(id, fc.constantFrom(0, 1, 3, 40, 500)).map(([id, stock]) => row(id, stock)) },
  { weight: 1, arbitrary: id.map((id) => negative(id)) },
  { weight: 1, arbitrary: fc.option(id, { nil: undefined }).map((id) => bad(id, "no stock")) }
)
// A row more at the top moves all lines.
const rows = fc.tuple(fc.nat(2), fc.array(anyRow, { maxLength: 6 })).map(([above, all]) =>
  all.map((each, index) => ({ ...each, line: above + index + 1 }))
)
const step = fc.record({
  rows,
  excluded: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.subarray([...ids], { maxLength: 2 }) }),
  missing: fc.constantFrom("leave" as const, "zero" as const),
  duplicates: fc.constantFrom("sum" as const, "reject" as const),
  // Few changes are too many, or none.
  count: fc.constantFrom(0, 1, 1_000_000),
  confirms: fc.boolean(),
  sends: fc.nat(3),
  hours: fc.nat(30)
})

/** What a snapshot returns, or why it is refused, and all that the ledger shows afterwards. */
const apply = (ledger: Ledger["Type"], given: typeof step extends fc.Arbitrary<infer A> ? A : never) =>
  Effect.gen(function*() {
    const how: SnapshotPolicy = {
      ...policy,
      maxBadRows: 0.9,
      missing: given.missing,
      duplicates: given.duplicates,
      guard: { share: 0, count: given.count, window: Duration.days(1) }
    }
    const result = yield* Effect.either(ledger.applySnapshot(intake(Stream.fromIterable(given.rows), given.excluded), how))
    const { held, ...snapshot } = yield* ledger.snapshot
    const seen = {
      // Only the ledger of a fleet recognises a snapshot.
      result: Either.mapBoth(result, {
        onLeft: ({ _tag, message }) => ({ _tag, message }),
        onRight: ({ repeated, changed, ...rest }) => ({ ...rest, changed: repeated === true ? 0 : changed })
      }),
      snapshot,
      held,
      products: yield* collect(ledger.all),
      issues: yield* collect(ledger.rowIssues),
      heldChanges: Option.isSome(held) ? yield* collect(ledger.heldChanges) : []
    }
    if (given.confirms && Option.isSome(held)) yield* ledger.confirmHeld(held.value.number)
    for (let n = 0; n < given.sends; n++) {
      const send = yield* ledger.take({ _tag: "Due", confirmedBefore: Option.none() })
      if (Option.isSome(send)) yield* ledger.confirm(send.value)
    }
    return seen
  })

describe("a small snapshot of a fleet's account", () => {
  it.effect.prop("leaves its ledger as the ledger of a single store", { steps: fc.array(step, { minLength: 1, maxLength: 6 }) },
    ({ steps }) =>
      Effect.scoped(Effect.gen(function*() {
        const account = `small-${randomUUID()}`
        yield* add(fleet, account)
        const ofFleet = yield* open(fleet, account, options)
        yield* using(yield* freshFile, (ofStore) =>
          Effect.forEach(steps, (given) =>
            Effect.gen(function*() {
              yield* TestClock.adjust(Duration.hours(given.hours))
              expect(yield* apply(ofFleet, given)).toEqual(yield* apply(ofStore, given))
            })))
      })), { fastCheck: { numRuns: 30 } })

  it.live("needs no temporary table, but one with two rows of a product does", () =>
    Effect.scoped(Effect.gen(function*() {
      yield* fleet.database.sql`CREATE DATABASE small`
      const small = yield* prepared(Redacted.make(Redacted.value(fleet.url).replace(/\/postgres$/, "/small")))
      const { sql } = small.database
      yield* add(small, "a")
      yield* sql`CREATE TABLE public.made ()`
      yield* sql`CREATE FUNCTION public.record() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.made DEFAULT VALUES; END'`
      yield* sql`CREATE EVENT TRIGGER record ON ddl_command_end WHEN tag IN ('CREATE TABLE', 'CREATE TABLE AS') EXECUTE FUNCTION public.record()`
      const made = Effect.map(sql`SELECT 1 FROM public.made`, ({ length }) => length)
      const ledger = yield* open(small, "a", options)
      yield* receiveOn(ledger, unguarded, row("A", 1, 1), bad("B", "no stock"))
      yield* receiveOn(ledger, { ...unguarded, missing: "zero" }, row("A", 2, 1))
      expect(yield* made).toBe(0)
      yield* receiveOn(ledger, { ...unguarded, duplicates: "sum" }, row("A", 1, 1), row("A", 2, 2))
      expect(yield* made).toBeGreaterThan(0)
    })))

  it.live("of thousands of rows does not wait for the statistics of its account", () =>
    Effect.gen(function*() {
      const account = `small-${randomUUID()}`
      yield* add(fleet, account)
      const ledger = yield* open(fleet, account, options)
      const apply = (first: number) =>
        receiveOn(ledger, unguarded, ...Array.from({ length: 9_990 }, (_, index) => row(`P${index}`, index === 0 ? first : 1, index + 1)))
      expect(yield* apply(1)).toMatchObject({ changed: 9_990 })
      // In nested loops the second one takes most of a minute.
      expect(yield* apply(2)).toMatchObject({ changed: 1 })
    }), 20_000)
})
