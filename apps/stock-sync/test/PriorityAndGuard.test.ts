/** The order in which stock is sent, and which changes the drop guard counts. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Duration } from "effect"
import * as DropGuard from "../src/ledger/snapshot/DropGuard.ts"
import * as StockPriority from "../src/ledger/StockPriority.ts"

const stock = Generate.oneOf(Arbitrary.Constant(0), Generate.between(0, 5))
const range = Arbitrary.map(Arbitrary.all([stock, stock]), ([a, b]) => ({ lowest: Math.min(a, b), highest: Math.max(a, b) }))
const doubt = Generate.oneOf<StockPriority.StockValues["doubt"]>(range, Arbitrary.Constant(undefined))
const confirmed = Generate.oneOf<number | undefined>(stock, Arbitrary.Constant(undefined))
const knowledge: Arbitrary.Arbitrary<StockPriority.StockValues> = Arbitrary.map(Arbitrary.all([stock, confirmed, doubt]),
  ([wanted, confirmed, doubt]) => ({ wanted, confirmed, doubt }))

describe("the priority of a product", () => {
  it.prop("is the first one where it is sold out and nobody confirmed that", [knowledge], ([one]) => {
    if (one.wanted === 0 && one.confirmed !== 0) expect(StockPriority.of(one)).toBe("soldOut")
  })

  it.prop("is that of a repetition only where nothing but the wanted stock can have arrived last", [knowledge], ([one]) => {
    if (StockPriority.of(one) === "doubtful") expect(one.doubt).toEqual({ lowest: one.wanted, highest: one.wanted })
  })

  it.prop("is never lower than falling where the service may show more than is wanted", [knowledge], ([one]) => {
    const same = one.doubt?.lowest === one.wanted && one.doubt.highest === one.wanted
    if (!same && Math.max(one.confirmed ?? 0, one.doubt?.highest ?? 0) > one.wanted)
      expect(["soldOut", "falling"]).toContain(StockPriority.of(one))
  })

  it("counts what may have arrived", () => {
    const of = (wanted: number, confirmed: number | undefined, doubted: number) =>
      StockPriority.of({ wanted, confirmed, doubt: { lowest: doubted, highest: doubted } })
    expect(of(0, 0, 4)).toBe("soldOut")
    expect(of(3, 2, 9)).toBe("falling")
    expect(of(3, 3, 0)).toBe("backInStock")
    expect(of(3, 3, 2)).toBe("rest")
    expect(of(3, 9, 3)).toBe("doubtful")
  })
})

describe("the drop guard", () => {
  const none: DropGuard.Figures = { catalogue: 100, soldOut: 0, fell: 0, rose: 0, missing: 0, zeroed: 0, reverted: 0 }
  const limits: DropGuard.Limits = { share: 0.2, count: 10, window: Duration.days(1) }
  const exceeds = (figures: Partial<DropGuard.Figures>) => DropGuard.exceeds(limits, { ...none, ...figures })

  it("adds up what is no longer for sale, or less; not what rises, and not what is missing", () => {
    expect(exceeds({ soldOut: 10, fell: 5, zeroed: 5, reverted: 0 })).toBe(false)
    expect(exceeds({ soldOut: 10, fell: 5, zeroed: 6, missing: 6 })).toBe(true)
    expect(exceeds({ soldOut: 20, rose: 20, missing: 20 })).toBe(false)
    expect(exceeds({ rose: 21 })).toBe(true)
    expect(exceeds({ missing: 21 })).toBe(true)
  })

  it("needs both limits", () => {
    expect(exceeds({ catalogue: 20, soldOut: 10 })).toBe(false)
    expect(exceeds({ catalogue: 20, soldOut: 11 })).toBe(true)
  })
})
