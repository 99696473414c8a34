/**
 * Rules between the source and the ledger: mapping of ids and excluded products change its rows; safety stock and caps apply to the sum of
 * a product's rows. Pure.
 */
import type { ProductId } from "@plaza/domain/Ids"
import type { RejectedRow, Row, ValidRow } from "@plaza/tabular/Stock"
import * as Option from "effect/Option"

/** How a stock value is reduced: first the buffer, then `atLeast`, then `max`. */
export interface Adjustment {
  /** Pieces to subtract. The result is never negative. */
  readonly buffer?: number | undefined
  /** The share to subtract, in hundredths of a percent: 1,000 is 10%. Rounded up to whole pieces. Of both buffers the larger one holds. */
  readonly bufferShare?: number | undefined
  /** A smaller stock, after the buffer, counts as 0. */
  readonly atLeast?: number | undefined
  /** The largest stock that is sent. */
  readonly max?: number | undefined
}

/** What a share is a part of. */
export const whole = 10_000

/** Reads a buffer: pieces such as "2", or a share such as "10%" or "2.5%". */
export const parseBuffer = (text: string): Option.Option<Pick<Adjustment, "buffer" | "bufferShare">> => {
  const [, digits = "", decimals = "", percent] = /^(\d{1,15})(?:\.(\d{1,2}))?\s*(%)?$/.exec(text) ?? []
  if (digits === "" || (percent === undefined && decimals !== "")) return Option.none()
  const share = Number(digits) * 100 + Number(decimals.padEnd(2, "0"))
  return percent === undefined
    ? Option.some({ buffer: Number(digits) })
    : share <= whole
    ? Option.some({ bufferShare: share })
    : Option.none()
}

/** The rules for one product. Where a value is undefined, the rule for all products applies. */
export interface ProductRule extends Adjustment {
  /** The id at the service (default: the id in the source). */
  readonly productId?: ProductId | undefined
  readonly exclude: boolean
}

export interface ProductRules {
  readonly all: Adjustment
  /** By the id in the source. */
  readonly products: ReadonlyMap<string, ProductRule>
  /** For rows whose id is not in `products`. */
  readonly unmapped: "pass" | "reject"
}

/** A share of a stock, rounded up. In two parts, because the product of both can be too large for an exact number. */
const shareOf = (stock: number, share: number): number => {
  const rest = stock % whole
  return (stock - rest) / whole * share + Math.ceil(rest * share / whole)
}

/** The stock to send: 0 or more, at most `max`, never more than `stock`. */
export const adjust = (stock: number, { atLeast = 0, buffer = 0, bufferShare = 0, max = Infinity }: Adjustment): number => {
  const rest = Math.max(0, stock - Math.max(buffer, shareOf(stock, bufferShare)))
  return rest < atLeast ? 0 : Math.min(rest, max)
}

/** How the stock of each product is reduced, after all of its rows are added up. */
export interface Adjustments {
  readonly all: Adjustment
  /** By the id at the service: products with a rule of their own. These values stand in for those of `all`. */
  readonly products: ReadonlyMap<string, Adjustment>
}

export const unadjusted: Adjustments = { all: {}, products: new Map() }

const largest = (one: number | undefined, other: number | undefined) => Math.max(one ?? 0, other ?? 0)
const smallest = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? one ?? other : Math.min(one, other)

/**
 * Several ids of the source may be one product. The largest buffer and minimum and the smallest maximum of their rules hold for it. Those of
 * excluded products too, which may be components of kits.
 */
export const adjustments = ({ all, products }: ProductRules): Adjustments => {
  const own = new Map<string, Adjustment>()
  for (const [id, rule] of products) {
    const name = rule.productId ?? id
    // A buffer of its own takes the place of both for all.
    const { buffer, bufferShare } = rule.buffer === undefined && rule.bufferShare === undefined ? all : rule
    const next = { buffer, bufferShare, atLeast: rule.atLeast ?? all.atLeast, max: rule.max ?? all.max }
    const before = own.get(name)
    own.set(
      name,
      before === undefined ? next : {
        buffer: largest(before.buffer, next.buffer),
        bufferShare: largest(before.bufferShare, next.bufferShare),
        atLeast: largest(before.atLeast, next.atLeast),
        max: smallest(before.max, next.max)
      }
    )
  }
  return { all, products: own }
}

/** How the stock of one product is reduced. */
export const adjustmentOf = ({ all, products }: Adjustments, id: string): Adjustment => products.get(id) ?? all

const none: ReadonlySet<string> = new Set()

/**
 * A row as the rules map it; undefined for an excluded product that is no component of a kit. `setting` names that for unmapped rows;
 * `components` are the ids at the service.
 */
export const apply = ({ products, unmapped }: ProductRules, setting: string, components = none) => (row: Row): Row | undefined => {
  const rule = row.productId === undefined ? undefined : products.get(row.productId)
  if (rule === undefined) return row._tag === "Valid" && unmapped === "reject" ? rejected(row, setting) : row
  if (rule.exclude && !components.has(rule.productId ?? row.productId ?? "")) return undefined
  return rule.productId === undefined ? row : { ...row, productId: rule.productId }
}

// Without an id at the service the product is unknown: its own id may be the id of another product there.
const rejected = ({ line, productId }: ValidRow, setting: string): RejectedRow => ({
  _tag: "Rejected",
  line,
  productId: undefined,
  reason: `${JSON.stringify(productId)} is not in the rules: add it there, or set ${setting} to pass`
})

/** The excluded products, by their id at the service. */
export const excluded = ({ products }: ProductRules): ReadonlySet<string> => {
  const ids = new Set<string>()
  for (const [id, rule] of products) if (rule.exclude) ids.add(rule.productId ?? id)
  return ids
}

/** The name at the service of an id in the source. */
export const nameOf = ({ products }: Pick<ProductRules, "products">, id: string): string => products.get(id)?.productId ?? id

/** How many pieces of each component a kit has, by the kit. */
export type Kits = ReadonlyMap<string, ReadonlyMap<string, number>>

/** The kits by the ids at the service, without excluded ones. Several ids of the source may be one product. */
export const kitsAtService = (kits: Kits, rules: ProductRules): Kits => {
  const named = new Map<string, Map<string, number>>()
  for (const [kit, components] of kits) {
    if (rules.products.get(kit)?.exclude === true) continue
    const own = named.get(nameOf(rules, kit)) ?? new Map<string, number>()
    for (const [component, quantity] of components) {
      const name = nameOf(rules, component)
      own.set(name, (own.get(name) ?? 0) + quantity)
    }
    named.set(nameOf(rules, kit), own)
  }
  return named
}

/** The components of all kits. */
export const componentsOf = (kits: Kits): ReadonlySet<string> =>
  new Set(Array.from(kits.values(), (components) => [...components.keys()]).flat())

/** A rule without an effect. */
export interface UnusedRule {
  /** The id in the source that it names. */
  readonly id: string
  readonly reason: string
}
