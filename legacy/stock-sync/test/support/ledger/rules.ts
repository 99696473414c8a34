/** Rules apply to the sum of a product's rows, in every ledger: the wanted stock is compared with a plain model. */
import { expect, it } from "@effect/vitest"
import type { Row } from "@plaza-legacy/tabular/Stock"
import { Duration, Effect, FastCheck, Option, Stream } from "effect"
import * as ApplyRules from "../../../src/source/ApplyRules.ts"
import type { Adjustment, ProductRule } from "../../../src/source/ProductRules.ts"
import * as OneFolder from "../oneFolder.ts"
import { at, bad, collect, type Fresh, id, negative, policy, row, unguarded, using } from "./using.ts"

type WrittenRule = Partial<ProductRule>

interface Shop {
  readonly rows: ReadonlyArray<Row>
  readonly all: Adjustment
  readonly rules: Readonly<Record<string, WrittenRule>>
  readonly duplicates: "sum" | "reject"
}

/** A rules file. Always with a rule, because a file without one is not read as one. */
const written = (rules: Readonly<Record<string, WrittenRule>>): string =>
  `id,productId,buffer,max,exclude\n${
    Object.entries(rules).map(([name, { buffer, exclude, max, productId }]) =>
      `${name},${productId ?? ""},${buffer ?? ""},${max ?? ""},${exclude === true}\n`
    ).join("")
  }`

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
const wanted = (place: string, { all, duplicates, rows, rules }: Shop) =>
  Effect.gen(function*() {
    const { layer, write } = OneFolder.make()
    yield* write("/rules.csv", written(rules))
    const path = Object.keys(rules).length === 0 ? undefined : "/rules.csv"
    const source = yield* Effect.provide(
      ApplyRules.make({
        name: "stock.csv",
        open: () =>
          Effect.succeedSome({
            version: Option.none(),
            unit: "line" as const,
            excluded: new Set<string>(),
            rows: Stream.fromIterable(rows)
          }),
        changes: Stream.empty
      }, { all, path, unmapped: "pass", settle: Duration.zero, unfinishedWait: Duration.zero }),
      layer
    )
    const { version: _, ...snapshot } = Option.getOrThrow(yield* source.open(Option.none()))
    return yield* using(place, (ledger) =>
      Effect.gen(function*() {
        yield* ledger.applySnapshot({ ...snapshot, source: source.name }, { ...policy, ...unguarded, duplicates, maxBadRows: 1 })
        const entries = yield* collect(ledger.all)
        return Object.fromEntries(entries.map((entry) => [entry.productId, entry.wanted]))
      }))
  }).pipe(Effect.scoped)

const names = ["A", "B", "C"] as const
const name = FastCheck.constantFrom(...names)
const stock = FastCheck.oneof({ weight: 8, arbitrary: FastCheck.nat({ max: 12 }) }, {
  weight: 1,
  arbitrary: FastCheck.constantFrom(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 5)
})
const anyRow = FastCheck.oneof(
  { weight: 10, arbitrary: FastCheck.tuple(name, stock).map(([product, units]) => row(product, units)) },
  { weight: 1, arbitrary: name.map((product) => negative(product)) },
  { weight: 1, arbitrary: FastCheck.option(name, { nil: undefined }).map((product) => bad(product, "no stock")) }
)
const limit = FastCheck.option(FastCheck.nat({ max: 9 }), { nil: undefined })
const rule = FastCheck.record({
  productId: FastCheck.option(FastCheck.constantFrom(...names, "P").map(id), { nil: undefined }),
  buffer: limit,
  max: limit,
  exclude: FastCheck.oneof({ weight: 6, arbitrary: FastCheck.constant(false) }, { weight: 1, arbitrary: FastCheck.constant(true) })
})
const shop: FastCheck.Arbitrary<Shop> = FastCheck.record({
  // At least one row that counts, because a snapshot of nothing but rejected rows is refused.
  rows: FastCheck.array(anyRow, { maxLength: 9 }).map((rows) =>
    [row("Z", 7), ...rows].map((each, index) => ({ ...each, line: index + 2 }))
  ),
  all: FastCheck.record({ buffer: limit, max: limit }),
  rules: FastCheck.dictionary(name, rule, { maxKeys: 3 }),
  duplicates: FastCheck.constantFrom("sum" as const, "reject" as const)
})

export const rules = (fresh: Fresh, numRuns: number) => {
  it.effect("a rule applies once to the sum of a product's rows, however many there are", () =>
    at(fresh, (place) =>
      Effect.gen(function*() {
        const rows = [3, 4, 5].map((units, index) => row("A", units, index + 2))
        const sums = { rows, rules: {}, duplicates: "sum" as const }
        expect(yield* wanted(place, { ...sums, all: { max: 3 } })).toEqual({ A: 3 })
        expect(yield* wanted(place, { ...sums, all: { buffer: 2 } })).toEqual({ A: 10 })
        expect(yield* wanted(place, { ...sums, all: { buffer: 2, max: 11 } })).toEqual({ A: 10 })
      })))

  it.effect.prop("the wanted stock is the sum of a product's rows, less the buffer, at most the maximum", [shop],
    ([one]) =>
      at(fresh, (place) =>
        Effect.gen(function*() {
          expect(yield* wanted(place, one)).toEqual(model(one))
        })), { fastCheck: { numRuns } })
}
