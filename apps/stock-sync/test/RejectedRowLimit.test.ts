/** How many rejected rows a snapshot may have. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Schema } from "effect"
import * as RejectedRowLimit from "../src/ledger/snapshot/RejectedRowLimit.ts"

const { exceeded, sentence } = RejectedRowLimit
const counts = Arbitrary.flatMap(Generate.between(1, 10_000),
  (all) => Arbitrary.map(Generate.between(0, all), (rejected): RejectedRowLimit.Rows => ({ all, rejected })))
const shares = Arbitrary.schema(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
const first = { line: 4, reason: "stock is empty" }

describe("the limit of rejected rows", () => {
  it("is a fifth and more than ten by default", () => {
    expect(exceeded(undefined, { all: 12, rejected: 10 })).toBe(false)
    expect(exceeded(undefined, { all: 54, rejected: 11 })).toBe(true)
    expect(exceeded(undefined, { all: 55, rejected: 11 })).toBe(false)
  })

  it("is the given share alone, where one is given", () => {
    expect(exceeded(0.05, { all: 100, rejected: 5 })).toBe(false)
    expect(exceeded(0.05, { all: 100, rejected: 6 })).toBe(true)
    expect(exceeded(0, { all: 100, rejected: 1 })).toBe(true)
    expect(exceeded(1, { all: 100, rejected: 99 })).toBe(false)
  })

  it.prop(
    "is exceeded by a snapshot without a good row, whatever the share",
    [Generate.oneOf<number | undefined>(shares, Arbitrary.Constant(undefined)), Generate.between(1, 1_000)],
    ([share, all]) => {
      expect(exceeded(share, { all, rejected: all })).toBe(true)
      expect(exceeded(undefined, { all: 0, rejected: 0 })).toBe(false)
    }
  )

  it.prop("is never exceeded by fewer rejected rows, or by a larger share", [counts, shares], ([{ all, rejected }, share]) => {
    const isMonotone = exceeded(share, { all, rejected })
      ? rejected === all || !exceeded((rejected + 0.5) / all, { all, rejected })
      : rejected === 0 || !exceeded(share, { all, rejected: rejected - 1 })
    expect(isMonotone).toBe(true)
  })

  it("names the first rejected row by what its source counts", () => {
    expect(sentence({ all: 1, rejected: 1 }, first, "line", "--limit")).toBe(
      "its only row is rejected, the first in line 4: stock is empty"
    )
    expect(sentence({ all: 3, rejected: 3 }, first, "item", "--limit")).toBe(
      "all of its 3 rows are rejected, the first in item 4: stock is empty"
    )
    expect(sentence({ all: 30, rejected: 12 }, first, "row", "--limit")).toBe(
      "12 of 30 rows are rejected, the first in row 4: stock is empty; --limit says how many may be"
    )
  })
})
