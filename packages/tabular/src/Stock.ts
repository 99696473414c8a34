/** Rows that name a product and its stock. */
import { ProductId } from "@plaza/domain/Ids"
import * as Either from "effect/Either"
import * as Identity from "./Identity.js"
import type { RowSchema } from "./RowSchema.js"
import * as StockValue from "./StockValue.js"

/** The stock of a product. */
export interface GoodRow {
  readonly _tag: "Good"
  /** Where the row begins, counted from 1 with the header; the number of the row where the source has no lines. */
  readonly line: number
  readonly productId: ProductId
  /** Whole pieces, 0 or more. */
  readonly stock: number
  /** The source has a number below zero, which is taken as 0. Absent otherwise. */
  readonly negative?: true
}

/** A rejected row. The rows around it count. */
export interface BadRow {
  readonly _tag: "Bad"
  readonly line: number
  /** The product, where the row still names one: other rows of the same product are then rejected as well. */
  readonly productId: string | undefined
  /** What is wrong, in words that make sense after "line 12: ". */
  readonly reason: string
}

export type Row = GoodRow | BadRow

/** The names of the columns that hold the product and its stock. */
export interface Columns {
  readonly idColumn: string
  readonly stockColumn: string
}

/** The options that name other columns. */
export interface ColumnOptions {
  readonly id: string
  readonly stock: string
}

/**
 * What a stock below zero becomes: 0, or a rejected row. Inventory systems go below zero where more is sold than is there.
 */
export type Negative = "zero" | "reject"

const readId = Identity.reader(ProductId)

export const shape = (
  { idColumn, stockColumn }: Columns,
  optionNames?: ColumnOptions,
  { negative }: { readonly negative: Negative } = { negative: "reject" }
): RowSchema<Row> => {
  const bad = (line: number, productId: string | undefined, reason: string): Row => ({ _tag: "Bad", line, productId, reason })
  return {
    columns: [{ name: idColumn, option: optionNames?.id }, { name: stockColumn, option: optionNames?.stock }],
    empty: "more likely a broken export than an empty shop",
    bad,
    read: (line, [id, value]) => {
      const productId = readId(idColumn, id)
      if (Either.isLeft(productId)) return bad(line, Identity.named(id), productId.left)
      const stock = StockValue.read(stockColumn, value)
      if (Either.isRight(stock)) return { _tag: "Good", line, productId: productId.right, stock: stock.right }
      return stock.left.negative && negative === "zero"
        ? { _tag: "Good", line, productId: productId.right, stock: 0, negative: true }
        : bad(line, productId.right, stock.left.reason)
    }
  }
}
