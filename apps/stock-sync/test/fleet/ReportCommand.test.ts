/** What `fleet report` prints. */
import { describe, expect, it } from "@effect/vitest"
import * as Output from "@plaza/cli-kit/Output"
import * as Streams from "@plaza/cli-kit/Streams"
import { Duration, Effect, Layer } from "effect"
import * as Report from "../../src/commands/fleet/Report.ts"
import * as FleetLedger from "../../src/fleet/FleetLedger.ts"
import * as Support from "../support/fleetStatus.ts"

const { accounts, heldSnapshot, products, runnerRow } = Support

const inFleet = Support.fleets()

const printed = (id: string) =>
  Effect.suspend(() => {
    const stdout: Array<string> = []
    return Report.run(id, { since: { before: Duration.hours(24) }, format: "text" }).pipe(
      Effect.provide(Layer.merge(
        Layer.provideMerge(Output.layer({ json: false, quiet: false }), Streams.layerTest({ stdout, stderr: [] })),
        FleetLedger.layer
      )),
      Effect.map(() => stdout.join(""))
    )
  })

const some = Effect.gen(function*() {
  yield* runnerRow("one")
  yield* accounts({ alpha: { runner: "one" }, beta: { runner: "one", problem: "the variable KEY is not set" }, gamma: { paused: true } })
  yield* products("alpha", [{ as: "settled", count: 3 }, { as: "quarantined", count: 1 }])
})

describe("fleet report", () => {
  it.effect("says whether the account is in sync, and which commands of the fleet help", () =>
    inFleet(Effect.gen(function*() {
      yield* some
      const alpha = yield* printed("alpha")
      expect(alpha).toMatch(/^3 of 4 products in sync, 1 needs you\n/)
      expect(alpha).toContain("\"plaza-stock-sync fleet accounts retry alpha ")
      yield* heldSnapshot("alpha", 5_000)
      expect(yield* printed("alpha")).toMatch(/^Snapshot \d+ of the source is held\. .*"plaza-stock-sync fleet accounts confirm alpha /)
    })))

  it.effect("begins with the problem of the account, or says that an operator paused it", () =>
    inFleet(Effect.gen(function*() {
      yield* some
      expect(yield* printed("beta")).toMatch(/^The account has a problem\. The variable KEY is not set\./)
      expect(yield* printed("gamma")).toMatch(
        /^Nothing is sent: an operator paused the account\. .*"plaza-stock-sync fleet accounts resume gamma"/
      )
      expect(yield* Effect.flip(printed("none"))).toMatchObject({ _tag: "AccountNotFound" })
    })))
})
