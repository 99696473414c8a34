/**
 * Rows of products and their stock out of bytes, by the options of this program. Knows nothing of where the bytes come from.
 *
 * @since 0.1.0
 */
import type * as ByPieces from "@plaza/rows/ByPieces"
import * as Format from "@plaza/rows/Format"
import type { Shape } from "@plaza/rows/Shape"
import * as Stock from "@plaza/rows/Stock"

/** @since 0.1.0 @category models */
export interface RowOptions extends Stock.Columns {
  /** Found out unless told. */
  readonly format?: Format.Format | undefined
  readonly delimiter?: string | undefined
  readonly items?: string | undefined
}

/** @since 0.1.0 @category shapes */
export const shape = (columns: Stock.Columns): Shape<Stock.Row> => Stock.shape(columns, { id: "--id-column", stock: "--stock-column" })

/**
 * The rows of bytes in a format.
 *
 * @since 0.1.0
 * @category streams
 */
export const rows = (format: Format.Format, options: RowOptions & { readonly source: string }): ByPieces.Read<Stock.Row> =>
  Format.rows(format, shape(options), { ...options, itemsOption: "--items or STOCK_SYNC_ITEMS" })
