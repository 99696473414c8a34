/**
 * What a running loop makes of a source that is gone, suspicious, or right after all.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { SourceRefused } from "@plaza/rows/Refused"
import { SourceUnreachable } from "../src/Source.js"
import { inShop, patches, products, source, started } from "./support/looping.js"
import { held, terms } from "./support/world.js"

const wanted = products(60, () => 5)
const next = products(60, () => 6)
const soldOut = products(60, (index) => index < 40 ? 0 : 5)
const ids = Object.keys(wanted)
const gone = new SourceUnreachable({ source: "memory", message: "memory: no answer for 30 seconds; nothing of it was taken" })
const refused = new SourceRefused({ source: "memory", line: 7, message: "memory, line 7: broken quotes" })

describe("the source of a running loop", () => {
  for (const failure of [gone, refused]) {
    it.live(`that is ${failure._tag === "SourceRefused" ? "refused" : "gone"} for an hour changes nothing, is said to fail, and is taken soon after it is back`, () =>
      inShop(wanted, (ledger) =>
        Effect.gen(function*() {
          const feed = yield* source(wanted)
          const { standing } = yield* started(feed.service, ledger)
          yield* Effect.sleep("1 minute")
          const reads = yield* feed.reads
          yield* feed.fail(failure)
          yield* Effect.sleep("1 hour")
          const { account, errors, source: state } = yield* standing.state
          expect(account).toMatchObject({ _tag: "Running" })
          expect(state).toMatchObject({ failing: { since: 60_000, failure: { tag: failure._tag, message: failure.message } } })
          expect(errors[0]).toMatchObject({ about: "source", tag: failure._tag })
          // It grows less patient, not more: about once a minute.
          expect((yield* feed.reads) - reads).toBeGreaterThan(55)
          expect((yield* feed.reads) - reads).toBeLessThan(90)
          expect(yield* patches).toHaveLength(60)
          yield* feed.set(next)
          yield* Effect.sleep("1 minute")
          expect((yield* standing.state).source).toMatchObject({ failing: undefined, rows: 60 })
          expect(yield* held(...ids)).toEqual(next)
        })))
  }

  it.live("that is gone at the start is waited for", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* feed.fail(gone)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("10 minutes")
        expect(yield* patches).toEqual([])
        yield* feed.set(wanted)
        yield* Effect.sleep("1 minute")
        expect(yield* held(...ids)).toEqual(wanted)
      })))

  it.live("that would take too much out of sale is held and said to be, and forgotten when it heals", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        const { standing } = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        yield* feed.set(soldOut)
        yield* Effect.sleep("10 minutes")
        expect((yield* standing.state).source).toMatchObject({ held: { zeroed: 40, catalogue: 60 } })
        expect(yield* patches).toHaveLength(60)
        yield* feed.set({ ...wanted, P0001: 9 })
        yield* Effect.sleep("1 minute")
        expect((yield* standing.state).source.held).toBeUndefined()
        expect(yield* patches).toHaveLength(61)
      })))

  it.live("that is held is taken where a loop is started with a confirmation, and no other after it", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        const first = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        yield* feed.set(soldOut)
        yield* Effect.sleep("1 minute")
        yield* first.stop
        const { standing } = yield* started(feed.service, ledger, { terms: { ...terms, confirmed: true } })
        yield* Effect.sleep("2 minutes")
        expect(yield* held(...ids)).toEqual(soldOut)
        yield* feed.set(wanted)
        yield* Effect.sleep("2 minutes")
        yield* feed.set(soldOut)
        yield* Effect.sleep("2 minutes")
        expect((yield* standing.state).source).toMatchObject({ held: { zeroed: 40 } })
        expect(yield* held(...ids)).toEqual(wanted)
      })))
})
