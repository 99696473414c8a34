/**
 * A day of the soak in small: what is urgent goes at once, nothing is asked beyond the rate, and whatever closes the service, the shop
 * equals the inventory in the end.
 */
import { NodeContext } from "@effect/platform-node"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { measure } from "../src/Soak.js"

describe("a simulated day", () => {
  it("with an hour of lost answers and a quota that ends before it does leaves the shop as the inventory says", async () => {
    const day = await Effect.runPromise(
      Effect.provide(measure({ days: 1, products: 300, listed: 250, quota: 1_500, reassert: 0.005, seed: 1 }), NodeContext.layer)
    )
    expect(day).toMatchObject({ overRate: 0, different: 0 })
    expect(day.overQuota).toBeGreaterThan(0)
    expect(day.requests).toBeLessThan(2 * 1_500)
    expect(day.assertions).toBeGreaterThan(0)
    const calm = day.waits.filter(({ calm, urgency }) => calm && urgency === "soldOut").map(({ millis }) => millis)
    expect(calm.length).toBeGreaterThan(20)
    // In simulated time, so no machine is too slow for it: latency, and here and there an answer that was lost and comes again.
    expect(calm.toSorted((a, b) => a - b)[Math.floor(calm.length * 0.9)]).toBeLessThan(1_000)
  }, 600_000)
})
