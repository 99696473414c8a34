/**
 * Rules for products: what they make of rows, and how their file is read.
 */
import { describe, expect, it } from "@effect/vitest"
import { ProductId } from "@plaza/domain"
import type { Row } from "@plaza/tabular/Stock"
import { between, someOf } from "@plaza/testing/Generators"
import { Duration, Effect, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Open from "../src/source/Open.ts"
import * as KitsFile from "../src/source/rules/KitsFile.ts"
import * as ProductRules from "../src/source/rules/ProductRules.ts"
import * as RulesFile from "../src/source/rules/RulesFile.ts"
import type { Snapshot } from "../src/source/Source.ts"
import * as OneFolder from "./support/oneFolder.ts"
import { all, bad, containing, good } from "./support/reading.ts"

const pieces = between(0, Number.MAX_SAFE_INTEGER)
const adjustment = someOf({ buffer: pieces, bufferShare: between(0, 10_000), atLeast: pieces, max: pieces })

describe("an adjusted stock", () => {
  it.prop("lies between 0 and max, and is never more than the stock", [pieces, adjustment], ([stock, by]) => {
    const offered = ProductRules.adjust(stock, by)
    expect(Number.isSafeInteger(offered)).toBe(true)
    expect(offered).toBeGreaterThanOrEqual(0)
    expect(offered).toBeLessThanOrEqual(Math.min(by.max ?? Infinity, stock))
  })

  it.prop("is not raised by a larger buffer or a smaller max", [pieces, adjustment, pieces], ([stock, by, more]) => {
    const offered = ProductRules.adjust(stock, by)
    const buffer = Math.min((by.buffer ?? 0) + more, Number.MAX_SAFE_INTEGER)
    expect(ProductRules.adjust(stock, { ...by, buffer })).toBeLessThanOrEqual(offered)
    expect(ProductRules.adjust(stock, { ...by, bufferShare: Math.min((by.bufferShare ?? 0) + (more % 10_000), 10_000) }))
      .toBeLessThanOrEqual(offered)
    expect(ProductRules.adjust(stock, { ...by, atLeast: Math.max(by.atLeast ?? 0, more) })).toBeLessThanOrEqual(offered)
    expect(ProductRules.adjust(stock, { ...by, max: Math.min(by.max ?? Infinity, more) })).toBeLessThanOrEqual(offered)
  })

  it.prop("stays 0 for a sold-out product", [adjustment], ([by]) => expect(ProductRules.adjust(0, by)).toBe(0))

  it.prop("falls when the stock falls, or stays", [pieces, pieces, adjustment],
    ([one, other, by]) =>
      expect(ProductRules.adjust(Math.min(one, other), by)).toBeLessThanOrEqual(ProductRules.adjust(Math.max(one, other), by)))
})

const row = (productId: string, stock: number): Row => ({ _tag: "Valid", line: 2, productId: ProductId.make(productId), stock })
const rulesOf = (
  products: Readonly<Record<string, Partial<ProductRules.ProductRule>>>,
  more: Partial<ProductRules.ProductRules> = {}
): ProductRules.ProductRules => ({
  all: {},
  unmapped: "pass",
  products: new Map(Object.entries(products).map(([id, rule]) => [id, { exclude: false, ...rule }])),
  ...more
})

const applying = (rules: ProductRules.ProductRules) => ProductRules.apply(rules, "--unmapped")
/** What is offered of a row alone. */
const offered = (adjustments: ProductRules.Adjustments) => (each: Row) =>
  each._tag === "Rejected"
    ? each
    : { ...each, stock: ProductRules.adjust(each.stock, ProductRules.adjustmentOf(adjustments, each.productId)) }

describe("the rules for one product", () => {
  it("beat those for all, one by one", () => {
    const offer = offered(
      ProductRules.adjustments(rulesOf({ A: { buffer: 0 }, B: { max: 9 }, C: {} }, { all: { buffer: 2, max: 5 } }))
    )
    expect([row("A", 10), row("A", 3), row("B", 10), row("C", 10), row("D", 4)].map(offer)).toEqual([
      good(2, "A", 5),
      good(2, "A", 3),
      good(2, "B", 8),
      good(2, "C", 5),
      good(2, "D", 2)
    ])
  })

  it("name the product at the service, in bad rows too", () => {
    const apply = applying(rulesOf({ "SKU-1": { productId: ProductId.make("P1") } }))
    expect(apply(row("SKU-1", 3))).toEqual(good(2, "P1", 3))
    expect(apply({ _tag: "Rejected", line: 2, productId: "SKU-1", reason: "stock is empty" })).toEqual(bad(2, "P1", "stock is empty"))
  })

  it("beat each other where several ids are one product: the largest buffer and the smallest maximum hold", () => {
    const P = ProductId.make("P")
    const { products } = ProductRules.adjustments(rulesOf({
      A: { productId: P, buffer: 3, max: 9 },
      B: { productId: P, buffer: 1 },
      C: { productId: P, max: 2, exclude: true },
      P: { max: 12 }
    }, { all: { buffer: 2 } }))
    // Those of an excluded id too, for the kits of the product.
    expect([...products]).toEqual([["P", { buffer: 3, bufferShare: 0, atLeast: 0, max: 2 }]])
  })

  it("exclude it, whether its row is good or bad", () => {
    const rules = rulesOf({ A: { exclude: true }, B: { exclude: true, productId: ProductId.make("P2") } })
    const apply = applying(rules)
    expect(apply(row("A", 3))).toBeUndefined()
    expect(apply({ _tag: "Rejected", line: 2, productId: "B", reason: "stock is empty" })).toBeUndefined()
    expect(ProductRules.excluded(rules)).toEqual(new Set(["A", "P2"]))
  })

  it("are required for every product if unmapped ones are rejected", () => {
    const apply = applying(rulesOf({ A: {} }, { unmapped: "reject" }))
    expect(apply(row("A", 3))).toEqual(good(2, "A", 3))
    expect(apply(row("B", 3))).toEqual(bad(2, undefined, "\"B\" is not in the rules: add it there, or set --unmapped to pass"))
  })
})

describe("a rules file", () => {
  const read = (text: string) => RulesFile.read("rules.csv", Stream.fromIterable(text === "" ? [] : [new TextEncoder().encode(text)]))

  it.effect("has a column id and any of the others, in any order", () =>
    Effect.gen(function*() {
      expect([...yield* read("\uFEFFmax;\"id\"; exclude\r\n3;A;yes\r\n;B;\r\n")]).toEqual([
        ["A", { productId: undefined, atLeast: undefined, max: 3, exclude: true }],
        ["B", { productId: undefined, atLeast: undefined, max: undefined, exclude: false }]
      ])
      expect((yield* read("id,productId,buffer\nSKU-1, P1 ,2\n")).get("SKU-1")).toEqual({
        productId: "P1",
        buffer: 2,
        atLeast: undefined,
        max: undefined,
        exclude: false
      })
      expect((yield* read("id,buffer,atLeast\nSKU-1,12.5%,3\n")).get("SKU-1")).toMatchObject({ bufferShare: 1_250, atLeast: 3 })
      expect((yield* read("id\n")).size).toBe(0)
      for (
        const [text, exclude] of [["true", true], ["Yes", true], ["1", true], ["false", false], ["NO", false], ["0", false], [
          "",
          false
        ]] as const
      ) {
        expect((yield* read(`id,exclude\nA,${text}\n`)).get("A")).toMatchObject({ exclude })
      }
    }))

  for (
    const [name, text, message] of [
      ["nothing in it", "", "rules.csv: it is empty"],
      ["no id", "productId,max\nA,1\n", "there is no column \"id\""],
      ["a column that it doesn't know", "id,excluded\nA,yes\n", "rules.csv, line 1: unknown column \"excluded\""],
      [
        "a buffer that is no number",
        "id,buffer\nA,1\nB,-1\n",
        "rules.csv, line 3: buffer \"-1\" is neither a whole number, 0 or more, nor a share"
      ],
      ["a share over 100%", "id,buffer\nA,101%\n", "rules.csv, line 2: buffer \"101%\" is neither"],
      ["an atLeast that is no whole number", "id,atLeast\nA,10%\n", "rules.csv, line 2: atLeast \"10%\" is not a whole number"],
      ["a max that is no whole number", "id,max\nA,1.5\n", "rules.csv, line 2: max \"1.5\" is not a whole number"],
      ["an exclude that is neither", "id,exclude\nA,maybe\n", "rules.csv, line 2: exclude \"maybe\""],
      ["an empty id", "id,max\n ,1\n", "rules.csv, line 2: id is empty"],
      ["an id that can't be sent", "id,productId\nA,..\n", "rules.csv, line 2: productId \"..\" can't be sent"],
      ["a product twice", "id,max\nA,1\nB,1\nA,2\n", "rules.csv, line 4: \"A\" is on an earlier line"],
      ["a row of another width", "id,max\nA\n", "rules.csv, line 2: it has 1 column"],
      ["an open quote", "id,max\n\"A,1\n", "rules.csv, line 2: a quote opens here"]
    ] as const
  ) {
    it.effect(`is refused with ${name}, with line and reason`, () =>
      Effect.gen(function*() {
        expect(yield* Effect.flip(read(text))).toMatchObject({ _tag: "SourceError", message: containing(message) })
      }))
  }
})

describe("a file of kits", () => {
  const read = (text: string) => KitsFile.read("kits.csv", Stream.make(new TextEncoder().encode(text)))

  it.effect("has a row for each component of a kit", () =>
    Effect.gen(function*() {
      const kits = yield* read("kit;component;quantity\r\nBOX;TEA;2\r\nBOX;MUG;1\r\nDUO;MUG;2\r\n")
      expect(Array.from(kits, ([kit, components]) => [kit, [...components]])).toEqual([
        ["BOX", [["TEA", 2], ["MUG", 1]]],
        ["DUO", [["MUG", 2]]]
      ])
    }))

  for (
    const [name, text, message] of [
      ["no quantity", "kit,component\nA,B\n", "there is no column \"quantity\""],
      ["a quantity of 0", "kit,component,quantity\nA,B,0\n", "kits.csv, line 2: quantity \"0\" is not a whole number, 1 or more"],
      ["a component twice", "kit,component,quantity\nA,B,1\nA,B,2\n", "kits.csv, line 3: \"B\" is on an earlier line of the kit \"A\""],
      ["a kit in a kit", "kit,component,quantity\nA,B,1\nB,C,1\n", "kits.csv, line 2: \"B\" is a kit itself"],
      ["no kit", "kit,component,quantity\n", "kits.csv: it has a header and no rows, which is more likely a broken export"],
      [
        "nothing but blank lines",
        "kit,component,quantity\n\n,,\n",
        "than a shop without kits: omit --kits (STOCK_SYNC_KITS) to have none; no row of it was used"
      ],
      ["an empty component", "kit,component,quantity\nA,,1\n", "kits.csv, line 2: component is empty"]
    ] as const
  ) {
    it.effect(`is refused with ${name}, with line and reason`, () =>
      Effect.gen(function*() {
        expect(yield* Effect.flip(read(text))).toMatchObject({ _tag: "SourceError", message: containing(message) })
      }))
  }

  it("names products as the rules do, without excluded kits", () => {
    const rules = rulesOf({ BOX: { productId: ProductId.make("P1") }, TEA: { productId: ProductId.make("P2") }, DUO: { exclude: true } })
    const kits = new Map([["BOX", new Map([["TEA", 2], ["MUG", 1]])], ["DUO", new Map([["MUG", 2]])]])
    expect(Array.from(ProductRules.kitsAtService(kits, rules), ([kit, components]) => [kit, [...components]])).toEqual([
      ["P1", [["P2", 2], ["MUG", 1]]]
    ])
  })
})

describe("a source with rules", () => {
  const world = (more: Partial<Open.SourceOptions> = {}) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      const folder = OneFolder.make()
      const source = yield* Effect.provide(
        Open.make({
          idColumn: "productId",
          stockColumn: "stock",
          timeout: Duration.seconds(30),
          settle: Duration.zero,
          source: "/stock.csv",
          rules: { all: { buffer: 1 }, unmapped: "pass", path: "/rules.csv" },
          ...more
        }),
        folder.layer
      )
      return { ...folder, ...source }
    })
  const rowsOf = (snapshot: Option.Option<Snapshot>) => {
    const { adjustments = ProductRules.unadjusted, rows } = Option.getOrThrow(snapshot)
    return all(Stream.map(rows, offered(adjustments)))
  }

  it.effect("follows an edit of the rules, although the source is the same", () =>
    Effect.gen(function*() {
      const { open, write } = yield* world()
      yield* write("/stock.csv", "productId,stock\nA,5\nB,5\nC,5\n")
      yield* write("/rules.csv", "id,productId,exclude\nA,P1,\nB,,yes\n")
      const first = yield* open(Option.none())
      expect(first).toMatchObject({ value: { excluded: new Set(["B"]), unit: "line" } })
      expect(yield* rowsOf(first)).toEqual([good(2, "P1", 4), good(4, "C", 4)])
      const { version } = Option.getOrThrow(first)
      expect(yield* open(version)).toEqual(Option.none())
      yield* write("/rules.csv", "id,productId,exclude\nA,P1,\nB,P200,\n")
      expect(yield* rowsOf(yield* open(version))).toEqual([good(2, "P1", 4), good(3, "P200", 4), good(4, "C", 4)])
    }))

  it.effect("names the rules that match no row", () =>
    Effect.gen(function*() {
      const { open, write } = yield* world({ rules: { all: {}, unmapped: "pass", path: "/rules.csv", kits: "/kits.csv" } })
      yield* write("/stock.csv", "productId,stock\nA,5\nB,many\n")
      yield* write("/rules.csv", "id,exclude,max\nA,yes,\nB,,1\nC,,1\nK,,1\n")
      yield* write("/kits.csv", "kit,component,quantity\nK,A,2\n")
      const { kits, rows, unusedRules } = Option.getOrThrow(yield* open(Option.none()))
      // A component counts although it is excluded.
      expect(yield* all(rows)).toMatchObject([{ productId: "A", stock: 5 }, { productId: "B", _tag: "Rejected" }])
      expect(unusedRules?.()).toEqual([{ id: "C", reason: containing("matches no row: /rules.csv names it") }])
      expect([...kits?.get("K") ?? []]).toEqual([["A", 2]])
      yield* write("/kits.csv", "kit,component,quantity\nK,A,30\n")
      const edited = Option.getOrThrow(yield* open(Option.none()))
      expect([...edited.kits?.get("K") ?? []]).toEqual([["A", 30]])
    }))

  it.effect("takes nothing while the rules are broken, missing or unfinished", () =>
    Effect.gen(function*() {
      const { open, write } = yield* world()
      yield* write("/stock.csv", "productId,stock\nA,5\n")
      expect(yield* Effect.flip(open(Option.none()))).toMatchObject({
        _tag: "SourceError",
        message: containing("/rules.csv: there is no such file. Name another file with --rules")
      })
      yield* write("/rules.csv", "id,max\nA,many\n")
      expect(yield* Effect.flip(open(Option.none()))).toMatchObject({
        _tag: "SourceError",
        message: containing("/rules.csv, line 2: max \"many\"")
      })
      yield* write("/rules.csv", "id,max\nA,1")
      expect(yield* Effect.flip(open(Option.none()))).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("/rules.csv: its last line has no line end")
      })
    }))

  it.effect("takes nothing if the rules change while it is read", () =>
    Effect.gen(function*() {
      const { open, write } = yield* world()
      yield* write("/stock.csv", "productId,stock\nA,5\n")
      yield* write("/rules.csv", "id,max\nA,1\n")
      const { rows } = Option.getOrThrow(yield* open(Option.none()))
      yield* write("/rules.csv", "id,max\nA,20\n")
      expect(yield* Effect.flip(all(rows))).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("/rules.csv was changed while it was read")
      })
    }))

  it.effect("makes rows without a mapping bad rows, which say why", () =>
    Effect.gen(function*() {
      const { open, write } = yield* world({ rules: { all: {}, unmapped: "reject", path: "/rules.csv" } })
      yield* write("/stock.csv", "productId,stock\nA,5\nB,5\n")
      yield* write("/rules.csv", "id\nA\n")
      const fiber = yield* Effect.forkChild(rowsOf(yield* open(Option.none())))
      expect(yield* Fiber.join(fiber)).toEqual([good(2, "A", 5), {
        _tag: "Rejected",
        line: 3,
        productId: undefined,
        reason: containing("\"B\" is not in the rules")
      }])
    }))

  it.effect("needs no file for rules that hold for all", () =>
    Effect.gen(function*() {
      const { open, write } = yield* world({ rules: { all: { max: 3 }, unmapped: "pass", path: undefined } })
      yield* write("/stock.csv", "productId,stock\nA,5\nB,2\n")
      const first = yield* open(Option.none())
      expect(yield* rowsOf(first)).toEqual([good(2, "A", 3), good(3, "B", 2)])
      expect(yield* open(Option.getOrThrow(first).version)).toEqual(Option.none())
    }))
})
