/** Which product is taken if priorities yield, or if some products have had their requests, in every database. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Selection } from "../../../src/ledger/Ledger.ts"
import type { Kind } from "./kind.ts"
import { at, id, receiveOn, row, settle, unguarded, using } from "./using.ts"

type Due = Extract<Selection, { readonly _tag: "Due" }>

export const turns = (kind: Kind): void => {
  const withBacklog = (
    test: (next: (choice?: Partial<Due>) => Effect.Effect<string | undefined, unknown>) => Effect.Effect<void, unknown>
  ) =>
    at(kind, (place) =>
      using(place, (ledger) =>
        Effect.gen(function*() {
          yield* receiveOn(ledger, unguarded, row("F1", 9), row("F2", 9), row("B", 0), row("A", 9))
          for (const each of ["F1", "F2", "B", "A"]) yield* settle(ledger, each)
          yield* TestClock.setTime(1_000)
          yield* receiveOn(ledger, unguarded, row("F1", 8), row("F2", 8), row("B", 4), row("A", 9))
          yield* TestClock.setTime(2_000)
          yield* receiveOn(ledger, unguarded, row("F1", 8), row("F2", 8), row("B", 4), row("A", 9), row("N", 1))
          yield* test((choice) =>
            Effect.map(ledger.take({ _tag: "Due", confirmedBefore: Option.none(), ...choice }),
              (taken) => Option.getOrUndefined(taken)?.productId)
          )
        })))

  describe("the product that is taken", () => {
    it.effect("is of a lower priority if the higher ones yield, and of the lowest that waits if all of them do", () =>
      withBacklog((next) =>
        Effect.gen(function*() {
          expect(yield* next({ yielding: ["rest"] })).toBe("F1")
          expect(yield* next({ yielding: ["soldOut", "falling"] })).toBe("B")
          expect(yield* next({ yielding: ["falling", "backInStock", "rest"] })).toBe("N")
          expect(yield* next({ yielding: ["falling", "backInStock", "rest", "doubtful"] })).toBe("F2")
          expect(yield* next({ yielding: ["falling"] })).toBeUndefined()
        })
      ))

    it.effect("is none of those that are excepted", () =>
      withBacklog((next) =>
        Effect.gen(function*() {
          expect(yield* next({ except: [id("F1"), id("B")] })).toBe("F2")
          expect(yield* next({ except: [id("F1"), id("B")] })).toBe("N")
          expect(yield* next({ except: [id("F1"), id("B")], yielding: ["falling"] })).toBeUndefined()
          expect(yield* next({ yielding: ["falling"] })).toBe("B")
        })
      ))
  })
}
