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
  /** Pieces of each component, by the kit. */
  readonly kits: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly duplicates: "sum" | "reject"
  readonly missing: "leave" | "zero"
}

const adjusted = (stock: number, rules: ReadonlyArray<ProductRules.Adjustment>): number => {
  const buffer = Math.max(...rules.map((each) => each.buffer ?? 0))
  const share = Math.max(...rules.map((each) => each.bufferShare ?? 0))
  const atLeast = Math.max(...rules.map((each) => each.atLeast ?? 0))
  const max = Math.min(...rules.map((each) => each.max ?? Infinity))
  const part = (BigInt(stock) * BigInt(share) + 9_999n) / 10_000n
  const rest = Math.max(0, stock - Math.max(buffer, Number(part)))
  return rest < atLeast ? 0 : Math.min(rest, max)
}

/** What each product should be offered, computed without a database: the sum, less the buffer, if it is enough, at most the maximum. */
const model = ({ all, duplicates, kits, missing, rows, rules }: Shop): Readonly<Record<string, number>> => {
  const nameOf = (source: string) => rules[source]?.productId ?? source
  // Of several rules for one product, the largest buffer and minimum and the smallest maximum hold.
  const rulesOf = (name: string) => {
    const own = Object.entries(rules).filter(([source, { exclude }]) => exclude !== true && nameOf(source) === name)
    return own.length === 0 ? [all] : own.map(([, rule]) => ({
      ...(rule.buffer === undefined && rule.bufferShare === undefined ? all : rule),
      atLeast: rule.atLeast ?? all.atLeast,
      max: rule.max ?? all.max
    }))
  }
  const components = new Map<string, Record<string, number>>()
  for (const [kit, parts] of Object.entries(kits)) {
    if (rules[kit]?.exclude === true) continue
    const own = components.get(nameOf(kit)) ?? {}
    for (const [part, quantity] of Object.entries(parts)) own[nameOf(part)] = (own[nameOf(part)] ?? 0) + quantity
    components.set(nameOf(kit), own)
  }
  const products = new Map<string, Array<Row>>()
  for (const each of rows) {
    const rule = rules[each.productId ?? ""]
    if (each.productId === undefined) continue
    const name = nameOf(each.productId)
    if (rule?.exclude === true && ![...components.values()].some((parts) => name in parts)) continue
    if (!components.has(name)) products.set(name, [...products.get(name) ?? [], each])
  }
  const offered: Record<string, number> = {}
  for (const [name, its] of products) {
    if (its.some(({ _tag }) => _tag === "Rejected") || (its.length > 1 && duplicates === "reject")) continue
    const sum = its.reduce((total, each) => total + BigInt(each._tag === "Valid" ? each.stock : 0), 0n)
    if (sum > BigInt(Number.MAX_SAFE_INTEGER)) continue
    offered[name] = adjusted(Number(sum), rulesOf(name))
  }
  for (const [kit, parts] of components) {
    const possible = Object.entries(parts).map(([part, quantity]) => {
      const stock = components.has(part) ? undefined : offered[part] ?? (missing === "zero" && !products.has(part) ? 0 : undefined)
      // A kit in itself is no component that the source names.
      return stock === undefined ? components.has(part) && missing === "zero" ? 0 : undefined : Math.floor(stock / quantity)
    })
    if (possible.every((each) => each !== undefined)) offered[kit] = adjusted(Math.min(...possible), rulesOf(kit))
  }
  for (const [source, { exclude }] of Object.entries(rules)) if (exclude === true) delete offered[nameOf(source)]
  return offered
}

