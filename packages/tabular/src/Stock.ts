/** The schema of rows with a product and its stock. */
import { ProductId } from "@plaza/domain/Ids"
import * as Result from "effect/Result"
import * as Identity from "./Identity.ts"
import type { RowSchema } from "./RowSchema.ts"
import * as StockValue from "./StockValue.ts"

/** The stock of a product. */
export interface ValidRow {
  readonly _tag: "Valid"
  /** The line where the row starts, from 1 with the header. The number of the row if the source has no lines. */
  readonly line: number
  readonly productId: ProductId
  /** Whole units, 0 or more. */
  readonly stock: number
  /** Set if the source has a number below zero, which counts as 0. */
  readonly negative?: true
}

/** A row that can't be used. It does not affect the rows around it. */
export interface RejectedRow {
  readonly _tag: "Rejected"
  readonly line: number
  /** The product, if its id can be read. Other rows of the same product are then rejected as well. */
  readonly productId: string | undefined
  /** The reason, as a clause after "line 12: ". */
  readonly reason: string
}

export type Row = ValidRow | RejectedRow

/** The names of the columns that hold the product and its stock. */
export interface Columns {
  readonly idColumn: string
  readonly stockColumn: string
}

/** The options that select other columns. */
export interface ColumnOptions {
  readonly id: string
  readonly stock: string
}

/** How a stock below zero is decoded: as 0, or as a rejected row. Inventory systems go below zero when more is sold than in stock. */
export type Negative = "zero" | "reject"

const decodeId = Identity.decoder(ProductId)

export const schema = (
  { idColumn, stockColumn }: Columns,
  optionNames?: ColumnOptions,
  { negative }: { readonly negative: Negative } = { negative: "reject" }
): RowSchema<Row> => {
  const reject = (line: number, productId: string | undefined, reason: string): Row => ({ _tag: "Rejected", line, productId, reason })
  return {
    columns: [{ name: idColumn, option: optionNames?.id }, { name: stockColumn, option: optionNames?.stock }],
    empty: "more likely a broken export than an empty shop",
    reject,
    decode: (line, [id, value]) => {
      const productId = decodeId(idColumn, id)
      if (Result.isFailure(productId)) return reject(line, Identity.ofRejected(id), productId.failure)
      const stock = StockValue.decode(stockColumn, value)
      if (Result.isSuccess(stock)) return { _tag: "Valid", line, productId: productId.success, stock: stock.success }
      return stock.failure.negative && negative === "zero"
        ? { _tag: "Valid", line, productId: productId.success, stock: 0, negative: true }
        : reject(line, productId.success, stock.failure.reason)
    }
  }
}
