/** In which order the engine sends, how often, and with which value, judged by what reaches the service. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { held } from "./support/sandbox.js"
import { latency, patches, products, respondsAfter, simulated, source, started } from "./support/simulation.js"

describe("the worker", () => {
  it.live("brings every product to the wanted stock and follows each change of the source", () => {
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

  it.live("sends a sold-out product in the next slot, whatever the backlog, and the rest in order", () => {
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

  it.live("makes one request of a hundred changes of a waiting product", () => {
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

  it.live("has one request of a product in flight at a time and sends its newest value last", () => {
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

  it.live("stays within its concurrency and uses the whole rate limit for an hour without a 429", () => {
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
