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

type Stocks = Readonly<Record<string, number>>

/**
 * What each product should be offered, computed without a database: the sum, less the buffer, if it is enough, at most the maximum. `kept`: the
 * stock so far, of which a kit keeps what its known components allow.
 */
const model = ({ all, duplicates, kits, missing, rows, rules }: Shop, kept: Stocks = {}): Stocks => {
  const nameOf = (source: string) => rules[source]?.productId ?? source
  // Of several rules for one product, the largest buffer and minimum and the smallest maximum hold.
  const rulesOf = (name: string) => {
    const own = Object.entries(rules).filter(([source]) => nameOf(source) === name)
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
    const known = possible.filter((each) => each !== undefined)
    const most = known.length === 0 ? Infinity : adjusted(Math.min(...known), rulesOf(kit))
    const before = known.length === possible.length ? Infinity : kept[kit]
    const stock = most === 0 ? 0 : before === undefined ? undefined : Math.min(before, most)
    if (stock !== undefined) offered[kit] = stock
  }
  for (const [source, { exclude }] of Object.entries(rules)) if (exclude === true) delete offered[nameOf(source)]
  return offered
}

/** The wanted stock of each product after a snapshot, and after an earlier one of other rows if there are any. */
const wanted = (place: Place, { all, duplicates, kits, missing, rows, rules }: Shop, earlier?: ReadonlyArray<Row>) => {
  const applied: ProductRules.ProductRules = {
    all,
    unmapped: "pass",
    products: new Map(Object.entries(rules).map(([name, rule]) => [name, { exclude: false, ...rule }]))
  }
  const named = ProductRules.kitsAtService(
    new Map(Object.entries(kits).map(([kit, parts]) => [kit, new Map(Object.entries(parts))])),
    applied
  )
  const apply = ProductRules.apply(applied, "--unmapped", ProductRules.componentsOf(named))
  return using(place, (ledger) =>
    Effect.gen(function*() {
      for (const read of earlier === undefined ? [rows] : [earlier, rows]) {
        const input = {
          ...intake(Stream.fromIterable(read.flatMap((each) => apply(each) ?? []))),
          excluded: ProductRules.excluded(applied),
          adjustments: ProductRules.adjustments(applied),
          kits: named
        }
        yield* ledger.applySnapshot(input, { ...policy, ...unguarded, duplicates, missing, maxBadRows: 1 })
      }
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
// At least one row that counts, because a snapshot of nothing but rejected rows is refused.
const someRows = Arbitrary.map(Generate.arrayOf(anyRow, { maxLength: 9 }),
  (rows) => [row("Z", 7), ...rows].map((each, index) => ({ ...each, line: index + 2 })))
const shop: Arbitrary.Arbitrary<Shop> = Arbitrary.all({
  rows: someRows,
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

  it.effect("a kit keeps no more than its known components allow", () =>
    Effect.gen(function*() {
      const kits = { K: { TEA: 2, MUG: 1 } }
      const shop = { all: {}, rules: {}, kits, duplicates: "reject" as const, missing: "leave" as const }
      const kept = (tea: number, mug: Row | undefined, more: Partial<Shop> = {}) =>
        at(kind, (place) =>
          Effect.map(
            wanted(place, { ...shop, ...more, rows: [row("Z", 1, 2), row("TEA", tea, 3), ...(mug === undefined ? [] : [mug])] }, [
              row("Z", 1, 2),
              row("TEA", 8, 3),
              row("MUG", 5, 4)
            ]),
            (stocks) => stocks.K
          ))
      const rejected = bad("MUG", "no stock", 4)
      expect(yield* kept(0, rejected)).toBe(0)
      expect(yield* kept(5, rejected)).toBe(2)
      // No reason to raise it.
      expect(yield* kept(100, rejected)).toBe(4)
      expect(yield* kept(0, undefined)).toBe(0)
      expect(yield* kept(5, undefined)).toBe(2)
      expect(yield* kept(5, undefined, { missing: "zero" })).toBe(0)
      expect(yield* kept(5, rejected, { missing: "zero" })).toBe(2)
      expect(yield* kept(5, rejected, { rules: { MUG: { exclude: true } } })).toBe(2)
      expect(yield* kept(5, undefined, { rules: { MUG: { exclude: true } } })).toBe(2)
      // The rules for the other component and for the kit count too.
      expect(yield* kept(5, rejected, { rules: { TEA: { exclude: true, buffer: 3 }, MUG: { exclude: true } } })).toBe(1)
      expect(yield* kept(5, rejected, { rules: { K: { atLeast: 3 } } })).toBe(0)
    }))

  it.effect("a new kit is sold out if a known component is", () =>
    at(kind, (place) =>
      Effect.gen(function*() {
        const rows = [row("TEA", 0, 2), bad("MUG", "no stock", 3), row("CUP", 3, 4)]
        const kits = { K: { TEA: 2, MUG: 1 }, L: { CUP: 1, MUG: 1 } }
        const stocks = yield* wanted(place, { rows, kits, all: {}, rules: {}, duplicates: "reject", missing: "leave" })
        // Nothing is known of the other one: the store keeps what it has.
        expect(stocks).toEqual({ TEA: 0, CUP: 3, K: 0 })
      })))

  it.effect("the rules of an excluded component count for its kits", () =>
    Effect.gen(function*() {
      const shop = { rows: [row("TEA", 7, 2), row("MUG", 9, 3)], all: {}, duplicates: "reject" as const, missing: "leave" as const }
      const kitOf = (rule: Partial<ProductRules.ProductRule>, all: ProductRules.Adjustment = {}) =>
        at(kind, (place) => wanted(place, { ...shop, all, kits: { K: { TEA: 1 } }, rules: { TEA: { ...rule, exclude: true } } }))
      expect(yield* kitOf({})).toEqual({ MUG: 9, K: 7 })
      expect(yield* kitOf({ buffer: 5 })).toEqual({ MUG: 9, K: 2 })
      expect(yield* kitOf({ bufferShare: 5_000 })).toEqual({ MUG: 9, K: 3 })
      expect(yield* kitOf({ max: 3 })).toEqual({ MUG: 9, K: 3 })
      expect(yield* kitOf({ atLeast: 8 })).toEqual({ MUG: 9, K: 0 })
      // A rule of its own stands in for that for all.
      expect(yield* kitOf({ max: 5 }, { max: 4 })).toEqual({ MUG: 4, K: 4 })
      expect(yield* kitOf({ buffer: 0 }, { buffer: 2 })).toEqual({ MUG: 7, K: 5 })
    }))

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
            ["rejected", 0, "K", "its component B is rejected, so the kit keeps its stock, but no more than the others allow: 7"],
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

  it.effect.prop("a kit keeps at most what its known components allow, whatever was before", [shop, someRows],
    ([one, earlier]) =>
      at(kind, (place) =>
        Effect.gen(function*() {
          const expected = model(one, model({ ...one, rows: earlier }))
          const stocks = yield* wanted(place, one, earlier)
          const names = Object.keys(one.kits).map((kit) => one.rules[kit]?.productId ?? kit)
          const kitsOf = (all: Stocks) => names.map((kit) => [kit, all[kit]])
          expect(kitsOf(stocks)).toEqual(kitsOf(expected))
        })), { arbitrary: { runs } })
}
