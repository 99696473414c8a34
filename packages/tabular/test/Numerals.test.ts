/** Numbers with separators, in the notations of the world. */
import { assert, describe, it } from "@effect/vitest"
import * as Numerals from "@plaza/tabular/Numerals"
import { between, elementOf } from "@plaza/testing/Generators"
import { Arbitrary } from "effect"

/** Digits in groups of three. */
const grouped = (digits: string, separator: string): string => digits.replace(/\B(?=(\d{3})+$)/g, separator)

const notations: ReadonlyArray<readonly [group: string, decimal: Numerals.Decimal, thousands: Numerals.Thousands]> = [
  [",", ".", ","],
  [".", ",", "."],
  [" ", ",", "space"],
  ["\u202F", ",", "space"],
  ["'", ".", "'"],
  ["\u2019", ".", "'"],
  ["", ".", "none"],
  ["", ",", "none"]
]

const numbers = Arbitrary.flatMap(elementOf([9, 999, 99_999, 99_999_999]), (most) => between(0, most))

describe("a whole number", () => {
  it.prop("is read in its notation, whatever zeros follow", [numbers, elementOf(notations), between(0, 6)], ([value, notation, zeros]) => {
    const [group, decimal, thousands] = notation
    const text = `${grouped(String(value), group)}${zeros === 0 ? "" : `${decimal}${"0".repeat(zeros)}`}`
    const reading = Numerals.read(text, { decimal, thousands })
    assert.strictEqual(reading._tag === "Whole" ? reading.value : reading._tag, value, text)
  })

  it.prop("is read as itself or rejected if its notation is not known", [numbers, elementOf(notations), between(0, 6)],
    ([value, [group, decimal], zeros]) => {
      const text = `${grouped(String(value), group)}${zeros === 0 ? "" : `${decimal}${"0".repeat(zeros)}`}`
      const reading = Numerals.read(text)
      assert.include([value, "Ambiguous"], reading._tag === "Whole" ? reading.value : reading._tag, text)
    })
})

describe("a fraction", () => {
  it.prop("is never read as a whole number without a trace", [between(0, 9_999), between(1, 9_999), elementOf(Numerals.decimals)],
    ([whole, fraction, decimal]) => {
      const text = `${whole}${decimal}${fraction}`
      const reading = Numerals.read(text)
      // Such as 5.500, which a fraction elsewhere in the source refutes.
      if (reading._tag === "Whole") assert.isTrue(reading.doubtful === decimal || /^0+$/.test(String(fraction)), text)
      assert.include(["Fraction"], Numerals.read(text, { decimal })._tag, text)
    })
})

describe("the numbers of a source", () => {
  const contradiction = (...texts: ReadonlyArray<string>) => {
    const evidence = new Numerals.Evidence()
    for (const text of texts) evidence.add(Numerals.read(text), () => text)
    return evidence.contradiction
  }

  it("contradict each other if one shows a fraction where another has thousands", () => {
    assert.deepStrictEqual(contradiction("7", "5.500", "2.5"), { separator: ".", grouped: "5.500", fraction: "2.5" })
    assert.deepStrictEqual(contradiction("0,000", "5,500"), { separator: ",", grouped: "5,500", fraction: "0,000" })
  })

  it("agree otherwise", () => {
    assert.isUndefined(contradiction("5.500", "1.200,00", "2,5", "1.200.000"))
    assert.isUndefined(contradiction("2.5", "1,200", "1,200.00"))
  })
})