/** The wanted stock of each product after a snapshot. */
const wanted = (place: Place, { all, duplicates, kits, missing, rows, rules }: Shop) => {
  const applied: ProductRules.ProductRules = {
    all,
    unmapped: "pass",
    products: new Map(Object.entries(rules).map(([name, rule]) => [name, { exclude: false, ...rule }]))
  }
  const named = ProductRules.kitsAtService(
    new Map(Object.entries(kits).map(([kit, parts]) => [kit, new Map(Object.entries(parts))])),
    applied
  )
  const mapped = rows.flatMap((each) => ProductRules.apply(applied, "--unmapped", ProductRules.componentsOf(named))(each) ?? [])
  const input = {
    ...intake(Stream.fromIterable(mapped)),
    excluded: ProductRules.excluded(applied),
    adjustments: ProductRules.adjustments(applied),
    kits: named
  }
  return using(place, (ledger) =>
    Effect.gen(function*() {
      yield* ledger.applySnapshot(input, { ...policy, ...unguarded, duplicates, missing, maxBadRows: 1 })
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
const share = optional(Generate.elementOf([1, 999, 2_500, 10_000]))
const quantity = Generate.between(1, 3)
const kit = Arbitrary.map(
  Generate.arrayOf(Arbitrary.all([Generate.anyOf([...names, "P", "X"]), quantity]), { minLength: 1, maxLength: 3 }),
  (parts) => Object.fromEntries(parts)
)
const rule = Arbitrary.all({
  productId: optional(Arbitrary.map(Generate.anyOf([...names, "P"]), id)),
  buffer: limit,
  bufferShare: share,
  atLeast: limit,
  max: limit,
  exclude: Generate.weighted<boolean>([6, Arbitrary.Constant(false)], [1, Arbitrary.Constant(true)])
})
const shop: Arbitrary.Arbitrary<Shop> = Arbitrary.all({
  // At least one row that counts, because a snapshot of nothing but rejected rows is refused.
  rows: Arbitrary.map(Generate.arrayOf(anyRow, { maxLength: 9 }),
    (rows) => [row("Z", 7), ...rows].map((each, index) => ({ ...each, line: index + 2 }))),
  all: Arbitrary.all({ buffer: limit, bufferShare: share, atLeast: limit, max: limit }),
  kits: Arbitrary.map(
    Generate.arrayOf(Arbitrary.all([Generate.anyOf(["A", "K", "L"]), kit]), { maxLength: 2 }),
    (entries) => Object.fromEntries(entries)
  ),
  missing: Generate.anyOf(["leave", "zero"]),
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
        const sums = { rows, rules: {}, kits: {}, duplicates: "sum" as const, missing: "leave" as const }
        expect(yield* wanted(place, { ...sums, all: { max: 3 } })).toEqual({ A: 3 })
        expect(yield* wanted(place, { ...sums, all: { buffer: 2 } })).toEqual({ A: 10 })
        expect(yield* wanted(place, { ...sums, all: { buffer: 2, max: 11 } })).toEqual({ A: 10 })
        expect(yield* wanted(place, { ...sums, all: { bufferShare: 1_000 } })).toEqual({ A: 10 })
        expect(yield* wanted(place, { ...sums, all: { buffer: 2, atLeast: 11 } })).toEqual({ A: 0 })
        expect(yield* wanted(place, { ...sums, all: { buffer: 2, atLeast: 10, max: 4 } })).toEqual({ A: 4 })
      })))

  it.effect("a kit has the stock that its components allow", () =>
    at(kind, (place) =>
      Effect.gen(function*() {
        const shop = {
          rows: [row("A", 7, 2), row("B", 5, 3), row("C", 100, 4), row("K", 999, 5)],
          all: {},
          rules: {},
          duplicates: "reject" as const,
          missing: "leave" as const
        }
        const kits = { K: { A: 2, B: 1 } }
        expect(yield* wanted(place, { ...shop, kits })).toEqual({ A: 7, B: 5, C: 100, K: 3 })
        expect(yield* wanted(place, { ...shop, kits, all: { buffer: 1 } })).toEqual({ A: 6, B: 4, C: 99, K: 2 })
        // A component that the store does not have.
        expect(yield* wanted(place, { ...shop, kits, rules: { A: { exclude: true } } })).toMatchObject({ B: 5, K: 3 })
        // It keeps the stock of before.
        expect(yield* wanted(place, { ...shop, kits: { K: { A: 1, X: 1 } } })).toEqual({ A: 7, B: 5, C: 100, K: 3 })
        expect(yield* wanted(place, { ...shop, kits: { K: { A: 1, X: 1 } }, missing: "zero" })).toEqual({ A: 7, B: 5, C: 100, K: 0 })
      })))

  it.effect("a kit whose components are not known is named, and so is a rule that matches nothing", () =>
    at(kind, (place) =>
      using(place, (ledger) =>
        Effect.gen(function*() {
          const rows = [row("A", 7, 2), bad("B", "no stock", 3)]
          const kits = new Map([["K", new Map([["A", 1], ["B", 1]])], ["L", new Map([["X", 2]])]])
          const unusedRules = () => [{ id: "Z", reason: "the rule matches no row" }]
          const input = { ...intake(Stream.fromIterable(rows)), kits, unusedRules }
          const result = yield* ledger.applySnapshot(input, { ...policy, ...unguarded, maxBadRows: 1 })
          // Neither kits nor rules are rows.
          expect(result).toMatchObject({ rows: 2, rejected: 1, changed: 1 })
          const issues = yield* collect(ledger.rowIssues)
          expect(
            issues.map(({ kind, line, productId, reason }) => [kind, line, productId, reason] as const)
              .toSorted(([, , one = ""], [, , other = ""]) => one < other ? -1 : 1)
          ).toEqual([
            ["rejected", 3, "B", "no stock"],
            ["rejected", 0, "K", "its component B is rejected, so the kit keeps its stock"],
            ["rejected", 0, "L", "its component X is not in the source, so the kit keeps its stock"],
            ["rule", 0, "Z", "the rule matches no row"]
          ])
          yield* ledger.applySnapshot(
            { ...intake(Stream.fromIterable([row("A", 7, 2), row("B", 2, 3)])), kits: new Map([["K", new Map([["A", 1], ["B", 1]])]]) },
            { ...policy, ...unguarded }
          )
          expect(yield* collect(ledger.rowIssues)).toEqual([])
          expect((yield* collect(ledger.all)).map((entry) => [entry.productId, entry.wanted])).toContainEqual(["K", 2])
        }))))

  it.effect.prop(
    "the wanted stock is the sum of a product's rows, less the buffer, if it is enough, at most the maximum; of kits what is possible",
    [shop],
    ([one]) =>
      at(kind, (place) =>
        Effect.gen(function*() {
          expect(yield* wanted(place, one)).toEqual(model(one))
        })),
    { arbitrary: { runs } }
  )
}
