/**
 * A day of a store: urgent changes go at once, no request exceeds the rate limit, and the store equals the inventory at
 * the end.
 */
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { measure } from "./support/day/Day.ts"

describe("a simulated day", () => {
  it(
    "with an hour of lost responses, an exhausted quota and one poisoned product of each kind ends with the stock of the inventory",
    async () => {
      const day = await Effect.runPromise(
        Effect.provide(measure({ days: 1, products: 300, listed: 250, quota: 1_500, reassert: 0.005, seed: 2 }),
          Layer.merge(NodeServices.layer, TestClock.layer()))
      )
      expect(day).toMatchObject({ overRate: 0, different: 0, unexplained: 0, unhealed: 0 })
      expect(day.overQuota).toBeGreaterThan(0)
      expect(day.requests).toBeLessThan(2 * 1_500)
      expect(day.reassertions).toBeGreaterThan(0)
      const calm = day.waits.filter(({ calm, priority }) => calm && priority === "soldOut").map(({ millis }) => millis)
      expect(calm.length).toBeGreaterThan(20)
      // Simulated time: the latency of the service, and a few lost responses.
      expect(calm.toSorted((a, b) => a - b)[Math.floor(calm.length * 0.9)]).toBeLessThan(1_000)
    },
    600_000
  )
})
