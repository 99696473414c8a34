/** What the engine does with a source that fails, is implausible, or leaves products out. */
import { describe, expect, it } from "@effect/vitest"
import { ProductId } from "@plaza/domain"
import { SourceError } from "@plaza/tabular/SourceError"
import { Effect, Result, Stream } from "effect"
import { SourceUnreachable } from "../src/source/Source.ts"
import { policy } from "./support/ledger/using.ts"
import { held } from "./support/sandbox.ts"
import {
  anyStock,
  entryOf,
  fault,
  faultsEnd,
  forEver,
  once,
  onceFrom,
  patches,
  products,
  simulated,
  source,
  started
} from "./support/simulation.ts"
import { utc } from "./support/utc.ts"

const wanted = products(60, () => 5)
const next = products(60, () => 6)
const soldOut = products(60, (index) => index < 40 ? 0 : 5)
const ids = Object.keys(wanted)
const gone = new SourceUnreachable({ source: "memory", message: "memory: no answer for 30 seconds; no row of it was used" })
const refused = new SourceError({ source: "memory", line: 7, message: "memory, line 7: broken quotes" })

describe("a source that", () => {
  for (const failure of [gone, refused]) {
    it.effect(`fails for an hour (${failure._tag}) changes nothing, is reported, and is applied soon after it recovers`, () =>
      simulated(wanted, ({ ledger }) =>
        Effect.gen(function*() {
          const feed = yield* source(wanted)
          const { state } = yield* started(feed.service, ledger)
          yield* Effect.sleep("1 minute")
          const reads = yield* feed.reads
          yield* feed.fail(failure)
          yield* Effect.sleep("1 hour")
          const { account, errors, source: read } = yield* state
          expect(account).toMatchObject({ _tag: "Running" })
          expect(read).toMatchObject({ failing: { since: utc(60_000), failure: { tag: failure._tag, message: failure.message } } })
          expect(errors[0]).toMatchObject({ about: "source", tag: failure._tag })
          // About once a minute.
          expect((yield* feed.reads) - reads).toBeGreaterThan(55)
          expect((yield* feed.reads) - reads).toBeLessThan(90)
          expect(yield* patches).toHaveLength(60)
          yield* feed.set(next)
          yield* Effect.sleep("1 minute")
          expect((yield* state).source).toMatchObject({ failing: undefined, rows: 60 })
          expect(yield* held(...ids)).toEqual(next)
        })))
  }

  it.effect("asks to wait is left alone until then, but for an hour at most", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        const { state } = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        const before = yield* feed.reads
        const busy = (millis: number) =>
          new SourceUnreachable({ source: "memory", message: "memory: busy; no row of it was used", retryAt: utc(millis) })
        yield* feed.fail(busy(60_000 + 600_000))
        yield* Effect.sleep("1 second")
        expect((yield* feed.reads) - before).toBe(1)
        // A look at the source that something else asks for.
        yield* feed.fail(busy(660_000 + 86_400_000))
        yield* Effect.sleep("598 seconds")
        expect((yield* feed.reads) - before).toBe(1)
        yield* Effect.sleep("1 second")
        expect((yield* feed.reads) - before).toBe(2)
        yield* feed.set(next)
        yield* Effect.sleep("3599 seconds")
        expect((yield* feed.reads) - before).toBe(2)
        yield* Effect.sleep("10 seconds")
        expect((yield* state).source).toMatchObject({ failing: undefined })
      })))

  it.effect("asks to wait delays no revert", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        yield* feed.set({ ...wanted, P0001: 9 })
        yield* Effect.sleep("1 minute")
        yield* feed.fail(new SourceUnreachable({ source: "memory", message: "memory: busy", retryAt: utc(7_200_000) }))
        yield* Effect.sleep("1 minute")
        yield* ledger.revert(1, { guard: policy.guard, confirmed: false, preview: false, limit: 0 })
        yield* Effect.sleep("10 seconds")
        expect(yield* held("P0001")).toEqual({ P0001: 5 })
      })))

  it.effect("fails at the start is read again", () =>
    simulated(wanted, ({ ledger }) =>
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

  it.effect("sells out too much is held until the next plausible snapshot", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        const { state } = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        yield* feed.set(soldOut)
        yield* Effect.sleep("10 minutes")
        expect((yield* state).source).toMatchObject({ held: { number: 2, figures: { soldOut: 40, catalogue: 60 } } })
        expect(yield* patches).toHaveLength(60)
        yield* feed.set({ ...wanted, P0001: 9 })
        yield* Effect.sleep("1 minute")
        expect((yield* state).source.held).toBeUndefined()
        expect(yield* patches).toHaveLength(61)
      })))

  it.effect("is held is applied within seconds after its confirmation, which covers no later snapshot", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        const { state } = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        yield* feed.set(soldOut)
        yield* Effect.sleep("1 minute")
        yield* ledger.confirmHeld(2)
        yield* Effect.sleep("30 seconds")
        expect(yield* held(...ids)).toEqual(soldOut)
        expect((yield* state).source.held).toBeUndefined()
        // Its stock is where the window starts from anew.
        yield* feed.set(products(60, (index) => index < 40 ? 0 : 1))
        yield* Effect.sleep("1 minute")
        expect((yield* state).source).toMatchObject({ held: { number: 3, figures: { fell: 20 } } })
        expect(yield* held(...ids)).toEqual(soldOut)
      })))

  for (const poll of ["never", "every 3 seconds"] as const) {
    it.effect(`had a wrong snapshot, and is polled ${poll}, gets the earlier stock back within seconds after a revert, and is held until it is right`, () =>
      simulated(wanted, ({ ledger }) =>
        Effect.gen(function*() {
          const feed = yield* source(wanted)
          const polls = poll === "never" ? Stream.never : Stream.tick("3 seconds")
          const { state } = yield* started({ ...feed.service, changes: Stream.merge(feed.service.changes, polls) }, ledger)
          yield* Effect.sleep("1 minute")
          const wrong = { ...wanted, P0001: 0, P0002: 0 }
          yield* feed.set(wrong)
          yield* Effect.sleep("1 minute")
          expect(yield* held(...ids)).toEqual(wrong)
          yield* ledger.revert(1, { guard: policy.guard, confirmed: false, preview: false, limit: 0 })
          yield* Effect.sleep("30 seconds")
          expect(yield* held(...ids)).toEqual(wanted)
          // The source has not changed.
          expect((yield* state).source).toMatchObject({ held: { number: 4, figures: { reverted: 2 } } })
          yield* feed.set({ ...wanted, P0003: 1 })
          yield* Effect.sleep("1 minute")
          expect((yield* state).source.held).toBeUndefined()
          expect(yield* held(...ids)).toEqual({ ...wanted, P0003: 1 })
        })))
  }

  it.effect("is held at the end of a process is applied by the next one once it is confirmed", () =>
    simulated(wanted, (memory) =>
      Effect.gen(function*() {
        const { ledger } = memory
        yield* once(memory, wanted)
        expect(yield* once(memory, soldOut)).toMatchObject({
          confirmed: 0,
          unchanged: 60,
          source: { _tag: "Failure", failure: { _tag: "SnapshotHeld" } }
        })
        yield* ledger.confirmHeld(2)
        expect(yield* once(memory, soldOut)).toMatchObject({ confirmed: 40, source: { _tag: "Success" } })
        expect(yield* held(...ids)).toEqual(soldOut)
      })))
})

