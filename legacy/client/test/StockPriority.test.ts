import { describe, expect, it } from "@effect/vitest"
import { StockPriority } from "@plaza-legacy/client"
import { FastCheck as fc } from "effect"

const nothing: StockPriority.StockValues = { wanted: 5, confirmed: undefined, doubt: undefined }
const doubt = (lowest: number, highest = lowest) => ({ lowest, highest })

const cases: ReadonlyArray<readonly [what: string, knowledge: Partial<StockPriority.StockValues>, is: StockPriority.Priority]> = [
  ["a zero that nobody confirmed", { wanted: 0 }, "soldOut"],
  ["a zero over a confirmed stock", { wanted: 0, confirmed: 3 }, "soldOut"],
  ["a zero that was sent with an unknown outcome", { wanted: 0, confirmed: 3, doubt: doubt(0) }, "soldOut"],
  ["a confirmed zero that a late request may take back", { wanted: 0, confirmed: 0, doubt: doubt(0, 7) }, "soldOut"],
  ["a confirmed zero, sent again with an unknown outcome", { wanted: 0, confirmed: 0, doubt: doubt(0) }, "doubtful"],
  ["fewer than confirmed", { wanted: 5, confirmed: 6 }, "falling"],
  ["fewer than what may still arrive", { wanted: 5, confirmed: 5, doubt: doubt(9) }, "falling"],
  ["fewer than what may have arrived, of a product that is not known", { wanted: 5, doubt: doubt(9) }, "falling"],
  ["more than a confirmed zero", { wanted: 5, confirmed: 0 }, "backInStock"],
  ["more than a zero that may have arrived", { wanted: 5, confirmed: 5, doubt: doubt(0) }, "backInStock"],
  ["what was sent last, with an unknown outcome", { wanted: 5, confirmed: 9, doubt: doubt(5) }, "doubtful"],
  ["more than confirmed", { wanted: 5, confirmed: 4 }, "rest"],
  ["a product of which nothing is known", { wanted: 5 }, "rest"],
  ["a product that was sent and refused", { wanted: 5 }, "rest"]
]

describe("the priority of a stock", () => {
  it.each(cases)("%s", (_, knowledge, is) => {
    expect(StockPriority.of({ ...nothing, ...knowledge })).toBe(is)
  })

  const count = fc.integer({ min: 0, max: 4 })
  const maybe = fc.option(count, { nil: undefined })
  const arbitrary: fc.Arbitrary<StockPriority.StockValues> = fc.record({
    wanted: count,
    confirmed: maybe,
    doubt: fc.option(fc.tuple(count, count).map(([one, other]) => doubt(Math.min(one, other), Math.max(one, other))), { nil: undefined })
  })
  const rank = (knowledge: StockPriority.StockValues) => StockPriority.priorities.indexOf(StockPriority.of(knowledge))

  it.prop("is soldOut exactly for a zero that is not confirmed or that another value may replace", [arbitrary], ([knowledge]) => {
    const { confirmed, wanted } = knowledge
    const safe = confirmed === 0 && (knowledge.doubt?.highest ?? 0) === 0
    expect(StockPriority.of(knowledge) === "soldOut").toBe(wanted === 0 && !safe)
  })

  it.prop("is doubtful only for a value that was sent before", [arbitrary], ([knowledge]) => {
    if (StockPriority.of(knowledge) === "doubtful")
      expect(knowledge).toMatchObject({ doubt: { lowest: knowledge.wanted, highest: knowledge.wanted } })
  })

  it.prop("of a product without doubt rises with the stock that customers can still buy", [count, count, count], ([wanted, one, other]) => {
    const of = (confirmed: number) => rank({ wanted, confirmed, doubt: undefined })
    const [fewer, more] = [Math.min(one, other), Math.max(one, other)]
    // A confirmed zero is the one that is not on sale at all.
    if (fewer > 0) expect(of(more)).toBeLessThanOrEqual(of(fewer))
  })
})
