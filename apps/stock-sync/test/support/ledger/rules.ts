/** Rules apply to the sum of a product's rows, in every ledger: the wanted stock is compared with a plain model. */
import { expect, it } from "@effect/vitest"
import type { Row } from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Effect, Stream } from "effect"
import * as ProductRules from "../../../src/source/rules/ProductRules.ts"
import type { Kind } from "./kind.ts"
import { at, bad, collect, id, intake, negative, type Place, policy, row, unguarded, using } from "./using.ts"

interface Shop {
  readonly rows: ReadonlyArray<Row>
  readonly all: ProductRules.Adjustment
  readonly rules: Readonly<Record<string, Partial<ProductRules.ProductRule>>>
  readonly duplicates: "sum" | "reject"
}

/** What each product should be offered, computed without a database: first the sum, then the buffer, then the maximum. */
const model = ({ all, duplicates, rows, rules }: Shop): Readonly<Record<string, number>> => {
  const products = new Map<string, Array<Row>>()
  for (const each of rows) {
    const rule = rules[each.productId ?? ""]
    if (rule?.exclude === true || each.productId === undefined) continue
    const name = rule?.productId ?? each.productId
    products.set(name, [...products.get(name) ?? [], each])
  }
  const excluded = Object.entries(rules).filter(([, { exclude }]) => exclude === true).map(([name, { productId }]) => productId ?? name)
  const offered: Record<string, number> = {}
  for (const [name, its] of products) {
    if (excluded.includes(name) || its.some(({ _tag }) => _tag === "Rejected") || (its.length > 1 && duplicates === "reject")) continue
    const sum = its.reduce((total, each) => total + BigInt(each._tag === "Valid" ? each.stock : 0), 0n)
    if (sum > BigInt(Number.MAX_SAFE_INTEGER)) continue
    // Of several rules for one product, the largest buffer and the smallest maximum hold.
    const own = Object.entries(rules).filter(([source, { exclude, productId }]) => exclude !== true && (productId ?? source) === name)
    const applied = own.length === 0 ? [all] : own.map(([, rule]) => ({ buffer: rule.buffer ?? all.buffer, max: rule.max ?? all.max }))
    const buffer = Math.max(...applied.map((each) => each.buffer ?? 0))
    const max = Math.min(...applied.map((each) => each.max ?? Infinity))
    offered[name] = Math.min(Math.max(0, Number(sum) - buffer), max)
  }
  return offered
}

/** The wanted stock of each product after a snapshot. */
const wanted = (place: Place, { all, duplicates, rows, rules }: Shop) => {
  const applied: ProductRules.ProductRules = {
    all,
    unmapped: "pass",
    products: new Map(Object.entries(rules).map(([name, rule]) => [name, { exclude: false, ...rule }]))
  }
  const mapped = rows.flatMap((each) => ProductRules.apply(applied, "--unmapped")(each) ?? [])
  const input = {
    ...intake(Stream.fromIterable(mapped)),
    excluded: ProductRules.excluded(applied),
    adjustments: ProductRules.adjustments(applied)
  }
  return using(place, (ledger) =>
    Effect.gen(function*() {
      yield* ledger.applySnapshot(input, { ...policy, ...unguarded, duplicates, maxBadRows: 1 })
      const entries = yield* collect(ledger.all)
      return Object.fromEntries(entries.map((entry) => [entry.productId, entry.wanted]))
    }))
}

const names = ["A", "B", "C"] as const
const name = Generate.anyOf(names)
const stock = Generate.weighted(
  [8, Generate.between(0, 12)],
  [1, Generate.elementOf([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 5])]
)
const optional = <A>(value: Arbitrary.Arbitrary<A>) => Generate.weighted<A | undefined>([1, Arbitrary.Constant(undefined)], [4, value])
const anyRow = Generate.weighted<Row>(
  [10, Arbitrary.map(Arbitrary.all([name, stock]), ([product, units]) => row(product, units))],
  [1, Arbitrary.map(name, (product) => negative(product))],
  [1, Arbitrary.map(optional(name), (product) => bad(product, "no stock"))]
)
const limit = optional(Generate.between(0, 9))
const rule = Arbitrary.all({
  productId: optional(Arbitrary.map(Generate.anyOf([...names, "P"]), id)),
  buffer: limit,
  max: limit,
  exclude: Generate.weighted<boolean>([6, Arbitrary.Constant(false)], [1, Arbitrary.Constant(true)])
})
const shop: Arbitrary.Arbitrary<Shop> = Arbitrary.all({
  // At least one row that counts, because a snapshot of nothing but rejected rows is refused.
  rows: Arbitrary.map(Generate.arrayOf(anyRow, { maxLength: 9 }),
    (rows) => [row("Z", 7), ...rows].map((each, index) => ({ ...each, line: index + 2 }))),
  all: Arbitrary.all({ buffer: limit, max: limit }),
  rules: Arbitrary.map(
    Generate.arrayOf(Arbitrary.all([name, rule]), { maxLength: 3 }),
    (entries) => Object.fromEntries(entries)
  ),
  duplicates: Generate.anyOf(["sum", "reject"])
})

export const rules = (kind: Kind, runs: number) => {
  it.effect("a rule applies once to the sum of a product's rows, however many there are", () =>
    at(kind, (place) =>
      Effect.gen(function*() {
        const rows = [3, 4, 5].map((units, index) => row("A", units, index + 2))
        const sums = { rows, rules: {}, duplicates: "sum" as const }
        expect(yield* wanted(place, { ...sums, all: { max: 3 } })).toEqual({ A: 3 })
        expect(yield* wanted(place, { ...sums, all: { buffer: 2 } })).toEqual({ A: 10 })
        expect(yield* wanted(place, { ...sums, all: { buffer: 2, max: 11 } })).toEqual({ A: 10 })
      })))

  it.effect.prop("the wanted stock is the sum of a product's rows, less the buffer, at most the maximum", [shop],
    ([one]) =>
      at(kind, (place) =>
        Effect.gen(function*() {
          expect(yield* wanted(place, one)).toEqual(model(one))
        })), { arbitrary: { runs } })
}
