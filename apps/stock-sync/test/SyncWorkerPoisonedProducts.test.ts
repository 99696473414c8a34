/** A product that the service refuses or fails for, however long, does not keep the others waiting. */
import { describe, expect, it } from "@effect/vitest"
import type { Fault } from "@plaza/sandbox"
import { Duration, Effect } from "effect"
import type { Ledger } from "../src/ledger/Ledger.ts"
import { held } from "./support/sandbox.ts"
import { entryOf, fault, faultsEnd, forEver, once, patches, products, simulated, source, started, stockOf } from "./support/simulation.ts"

type Poison = readonly [name: string, status: number, code?: string]

const poisons: ReadonlyArray<Poison> = [
  ["403 with an unknown code", 403, "SOMETHING_NEW"],
  ["409", 409, "CONFLICT"],
  ["500", 500],
  ["403 STORE_BLOCKED", 403, "STORE_BLOCKED"],
  ["403 INSUFFICIENT_SCOPE", 403, "INSUFFICIENT_SCOPE"],
  ["404", 404, "NOT_FOUND"],
  ["400", 400, "VALIDATION_ERROR"],
  ["401", 401, "INVALID_API_KEY"]
]

const poisoned = (id: string, [, status, code]: Poison): Fault => ({
  kind: "status",
  when: "before",
  status,
  path: stockOf(id),
  times: forEver,
  ...(code === undefined ? {} : { code })
})

// The poisoned products come first in the order of sending.
const wantedOf = (bad: number) => products(10 + bad, (index) => index < bad ? 0 : 5)

const timesOf = (id: string) => Effect.map(patches, (all) => all.filter((each) => each.id === id).map(({ millis }) => millis))
/** Waits no longer than it takes: each simulated hour takes real time. */
const settledWithin = (ledger: Ledger["Service"], count: number, limit: Duration.Duration) => {
  const step = Duration.minutes(1)
  const settled = Effect.map(ledger.counts, (counts) => counts.settled)
  return Effect.gen(function*() {
    const found = yield* Effect.repeat(Effect.delay(settled, step), {
      until: (now) => now >= count,
      times: Duration.toMillis(limit) / Duration.toMillis(step)
    })
    expect(found).toBe(count)
  })
}

const gaps = (times: ReadonlyArray<number>) => times.slice(1).map((time, index) => time - (times[index] ?? 0))

