/**
 * What an inventory system tells: a stream of rows, each naming a product and its stock, or saying why it can't be used.
 * Knows nothing of files and formats (see the folder of the same name) nor of what is done with the rows.
 *
 * @since 0.1.0
 */
import type { ProductId } from "@plaza/domain/Ids"
import * as Data from "effect/Data"

/**
 * A row that says what the stock of a product is.
 *
 * @since 0.1.0
 * @category models
 */
export interface GoodRow {
  readonly _tag: "Good"
  /** Where the row begins, counted from 1 with the header. */
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
 * The source as a whole can't be trusted or read, so nothing of it is taken.
 *
 * @since 0.1.0
 * @category errors
 */
export class SourceRefused extends Data.TaggedError("SourceRefused")<{
  /** What was read: a path, or "stdin". */
  readonly source: string
  /** The line where reading ended, where there is one. */
  readonly line: number | undefined
  readonly message: string
}> {
  readonly exitCode = 2
}
