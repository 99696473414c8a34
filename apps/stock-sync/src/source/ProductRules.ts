/**
 * Rules that change rows between the source and the ledger: safety stock, caps, mapping of ids, excluded products. Pure.
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

/**
 * A row as the rules change it; undefined for an excluded product. Only the id of a bad row is mapped. `setting` names that for unmapped
 * rows.
 */
export const apply = ({ all, products, unmapped }: ProductRules, setting: string) => (row: Row): Row | undefined => {
  const rule = row.productId === undefined ? undefined : products.get(row.productId)
  if (rule === undefined) {
    return row._tag === "Rejected" ? row : unmapped === "reject" ? rejected(row, setting) : { ...row, stock: adjust(row.stock, all) }
  }
  if (rule.exclude) return undefined
  if (row._tag === "Rejected") return { ...row, productId: rule.productId ?? row.productId }
  return {
    ...row,
    productId: rule.productId ?? row.productId,
    stock: adjust(row.stock, { buffer: rule.buffer ?? all.buffer, max: rule.max ?? all.max })
  }
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
