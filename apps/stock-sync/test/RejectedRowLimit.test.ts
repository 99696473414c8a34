/** How many rejected rows a snapshot may have. */
import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as RejectedRowLimit from "../src/sync/RejectedRowLimit.ts"

const { exceeded, sentence } = RejectedRowLimit
const counts = FastCheck.integer({ min: 1, max: 10_000 }).chain((all) =>
  FastCheck.record({ all: FastCheck.constant(all), rejected: FastCheck.integer({ min: 0, max: all }) })
)
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

  it("is exceeded by a snapshot without a good row, whatever the share", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.option(FastCheck.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
        FastCheck.integer({ min: 1, max: 1_000 }), (share, all) => exceeded(share, { all, rejected: all }))
    )
    expect(exceeded(undefined, { all: 0, rejected: 0 })).toBe(false)
  })

  it("is never exceeded by fewer rejected rows, or by a larger share", () => {
    const isMonotone = ({ all, rejected }: RejectedRowLimit.Rows, share: number) =>
      exceeded(share, { all, rejected })
        ? rejected === all || !exceeded((rejected + 0.5) / all, { all, rejected })
        : rejected === 0 || !exceeded(share, { all, rejected: rejected - 1 })
    expect(() => FastCheck.assert(FastCheck.property(counts, FastCheck.double({ min: 0, max: 1, noNaN: true }), isMonotone))).not.toThrow()
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
