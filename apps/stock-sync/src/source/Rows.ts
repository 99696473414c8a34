/** Reads rows of products and their stock from bytes, by the options of this program. */
import * as Format from "@plaza/tabular/Format"
import type { JsonOptions } from "@plaza/tabular/Json"
import type { RowSchema } from "@plaza/tabular/RowSchema"
import * as Stock from "@plaza/tabular/Stock"
import type * as StreamingParser from "@plaza/tabular/StreamingParser"
import type { Unit } from "./Source.js"

/** How a row is read, whatever it comes from. */
export interface ShapeOptions extends Stock.Columns {
  /** What a stock below zero becomes (default: a rejected row). */
  readonly negative?: Stock.Negative | undefined
}

export interface RowOptions extends ShapeOptions {
  /** Default: by the content type, else by the ending. */
  readonly format?: Format.Format | undefined
  readonly delimiter?: string | undefined
  readonly items?: string | undefined
}

export interface ReadOptions extends RowOptions, Pick<JsonOptions, "onNextCursor"> {
  readonly source: string
  /** Whether no rows are fine, as on the last page of several. */
  readonly mayBeEmpty?: boolean
}

export const shape = (options: ShapeOptions): RowSchema<Stock.Row> =>
  Stock.schema(options, { id: "--id-column", stock: "--stock-column" }, { negative: options.negative ?? "reject" })

export const unitOf = (format: Format.Format): Unit => format === "json" ? "item" : "line"

/** The rows of bytes in a format. */
export const rows = (format: Format.Format, options: ReadOptions): StreamingParser.Decoder<Stock.Row> =>
  Format.rows(format, options.mayBeEmpty === true ? { ...shape(options), empty: undefined } : shape(options), {
    ...options,
    itemsOption: "--items or STOCK_SYNC_ITEMS",
    formatOption: "--format or STOCK_SYNC_FORMAT"
  })