describe("an accepted value that waits", () => {
  const waiting = { ...wanted, P0000: 0 }
  const { P0000: _, ...omitted } = wanted
  const bad = (id: string) => ({ _tag: "Rejected", line: 70, productId: id, reason: "the stock is empty" } as const)
  type Feed = Effect.Success<ReturnType<typeof source>>
  const nextSnapshots = [
    ["omits the product", (feed: Feed) => feed.set(omitted)],
    ["has a bad row for it", (feed: Feed) => feed.set(omitted, bad("P0000"))],
    ["has it twice", (feed: Feed) => feed.set(wanted, { _tag: "Valid", line: 71, productId: ProductId.make("P0000"), stock: 3 })]
  ] as const

  for (const [name, change] of nextSnapshots) {
    it.effect(`is sent although the next snapshot ${name}`, () =>
      simulated(wanted, ({ ledger }) =>
        Effect.gen(function*() {
          const feed = yield* source(wanted)
          yield* started(feed.service, ledger)
          yield* Effect.sleep("1 minute")
          yield* fault({ kind: "status", when: "before", status: 503, path: anyStock, times: forEver })
          yield* feed.set(waiting)
          yield* Effect.sleep("10 seconds")
          yield* change(feed)
          yield* Effect.sleep("10 seconds")
          expect(yield* entryOf(ledger, "P0000")).toMatchObject({ wanted: 0, confirmed: 5 })
          const { waiting: shown } = yield* ledger.backlog
          expect(shown).toMatchObject({ soldOut: 1 })
          yield* faultsEnd
          yield* Effect.sleep("2 minutes")
          expect(yield* held("P0000")).toEqual({ P0000: 0 })
          expect(yield* ledger.counts).toMatchObject({ settled: 60 })
        })))

    it.effect(`of one run of once is sent by the next one although its snapshot ${name}`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          yield* once(memory, wanted)
          yield* fault({ kind: "status", when: "before", status: 429, retryAfter: "3600", path: anyStock, times: 1 })
          yield* once(memory, waiting)
          expect(yield* held("P0000")).toEqual({ P0000: 5 })
          const feed = yield* source(wanted)
          yield* change(feed)
          yield* started(feed.service, memory.ledger)
          yield* Effect.sleep("2 hours")
          expect(yield* held("P0000")).toEqual({ P0000: 0 })
        })))
  }

  it.effect("gives way to a valid newer one", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        yield* fault({ kind: "status", when: "before", status: 503, path: anyStock, times: forEver })
        yield* feed.set(waiting)
        yield* Effect.sleep("10 seconds")
        yield* feed.set({ ...wanted, P0000: 9 })
        yield* faultsEnd
        yield* Effect.sleep("2 minutes")
        expect(yield* held("P0000")).toEqual({ P0000: 9 })
      })))

  it.effect("is sent by once although the source can't be read, which is the result", () =>
    simulated(wanted, (memory) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 429, retryAfter: "3600", path: anyStock, times: 1 })
        yield* once(memory, wanted)
        const feed = yield* source(wanted)
        yield* feed.fail(gone)
        yield* Effect.sleep("2 hours")
        const ended = yield* onceFrom(memory, feed.service)
        // The others were in flight when the quota ended the first run.
        expect(ended).toMatchObject({ confirmed: 54, ended: { _tag: "Idle" } })
        expect(ended.source).toEqual(Result.fail(gone))
        expect(yield* held(...ids)).toEqual(wanted)
      })))
})
