/** Decodes rows of products and their stock from bytes, by the options of this program. */
import type { AcceptPartial } from "@plaza/tabular/AcceptPartial"
import type * as Format from "@plaza/tabular/Format"
import type { JsonOptions } from "@plaza/tabular/Json"
import * as Numerals from "@plaza/tabular/Numerals"
import * as Stock from "@plaza/tabular/Stock"
import type * as StreamingParser from "@plaza/tabular/StreamingParser"
import type { CharsetOptions } from "@plaza/tabular/Utf8"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Wording } from "../Wording.ts"
import type { Unit } from "./Source.ts"

/** How a row of any source is decoded. `negative`: the result of a stock below zero (default: a rejected row). */
export interface SchemaOptions extends Stock.Columns, Pick<Stock.Options, "negative" | "separators"> {}

export interface RowOptions extends SchemaOptions {
  /** Default: by the content type, else by the file's ending. */
  readonly format?: Format.Format | undefined
  readonly delimiter?: string | undefined
  readonly items?: string | undefined
  /** The charset of text, by its WHATWG name (default: that of the content type, else UTF-8). */
  readonly charset?: string | undefined
  /** The sheet of a workbook: its name, or the number of its tab from 1. */
  readonly sheet?: string | undefined
  /** The fields and marks of a partial source that are accepted. */
  readonly acceptPartial?: ReadonlyArray<string> | undefined
}

export interface ReadOptions extends RowOptions, Pick<JsonOptions, "onEvidence" | "onNextCursor">, Pick<CharsetOptions, "isDeclared"> {
  readonly source: string
  /** Whether nothing but the line end of a last row of CSV shows that the row is complete. */
  readonly needsLineEnd?: boolean
  /** Of all pages of the source (default: of these bytes alone). */
  readonly evidence?: Numerals.Evidence
  /** The rows of the pages before. */
  readonly rowsBefore?: number
  /** Whether the bytes may have no rows, as the last of several pages. */
  readonly mayBeEmpty?: boolean
}

const optionNames = Effect.map(Wording, ({ option }): Stock.ColumnOptions => ({
  id: option("id-column"),
  stock: option("stock-column"),
  separators: `${option("decimal")} or ${option("thousands")}`,
  charset: option("charset")
}))

/** Decodes the rows of a query. `consistent` fails at their end if two numbers contradict each other. */
export const decoder = (source: string, options: SchemaOptions) =>
  Effect.map(optionNames, (names) => {
    const evidence = new Numerals.Evidence()
    return {
      schema: Stock.schema(options, names, { ...options, evidence, placeOf: (line) => `row ${line}` }),
      consistent: Stock.consistent(source, evidence, names.separators)
    }
  })

export const unitOf = (format: Format.Format): Unit => format === "json" ? "item" : format === "xlsx" ? "row" : "line"

/** What is accepted of a partial source. */
export const accepting = ({ acceptPartial = [] }: Pick<RowOptions, "acceptPartial">): Effect.Effect<AcceptPartial> =>
  Effect.map(Wording, ({ named }) => ({ names: acceptPartial, option: (name) => named("accept-partial", name) }))

/** The rows of bytes in a format. */
export const rows = (format: Format.Format, options: ReadOptions): StreamingParser.Decoder<Stock.Row> => (bytes) =>
  Stream.unwrap(Effect.gen(function*() {
    const { place } = yield* Wording
    return Stock.rows(format, options, {
      ...options,
      placeOf: (line) => `${unitOf(format)} ${line + (options.rowsBefore ?? 0)}`,
      optionNames: yield* optionNames,
      acceptPartial: yield* accepting(options),
      itemsOption: place("items"),
      formatOption: place("format"),
      charsetOption: place("charset"),
      sheetOption: place("sheet")
    })(bytes)
  }))