describe("products that fail while others are accepted", () => {
  for (const poison of poisons) {
    for (const count of [1, 2, 3]) {
      it.effect(`${count} fail with ${poison[0]}: the other ten are settled within seconds, and each recovers when the service accepts it`, () => {
        const wanted = wantedOf(count)
        const ids = Object.keys(wanted)
        const bad = ids.slice(0, count)
        const good = ids.slice(count)
        return simulated(wanted, ({ ledger }) =>
          Effect.gen(function*() {
            yield* Effect.forEach(bad, (id) => fault(poisoned(id, poison)))
            const { state } = yield* started((yield* source(wanted)).service, ledger)
            yield* Effect.sleep("5 seconds")
            expect(yield* held(...good)).toEqual(Object.fromEntries(good.map((id) => [id, 5])))
            expect(yield* ledger.counts).toMatchObject({ settled: 10 })
            yield* Effect.sleep("25 seconds")
            expect((yield* state).account).toMatchObject({ _tag: "Running" })
            // A product that is tried at this moment is neither.
            for (const id of bad)
              expect([poison[1] === 500 ? "doubtful" : "quarantined", "sending"]).toContain((yield* entryOf(ledger, id)).state)
            yield* Effect.sleep(poison[1] === 500 ? "30 minutes" : "150 minutes")
            for (const id of bad) {
              const between = gaps(yield* timesOf(id))
              const longest = Math.max(...between)
              // Less and less often.
              expect(between.indexOf(longest)).toBeGreaterThan(3)
              expect(longest).toBeGreaterThan(poison[1] === 500 ? 5 * 60_000 : 40 * 60_000)
              expect(between.length).toBeLessThan(15)
            }
            for (const id of good)
              expect(yield* timesOf(id)).toHaveLength(1)
            yield* faultsEnd
            yield* settledWithin(ledger, 10 + count, poison[1] === 500 ? Duration.minutes(16) : Duration.hours(5))
          }))
      })
    }
  }

  it.effect("one of each kind at once: the other ten are settled within seconds", () => {
    const wanted = wantedOf(poisons.length)
    const ids = Object.keys(wanted)
    const good = ids.slice(poisons.length)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* Effect.forEach(poisons, (poison, index) => fault(poisoned(ids[index] ?? "", poison)))
        const feed = yield* source(wanted)
        const { state } = yield* started(feed.service, ledger)
        yield* Effect.sleep("10 seconds")
        expect(yield* held(...good)).toEqual(Object.fromEntries(good.map((id) => [id, 5])))
        yield* Effect.sleep("50 seconds")
        expect((yield* state).account).toMatchObject({ _tag: "Running" })
        // A later change does not wait for them either.
        yield* feed.set({ ...wanted, P0016: 7 })
        yield* Effect.sleep("1 second")
        expect(yield* held("P0016")).toEqual({ P0016: 7 })
        yield* Effect.sleep("2 hours")
        yield* faultsEnd
        yield* settledWithin(ledger, ids.length, Duration.hours(3))
      }))
  })

  for (const poison of [["409", 409, "CONFLICT"], ["403 with an unknown code", 403, "SOMETHING_NEW"]] as const) {
    it.effect(`60 of 100 fail with ${poison[0]} before all others: the other 40 are settled within two minutes, and none waits later`, () => {
      const wanted = products(100, () => 5)
      const ids = Object.keys(wanted)
      return simulated(wanted, ({ ledger }) =>
        Effect.gen(function*() {
          yield* Effect.forEach(ids.slice(0, 60), (id) => fault(poisoned(id, poison)))
          const feed = yield* source(wanted)
          const { state } = yield* started(feed.service, ledger)
          yield* Effect.sleep("2 minutes")
          expect(yield* ledger.counts).toMatchObject({ settled: 40 })
          for (const id of ids.slice(90)) {
            yield* Effect.sleep("25 minutes")
            expect((yield* state).account).toMatchObject({ _tag: "Running" })
            yield* feed.set({ ...wanted, [id]: 7 })
            yield* Effect.sleep("1 second")
            expect(yield* held(id)).toEqual({ [id]: 7 })
          }
        }))
    })
  }

  it.effect("60 of 100 fail with 409 before all others: a run of `once` sends the other 40", () => {
    const wanted = products(100, () => 5)
    return simulated(wanted, (memory) =>
      Effect.gen(function*() {
        yield* Effect.forEach(Object.keys(wanted).slice(0, 60), (id) => fault(poisoned(id, ["409", 409, "CONFLICT"])))
        expect(yield* once(memory, wanted)).toMatchObject({ ended: { _tag: "Idle" }, counts: { settled: 40, quarantined: 60 } })
      }))
  })

  it.effect("12 of 22 fail with 500: a change of another product does not wait for them", () => {
    const wanted = wantedOf(12)
    const ids = Object.keys(wanted)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        const { state } = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        yield* Effect.forEach(ids.slice(0, 12), (id) => fault(poisoned(id, ["500", 500])))
        const changed = { ...wanted, ...Object.fromEntries(ids.slice(0, 12).map((id) => [id, 3])) }
        yield* feed.set({ ...changed, [ids[12] ?? ""]: 7 })
        yield* Effect.sleep("5 minutes")
        const before = (yield* patches).length
        for (const id of ids.slice(13)) {
          yield* Effect.sleep("25 minutes")
          expect((yield* state).account).toMatchObject({ _tag: "Running" })
          yield* feed.set({ ...changed, [id]: 7 })
          yield* Effect.sleep("1 second")
          expect(yield* held(id)).toEqual({ [id]: 7 })
        }
        expect((yield* patches).length - before).toBeLessThan(12 * 25)
      }))
  })

  for (const [name, status, times] of [["faults of the service", 503, 9], ["a 429", 429, 1]] as const) {
    it.effect(`the first refusal after ${name} does not quarantine`, () => {
      const wanted = wantedOf(1)
      return simulated(wanted, ({ ledger }) =>
        Effect.gen(function*() {
          yield* fault({ kind: "status", when: "before", status, retryAfter: "1", path: stockOf("P0000"), times })
          yield* fault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", path: stockOf("P0000"), times: 1 })
          yield* started((yield* source(wanted)).service, ledger)
          yield* Effect.sleep("10 minutes")
          expect(yield* ledger.counts).toMatchObject({ settled: 11 })
          const between = gaps(yield* timesOf("P0000"))
          expect(between).toHaveLength(times + 1)
          expect(between.at(-1)).toBeLessThan(3_000)
        }))
    })
  }

  it.effect("a 404 after faults of the service is retried after a minute", () => {
    const wanted = wantedOf(1)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 503, path: stockOf("P0000"), times: 9 })
        yield* fault({ kind: "status", when: "before", status: 404, path: stockOf("P0000"), times: 1 })
        yield* started((yield* source(wanted)).service, ledger)
        yield* Effect.sleep("10 minutes")
        expect(gaps(yield* timesOf("P0000")).at(-1)).toBeLessThan(66_000)
        expect(yield* ledger.counts).toMatchObject({ settled: 11 })
      }))
  })

  it.effect("a new value of a quarantined product is sent at once", () => {
    const wanted = wantedOf(1)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 404, path: stockOf("P0000"), times: 1 })
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("5 seconds")
        expect(yield* entryOf(ledger, "P0000")).toMatchObject({ state: "quarantined", refusal: { code: "NOT_FOUND" } })
        yield* feed.set({ ...wanted, P0000: 3 })
        yield* Effect.sleep("1 second")
        expect(yield* held("P0000")).toEqual({ P0000: 3 })
      }))
  })
})
