/** Messages about the source and the rows of an account name its options, which are not those of the command line. */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { worded } from "../../src/fleet/AccountOptions.ts"
import * as Open from "../../src/source/Open.ts"
import { bad, collect, receive, row } from "../support/ledger/using.ts"
import * as OneFolder from "../support/oneFolder.ts"
import { all } from "../support/reading.ts"
import { memoryLedger } from "../support/simulation.ts"

describe("messages about an account of a fleet", () => {
  it.effect("name the option for rows without a rule", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      const { layer, write } = OneFolder.make()
      yield* write("/stock.csv", "productId,stock\nA,5\n")
      yield* write("/rules.csv", "id\nB\n")
      const { open } = yield* Effect.provide(
        Open.make({
          idColumn: "productId",
          stockColumn: "stock",
          timeout: Duration.seconds(30),
          settle: Duration.zero,
          source: "/stock.csv",
          rules: { all: {}, unmapped: "reject", path: "/rules.csv" }
        }),
        layer
      )
      const { rows } = Option.getOrThrow(yield* open(Option.none()))
      expect(yield* all(rows)).toMatchObject([
        { _tag: "Rejected", reason: "\"A\" is not in the rules: add it there, or set the option unmapped to pass" }
      ])
    }).pipe(worded))

  it.effect("name the options for rejected rows and for duplicates", () =>
    Effect.gen(function*() {
      const { ledger } = yield* memoryLedger()
      const rejected = Array.from({ length: 20 }, (_, index) => bad(`P${index}`, "stock is empty"))
      expect((yield* Effect.flip(receive(ledger, row("A", 1), ...rejected))).message).toContain(
        "; the option max-bad-rows says how many may be"
      )
      yield* receive(ledger, row("A", 1), row("B", 1), row("B", 2))
      for (const { reason } of yield* collect(ledger.rowIssues)) {
        expect(reason).toContain("keep one of them, or add them up with the option duplicates sum")
      }
    }).pipe(worded))
})
