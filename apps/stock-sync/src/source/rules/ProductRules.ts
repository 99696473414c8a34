/**
 * Rules between the source and the ledger: mapping of ids and excluded products change its rows; safety stock and caps apply to the sum of
 * a product's rows. Pure.
 */
import type { ProductId } from "@plaza/domain/Ids"
import type { RejectedRow, Row, ValidRow } from "@plaza/tabular/Stock"

/** How a stock value is reduced. */
export interface Adjustment {
  /** Pieces to subtract. The result is never negative. */
  readonly buffer?: number | undefined
  /** The largest stock that is sent. */
  readonly max?: number | undefined
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

/** The stock to send: 0 or more, at most `max`, never more than `stock`. */
export const adjust = (stock: number, { buffer = 0, max = Infinity }: Adjustment): number => Math.min(Math.max(0, stock - buffer), max)

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

/** Several ids of the source may be one product. The largest buffer and the smallest maximum of their rules hold for it. */
export const adjustments = ({ all, products }: ProductRules): Adjustments => {
  const own = new Map<string, Adjustment>()
  for (const [id, rule] of products) {
    if (rule.exclude) continue
    const name = rule.productId ?? id
    const next = { buffer: rule.buffer ?? all.buffer, max: rule.max ?? all.max }
    const before = own.get(name)
    own.set(
      name,
      before === undefined ? next : { buffer: largest(before.buffer, next.buffer), max: smallest(before.max, next.max) }
    )
  }
  return { all, products: own }
}

/** How the stock of one product is reduced. */
export const adjustmentOf = ({ all, products }: Adjustments, id: string): Adjustment => products.get(id) ?? all

/**
 * A row as the rules map it; undefined for an excluded product. `setting` names that for unmapped rows.
 */
export const apply = ({ products, unmapped }: ProductRules, setting: string) => (row: Row): Row | undefined => {
  const rule = row.productId === undefined ? undefined : products.get(row.productId)
  if (rule === undefined) return row._tag === "Valid" && unmapped === "reject" ? rejected(row, setting) : row
  if (rule.exclude) return undefined
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
