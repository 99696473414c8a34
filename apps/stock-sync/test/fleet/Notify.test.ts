/** What a fleet tells a person: which accounts, from the database. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as FleetNotify from "../../src/fleet/operations/FleetNotify.ts"
import * as FleetStatus from "../../src/fleet/operations/FleetStatus.ts"
import * as Support from "../support/fleetStatus.ts"

const { accounts, heldSnapshot, products, runnerRow } = Support

const inFleet = Support.fleets()

describe("the accounts of a fleet that need a person", () => {
  it.effect("have a problem, a held snapshot or refused products, and are not paused", () =>
    inFleet(Effect.gen(function*() {
      yield* runnerRow("one")
      yield* runnerRow("two", 60_000)
      yield* accounts({
        alpha: { runner: "one" },
        beta: { runner: "one", problem: "STORE_BLOCKED: the store is blocked" },
        gamma: { paused: true, problem: "the variable KEY is not set" },
        delta: { runner: "one" }
      })
      yield* products("alpha", [{ as: "settled", count: 3 }])
      yield* products("delta", [{ as: "quarantined", count: 2 }])
      yield* heldSnapshot("delta", 5_000)
      const needy = yield* FleetStatus.needyAccounts
      expect(needy).toMatchObject([
        { id: "beta", problem: "STORE_BLOCKED: the store is blocked", held: null, products: 0 },
        { id: "delta", problem: null, products: 2 }
      ])
      expect(needy[1]?.held).toBeGreaterThan(0)
      expect(needy.flatMap(FleetNotify.problemsOf).map(({ kind }) => kind)).toEqual(["account", "held", "products"])
      expect(FleetNotify.speakerOf(yield* FleetStatus.runners)).toBe("one")
    })))
})
