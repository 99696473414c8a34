/** Requests whose response never came, and which take effect later, with another value than the one wanted by then. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect, Random } from "effect"
import { held } from "./support/sandbox.ts"
import { anyStock, commitsOf, entryOf, fault, faultsEnd, products, simulated, source, started, stockOf } from "./support/simulation.ts"

const wanted = products(20, () => 5)
const ids = Object.keys(wanted)
const landsLate = (millis: number) =>
  Effect.flatMap(Sandbox.Sandbox, ({ setLatitude }) => setLatitude({ lateCommitMillis: millis, lateCommitStatuses: [500, 502, 503, 504] }))

describe("a late write", () => {
  it.effect("with an older value is overwritten once it can no longer take effect", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("5 seconds")
        yield* landsLate(30_000)
        yield* fault({ kind: "status", when: "before", status: 504, path: stockOf("P0003"), times: 1 })
        yield* feed.set({ ...wanted, P0003: 70 })
        yield* Effect.sleep("100 millis")
        yield* feed.set({ ...wanted, P0003: 7 })
        yield* Effect.sleep("5 seconds")
        // Confirmed, and yet not certain.
        expect(yield* held("P0003")).toEqual({ P0003: 7 })
        expect(yield* entryOf(ledger, "P0003")).toMatchObject({ state: "doubtful", confirmed: 7, doubt: { lowest: 70, highest: 70 } })
        yield* Effect.sleep("30 seconds")
        expect(yield* held("P0003")).toEqual({ P0003: 70 })
        yield* Effect.sleep("30 seconds")
        expect(yield* commitsOf("P0003")).toEqual([5, 7, 70, 7])
        expect(yield* ledger.counts).toMatchObject({ settled: 20, doubtful: 0 })
      })))

  it.effect("after a timeout is overwritten as well", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const { clearFaults } = yield* Sandbox.Sandbox
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("5 seconds")
        yield* landsLate(30_000)
        yield* clearFaults
        yield* fault({ kind: "delay", when: "before", millis: 600_000, path: stockOf("P0003"), times: 1 })
        yield* feed.set({ ...wanted, P0003: 70 })
        yield* Effect.sleep("10 seconds")
        yield* feed.set({ ...wanted, P0003: 0 })
        yield* Effect.sleep("3 minutes")
        expect(yield* commitsOf("P0003")).toEqual([5, 0, 70, 0])
        expect(yield* ledger.counts).toMatchObject({ settled: 20, doubtful: 0 })
      })))

  it.effect("does not replace a value that was wanted meanwhile", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("5 seconds")
        yield* landsLate(30_000)
        yield* fault({ kind: "status", when: "before", status: 504, path: stockOf("P0003"), times: 1 })
        yield* feed.set({ ...wanted, P0003: 70 })
        yield* Effect.sleep("10 seconds")
        yield* feed.set({ ...wanted, P0003: 7 })
        yield* Effect.sleep("10 seconds")
        yield* feed.set({ ...wanted, P0003: 9 })
        yield* Effect.sleep("2 minutes")
        expect((yield* commitsOf("P0003")).at(-1)).toBe(9)
        expect(yield* held("P0003")).toEqual({ P0003: 9 })
        expect(yield* ledger.counts).toMatchObject({ settled: 20, doubtful: 0 })
      })))

  it.effect("is overwritten although the source returned to the confirmed value", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("5 seconds")
        yield* landsLate(30_000)
        yield* fault({ kind: "status", when: "before", status: 504, path: stockOf("P0003"), times: 1 })
        yield* feed.set({ ...wanted, P0003: 70 })
        yield* Effect.sleep("100 millis")
        yield* feed.set(wanted)
        yield* Effect.sleep("2 minutes")
        // Once at once, because the store may have 70 by now, and once when 70 can no longer arrive.
        expect(yield* commitsOf("P0003")).toEqual([5, 5, 70, 5])
        expect(yield* ledger.counts).toMatchObject({ settled: 20, doubtful: 0 })
      })))

  it.effect("is overwritten after a restart of the worker", () =>
    simulated(wanted, ({ ledger, reopened }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        const { stop } = yield* started(feed.service, ledger)
        yield* Effect.sleep("5 seconds")
        yield* landsLate(50_000)
        yield* fault({ kind: "status", when: "before", status: 504, path: stockOf("P0003"), times: 1 })
        yield* feed.set({ ...wanted, P0003: 70 })
        yield* Effect.sleep("100 millis")
        yield* stop
        yield* Effect.sleep("20 seconds")
        yield* reopened
        yield* feed.set({ ...wanted, P0003: 7 })
        yield* started(feed.service, ledger)
        yield* Effect.sleep("2 minutes")
        // 70 may be sent again at the start, before the source is read.
        expect([[5, 70, 7, 70, 7], [5, 7, 70, 7]]).toContainEqual(yield* commitsOf("P0003"))
        expect(yield* ledger.counts).toMatchObject({ settled: 20, doubtful: 0 })
      })))

  for (let seed = 1; seed <= 12; seed++) {
    it.effect(`at any time, with changes at any time, leaves no difference at the end (seed ${seed})`, () =>
      simulated(wanted, ({ ledger }) =>
        Effect.gen(function*() {
          const { clearFaults } = yield* Sandbox.Sandbox
          const feed = yield* source(wanted)
          yield* started(feed.service, ledger)
          yield* Effect.sleep("5 seconds")
          let now: Readonly<Record<string, number>> = wanted
          for (let change = 0; change < 25; change++) {
            yield* landsLate(yield* Random.nextIntBetween(100, 55_000))
            yield* clearFaults
            yield* fault({ kind: "delay", when: "before", millis: 40_000, path: anyStock, rate: 0.2 })
            yield* fault({ kind: "status", when: "before", status: 504, path: anyStock, rate: 0.2 })
            yield* fault({ kind: "drop", when: "before", path: anyStock, rate: 0.1 })
            yield* fault({ kind: "status", when: "after", status: 503, path: anyStock, rate: 0.1 })
            const changed = yield* Effect.forEach(ids, (id) =>
              Effect.map(Effect.all([Random.next, Random.next]), ([first, second]) =>
                first < 0.3 ? [[id, second < 0.2 ? 0 : 10 + change]] as const : []))
            now = { ...now, ...Object.fromEntries(changed.flat()) }
            yield* feed.set(now)
            yield* Effect.sleep(Duration.millis(yield* Random.nextIntBetween(50, 20_000)))
          }
          yield* faultsEnd
          yield* Effect.sleep("5 minutes")
          expect(yield* held(...ids)).toEqual(now)
          expect(yield* ledger.counts).toMatchObject({ settled: 20, doubtful: 0, pending: 0 })
        }).pipe(Random.withSeed(seed)), { limit: 1_000 }))
  }
})
