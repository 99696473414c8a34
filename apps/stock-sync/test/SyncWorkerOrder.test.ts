/** In which order the engine sends, how often, and with which value, judged by what reaches the service. */
import { describe, expect, it } from "@effect/vitest"
import type { Fault } from "@plaza/sandbox"
import { Clock, Duration, Effect } from "effect"
import { held, policy } from "./support/sandbox.ts"
import {
  fault,
  faultsEnd,
  forEver,
  latency,
  patches,
  products,
  respondsAfter,
  simulated,
  source,
  started,
  stockOf
} from "./support/simulation.ts"

describe("the worker", () => {
  it.effect("brings every product to the wanted stock and follows each change of the source", () => {
    const wanted = products(40, (index) => index)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("10 seconds")
        expect(yield* held(...Object.keys(wanted))).toEqual(wanted)
        const next = { ...wanted, P0007: 70, P0008: 0 }
        yield* feed.set(next)
        yield* Effect.sleep("2 seconds")
        expect(yield* held(...Object.keys(wanted))).toEqual(next)
        expect(yield* patches).toHaveLength(42)
        expect(yield* feed.reads).toBe(2)
      }))
  })

  it.effect("sends a sold-out product in the next slot, whatever the backlog, and the rest in order", () => {
    const wanted = products(400, () => 5)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        // Two minutes of the allowance are used up, one request of them for GET /me.
        yield* Effect.sleep("90 seconds")
        expect(yield* patches).toHaveLength(239)
        yield* feed.set({ ...wanted, P0399: 0, P0300: 9 })
        yield* Effect.sleep("35 seconds")
        const next = (yield* patches).slice(239, 243).map(({ id }) => id)
        expect(next).toEqual(["P0399", "P0239", "P0240", "P0241"])
      }))
  })

  const unguarded = { ...policy, guard: { ...policy.guard, count: 1_000 } }
  // Eight requests are in flight at most, and one that gets no response ends after 30 seconds.
  const hanging = (id: string): Fault => ({ kind: "slow", when: "before", millis: 3_600_000, path: stockOf(id), times: forEver })
  const soldOutAt = (id: string) => Effect.map(patches, (all) => all.filter((each) => each.id === id).map(({ millis }) => millis))

  for (const stock of [4, 0]) {
    it.effect(`sends a sold-out product in the next slot while eight products${stock === 0 ? " that are sold out" : ""} get no response, again and again`, () => {
      const wanted = products(40, () => 5)
      return simulated(wanted, ({ ledger }) =>
        Effect.gen(function*() {
          const feed = yield* source(wanted)
          yield* started(feed.service, ledger, { policy: unguarded })
          yield* Effect.sleep("30 seconds")
          for (let index = 0; index < 8; index++) yield* fault(hanging(`P000${index}`))
          const hung = (stock: number) => products(8, () => stock)
          yield* feed.set({ ...wanted, ...hung(4) })
          // Their first requests have ended without response.
          yield* Effect.sleep("65 seconds")
          let now = { ...wanted, ...hung(stock) }
          yield* feed.set(now)
          yield* Effect.sleep("2 seconds")
          for (let index = 10; index < 30; index++) {
            const id = `P00${index}`
            now = { ...now, [id]: 0 }
            const sent = (yield* soldOutAt(id)).length
            const setAt = yield* Clock.currentTimeMillis
            yield* feed.set(now)
            yield* Effect.sleep("11 seconds")
            const [at] = (yield* soldOutAt(id)).slice(sent)
            expect({ id, late: Math.max(0, (at ?? Number.POSITIVE_INFINITY) - setAt - 1_000) }).toEqual({ id, late: 0 })
          }
        }))
    })
  }

  it.effect("sends a sold-out product within seconds while the first requests of eight others that are sold out get no response", () => {
    const wanted = products(40, () => 5)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, { policy: unguarded })
        yield* Effect.sleep("30 seconds")
        for (let index = 0; index < 8; index++) yield* fault(hanging(`P000${index}`))
        const hung = { ...wanted, ...products(8, () => 0) }
        yield* feed.set(hung)
        yield* Effect.sleep("1 second")
        yield* feed.set({ ...hung, P0010: 0 })
        yield* Effect.sleep("12 seconds")
        expect(yield* held("P0010")).toEqual({ P0010: 0 })
        // What was in flight is sent again.
        yield* faultsEnd
        yield* Effect.sleep("2 minutes")
        expect(yield* held(...Object.keys(wanted))).toEqual({ ...hung, P0010: 0 })
      }))
  })

  it.effect("sends a sold-out product before those that got no response, also with one request in flight", () => {
    const wanted = products(40, () => 5)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, { policy: unguarded, concurrency: 1 })
        yield* Effect.sleep("30 seconds")
        for (let index = 0; index < 2; index++) yield* fault(hanging(`P000${index}`))
        const hung = { ...wanted, ...products(2, () => 0) }
        yield* feed.set(hung)
        yield* Effect.sleep("11 seconds")
        yield* feed.set({ ...hung, P0010: 0 })
        // The one in flight ends without response after five seconds.
        yield* Effect.sleep("6 seconds")
        expect(yield* held("P0010")).toEqual({ P0010: 0 })
        expect((yield* soldOutAt("P0010")).length).toBe(2)
      }), { timeout: Duration.seconds(5) })
  })

  it.effect("gives a tenth of the requests to lower priorities while a higher one never ends, and a sold-out product still goes first", () => {
    const wanted = { ...products(200, () => 1_000_000), S: 5, T: 0, U: 3 }
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("2 minutes")
        const before = (yield* patches).length
        // More products fall each minute than can be sent.
        for (let minute = 1; minute <= 5; minute++) {
          const falling = products(200, () => 1_000_000 - minute)
          yield* feed.set({ ...falling, S: 50, T: 7, U: minute < 4 ? 3 : 0 })
          yield* Effect.sleep("1 minute")
        }
        const sent = (yield* patches).slice(before).map(({ id }) => id)
        expect(sent.length).toBeGreaterThan(500)
        // The rise and the product that is back in stock are among the first twenty requests.
        expect(sent.slice(0, 20)).toEqual(expect.arrayContaining(["S", "T"]))
        expect(yield* held("S", "T", "U")).toEqual({ S: 50, T: 7, U: 0 })
        const [soldOut] = yield* soldOutAt("U").pipe(Effect.map((times) => times.slice(-1)))
        expect((soldOut ?? Number.POSITIVE_INFINITY) - 300_000).toBeLessThanOrEqual(1_000)
      }))
  })

  it.effect("sends what is back in stock while more products fall than can be sent, before what is less urgent and waits longer", () => {
    const wanted = { ...products(200, () => 1_000_000), T: 0 }
    const raised = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`R${index}`, 1]))
    return simulated({ ...wanted, ...raised }, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        // Confirmed stock that is due to be sent again waits longest of all.
        yield* started(feed.service, ledger, { sourceIncludesSales: true, reassert: { share: 1, after: Duration.minutes(1) } })
        yield* Effect.sleep("10 minutes")
        // The first of them are falling, and what was never confirmed waits before the product is back in stock.
        yield* feed.set({ ...products(200, () => 999_999), ...raised, T: 0 })
        yield* Effect.sleep("5 seconds")
        const before = (yield* patches).length
        for (let minute = 2; minute <= 6; minute++) {
          yield* feed.set({ ...products(200, () => 1_000_000 - minute), ...raised, T: 7 })
          yield* Effect.sleep("1 minute")
        }
        const sent = (yield* patches).slice(before).map(({ id }) => id)
        const at = sent.indexOf("T")
        expect(at).toBeGreaterThanOrEqual(0)
        expect(at).toBeLessThan(20)
        // Nor do those that it passes wait for ever.
        expect(sent.filter((id) => id.startsWith("R")).length).toBeGreaterThan(30)
      }))
  })

  it.effect("makes one request of a hundred changes of a waiting product", () => {
    const wanted = products(300, () => 5)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("10 seconds")
        for (let change = 1; change <= 100; change++) {
          yield* feed.set({ ...wanted, P0299: 100 + change })
          yield* Effect.sleep("100 millis")
        }
        yield* Effect.sleep("5 minutes")
        expect((yield* patches).filter(({ id }) => id === "P0299")).toHaveLength(1)
        expect(yield* held("P0299")).toEqual({ P0299: 200 })
      }))
  })

  it.effect("has one request of a product in flight at a time and sends its newest value last", () => {
    const wanted = products(3, () => 5)
    const responseTime = 3_000
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* respondsAfter(responseTime)
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("7 seconds")
        for (let change = 1; change <= 40; change++) {
          yield* feed.set({ ...wanted, P0001: 100 + change })
          yield* Effect.sleep("300 millis")
        }
        yield* Effect.sleep("10 seconds")
        const times = (yield* patches).filter(({ id }) => id === "P0001").map(({ millis }) => millis)
        expect(times.length).toBeGreaterThan(3)
        for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(responseTime)
        expect(yield* held("P0001")).toEqual({ P0001: 140 })
      }))
  })

  it.effect("stays within its concurrency and uses the whole rate limit for an hour without a 429", () => {
    const limit = 12
    const concurrency = 4
    const wanted = products(100, () => 1)
    return simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, { concurrency })
        for (let minute = 0; minute < 60; minute++) {
          yield* Effect.sleep("1 minute")
          yield* feed.set(products(100, () => minute + 2))
        }
        const sent = yield* patches
        expect(sent.filter(({ status }) => status === 429)).toEqual([])
        expect(sent.length).toBeGreaterThanOrEqual(60 * limit * 0.99)
        for (const [index, { millis }] of sent.slice(concurrency).entries()) {
          expect(millis - (sent[index]?.millis ?? 0)).toBeGreaterThanOrEqual(latency)
        }
      }), { limit })
  })
})
