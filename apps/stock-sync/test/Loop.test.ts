/**
 * In which order a running loop sends, how often, and with which value: judged by what reaches the shop.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { answersAfter, inShop, latency, patches, products, source, started } from "./support/looping.js"
import { held } from "./support/world.js"

describe("a running loop", () => {
  it.live("brings everything into place and keeps it there, whatever the source says next", () => {
    const wanted = products(40, (index) => index)
    return inShop(wanted, (ledger) =>
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

  it.live("sends a sold-out product with the next slot, however long the backlog, and the rest in its order", () => {
    const wanted = products(400, () => 5)
    return inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger)
        // The allowance of two minutes is used up, one of it to ask whose key it is: what goes next is due a window after an answer.
        yield* Effect.sleep("90 seconds")
        expect(yield* patches).toHaveLength(239)
        yield* feed.set({ ...wanted, P0399: 0, P0300: 9 })
        yield* Effect.sleep("35 seconds")
        const next = (yield* patches).slice(239, 243).map(({ id }) => id)
        expect(next[0]).toBe("P0399")
        expect(next.slice(1)).toEqual(["P0239", "P0240", "P0241"])
      }))
  })

  it.live("makes one request of a hundred changes of a product that waits", () => {
    const wanted = products(300, () => 5)
    return inShop(wanted, (ledger) =>
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

  it.live("has one request of a product under way at a time, and its newest value in the shop at the end", () => {
    const wanted = products(3, () => 5)
    const late = 3_000
    return inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        yield* answersAfter(late)
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
        for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(late)
        expect(yield* held("P0001")).toEqual({ P0001: 140 })
      }))
  })

  it.live("never has more under way than it was told, and uses the allowance whole without a 429 of its own, for an hour", () => {
    const limit = 12
    const concurrency = 4
    const wanted = products(100, () => 1)
    return inShop(wanted, (ledger) =>
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
