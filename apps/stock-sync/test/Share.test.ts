/**
 * How many bad rows a source may have.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { ProductId } from "@plaza/domain"
import type { Row } from "@plaza/rows/Stock"
import * as Share from "../src/Source/Share.js"
import { all } from "./support/reading.js"

/** So many rows, the bad ones first. */
const rows = (count: number, bad: number) =>
  Stream.fromIterable(Array.from({ length: count }, (_, index): Row =>
    index < bad
      ? { _tag: "Bad", line: index + 2, productId: undefined, reason: "stock is empty" }
      : { _tag: "Good", line: index + 2, productId: ProductId.make(String(index)), stock: 1 }))

describe("bad rows", () => {
  for (const [count, bad, told, taken] of [
    [100, 0, undefined, true],
    [100, 20, undefined, true],
    [100, 21, undefined, false],
    // A slip in a short file is no broken export.
    [3, 2, undefined, true],
    [12, 10, undefined, true],
    [12, 11, undefined, false],
    // What was told is meant as it stands.
    [100, 0, 0, true],
    [100, 1, 0, false],
    [100, 5, 0.05, true],
    [100, 6, 0.05, false],
    [100, 99, 1, true],
    // Where no row is good, nothing can be taken from it.
    [3, 3, undefined, false],
    [1, 1, 1, false]
  ] as const) {
    it.effect(`${bad} of ${count} are ${taken ? "few" : "too many"}${told === undefined ? "" : ` for ${told * 100}%`}`, () =>
      Effect.gen(function*() {
        const read = yield* Effect.either(all(Share.bounded("stock.csv", told)(rows(count, bad))))
        if (taken) expect(read).toMatchObject({ _tag: "Right", right: { length: count } })
        else {
          expect(read).toMatchObject({ _tag: "Left", left: { _tag: "SourceRefused", source: "stock.csv" } })
          if (read._tag === "Left") expect(read.left.message).toMatch(/^stock\.csv: .* bad, the first on line 2: stock is empty.*; nothing of it was taken$/)
        }
      }))
  }

  it.effect("are counted anew for each reading", () =>
    Effect.gen(function*() {
      const bounded = Share.bounded("stock.csv", undefined)(rows(12, 8))
      expect(yield* all(bounded)).toHaveLength(12)
      expect(yield* all(bounded)).toHaveLength(12)
    }))
})
