/**
 * Rows that tell the stock of products. Knows nothing of formats, nor of what is done with the rows.
 *
 * @since 0.1.0
 */
import { ProductId } from "@plaza/domain/Ids"
import * as Either from "effect/Either"
import * as Identity from "./Identity.js"
import type { Shape } from "./Shape.js"
import * as StockValue from "./StockValue.js"

/**
 * A row that says what the stock of a product is.
 *
 * @since 0.1.0
 * @category models
 */
export interface GoodRow {
  readonly _tag: "Good"
  /** Where the row begins, counted from 1 with the header; the number of the row where the source has no lines. */
  readonly line: number
  readonly productId: ProductId
  /** Whole pieces, 0 or more. */
  readonly stock: number
}

/**
 * A row that can't be used. It is set aside; the rows around it count.
 *
 * @since 0.1.0
 * @category models
 */
export interface BadRow {
  readonly _tag: "Bad"
  readonly line: number
  /** The product, where the row still names one: another row of the same product is then refused as well. */
  readonly productId: string | undefined
  /** What is wrong, in words that make sense after "line 12: ". */
  readonly reason: string
}

/** @since 0.1.0 @category models */
export type Row = GoodRow | BadRow

/**
 * Where in a record the product and its stock stand, by name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Columns {
  readonly idColumn: string
  readonly stockColumn: string
}

/**
 * The options that name other columns.
 *
 * @since 0.1.0
 * @category models
 */
export interface ColumnOptions {
  readonly id: string
  readonly stock: string
}

const readId = Identity.reader(ProductId)

/** @since 0.1.0 @category shapes */
export const shape = ({ idColumn, stockColumn }: Columns, options?: ColumnOptions): Shape<Row> => {
  const bad = (line: number, productId: string | undefined, reason: string): Row => ({ _tag: "Bad", line, productId, reason })
  return {
    columns: [{ name: idColumn, option: options?.id }, { name: stockColumn, option: options?.stock }],
    empty: "more likely a broken export than an empty shop",
    bad,
    read: (line, [id, value]) => {
      const productId = readId(idColumn, id)
      if (Either.isLeft(productId)) return bad(line, Identity.named(id), productId.left)
      const stock = StockValue.read(stockColumn, value)
      return Either.isLeft(stock) ? bad(line, productId.right, stock.left) : { _tag: "Good", line, productId: productId.right, stock: stock.right }
    }
  }
}
