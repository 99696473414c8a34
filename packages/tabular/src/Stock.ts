/** The schema of rows with a product and its stock. */
import { ProductId } from "@plaza/domain/Ids"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Format from "./Format.ts"
import * as Identity from "./Identity.ts"
import * as Numerals from "./Numerals.ts"
import { quoted } from "./Quoted.ts"
import type { RowSchema } from "./RowSchema.ts"
import * as SourceError from "./SourceError.ts"
import * as StockValue from "./StockValue.ts"
import type * as StreamingParser from "./StreamingParser.ts"
import * as Utf8 from "./Utf8.ts"

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

/** A column whose number is added to the stock, or subtracted from it. */
export interface Term {
  readonly column: string
  readonly sign: 1 | -1
}

/** The columns that hold the product and its stock. */
export interface Columns {
  readonly idColumn: string
  /** One column, or the terms of a sum. */
  readonly stockColumn: string | readonly [Term, ...Array<Term>]
}

/** The options that select other columns. */
export interface ColumnOptions {
  readonly id: string
  readonly stock: string
  /** The option that says what the separators of numbers mean. */
  readonly separators?: string | undefined
  /** The option that names the charset of text. */
  readonly charset?: string | undefined
}

/** How a stock below zero is decoded: as 0, or as a rejected row. Inventory systems go below zero when more is sold than in stock. */
export type Negative = "zero" | "reject"

export interface Options {
  readonly negative?: Negative | undefined
  readonly separators?: Numerals.Separators | undefined
  /** Collects what the numbers of one source show about their separators. */
  readonly evidence?: Numerals.Evidence | undefined
  /** What a row is called in messages, with its number in the whole source (default: `line 3`). */
  readonly placeOf?: ((line: number) => string) | undefined
}

const decodeId = Identity.decoder(ProductId)

export const termsOf = (stockColumn: Columns["stockColumn"]): readonly [Term, ...Array<Term>] =>
  typeof stockColumn === "string" ? [{ column: stockColumn, sign: 1 }] : stockColumn

export const schema = (
  { idColumn, stockColumn }: Columns,
  optionNames?: ColumnOptions,
  { evidence, negative = "reject", placeOf = (line) => `line ${line}`, separators }: Options = {}
): RowSchema<Row> => {
  const terms = termsOf(stockColumn)
  const [first] = terms
  const isSum = terms.length > 1
  const reject = (line: number, productId: string | undefined, reason: string): Row => ({ _tag: "Rejected", line, productId, reason })

  /** The row that is decoded. In one place, because objects of their own for each row would take a tenth of the time. */
  let current = 0
  const options = terms.map(({ column }): StockValue.Options => ({
    separators,
    option: optionNames?.separators,
    onReading: evidence && ((reading, text) => evidence.add(reading, () => `${placeOf(current)}: ${column} ${quoted(text)}`))
  }))
  const [firstOptions] = options

  /** The number of one term. It may be below zero, unless it is subtracted: then it is more likely written with its sign. */
  const decodeTerm = ({ column, sign }: Term, value: unknown, how: StockValue.Options | undefined) => {
    const read = StockValue.decode(column, value, how)
    if (Result.isSuccess(read) || read.failure.negative === undefined || read.failure.negative === null) return read
    return sign === 1 && negative === "zero"
      ? Result.succeed(read.failure.negative)
      : Result.fail<StockValue.Rejection>({
        reason: sign === 1
          ? read.failure.reason
          : `${read.failure.reason}, and it is subtracted: write it without its sign, or add the column`
      })
  }

  const decodeSum = (values: ReadonlyArray<unknown>): Result.Result<number, StockValue.Rejection> => {
    let sum = 0
    for (const [index, term] of terms.entries()) {
      const read = decodeTerm(term, values[index + 1], options[index])
      if (Result.isFailure(read)) return read
      sum += term.sign * read.success
    }
    return sum < 0
      ? Result.fail({ reason: `the sum of its columns ${sum} is negative`, negative: sum })
      : Number.isSafeInteger(sum)
      ? Result.succeed(sum)
      : Result.fail({ reason: "the sum of its columns is too large" })
  }

  let isExplained = false
  /** Says once what to do about ids that are not UTF-8, because there may be many. */
  const explained = (reason: string): string => {
    if (optionNames?.charset === undefined || !reason.endsWith(Identity.saveInUtf8)) return reason
    const before = reason.slice(0, -Identity.saveInUtf8.length)
    if (isExplained) return before
    isExplained = true
    return `${before}: ${Utf8.remedy(optionNames.charset)}`
  }

  return {
    charsetOption: optionNames?.charset,
    columns: [
      { name: idColumn, option: optionNames?.id },
      ...terms.map(({ column }) => ({ name: column, option: optionNames?.stock, isNumber: true }))
    ],
    empty: "more likely a broken export than an empty shop",
    reject,
    decode: (line, values) => {
      current = line
      const [id] = values
      const productId = decodeId(idColumn, id)
      if (Result.isFailure(productId)) return reject(line, Identity.ofRejected(id), explained(productId.failure))
      const stock = isSum ? decodeSum(values) : StockValue.decode(first.column, values[1], firstOptions)
      if (Result.isSuccess(stock)) return { _tag: "Valid", line, productId: productId.success, stock: stock.success }
      return stock.failure.negative !== undefined && negative === "zero"
        ? { _tag: "Valid", line, productId: productId.success, stock: 0, negative: true }
        : reject(line, productId.success, stock.failure.reason)
    }
  }
}

/** The same rows, which fail at their end if two numbers of theirs contradict each other. `source` names the source. */
export const consistent =
  (source: string, evidence: Numerals.Evidence, option?: string) =>
  <E, R>(rows: Stream.Stream<Row, E, R>): Stream.Stream<Row, E | SourceError.SourceError, R> =>
    Stream.concat(
      rows,
      Stream.suspend(() => {
        const { contradiction } = evidence
        if (contradiction === undefined) return Stream.empty
        const { fraction, grouped, separator } = contradiction
        return Stream.fail(SourceError.content(
          source,
          `${grouped} is a whole number only if "${separator}" groups thousands, and ${fraction} shows that it begins a fraction: ` +
            (option === undefined ? "write the numbers without separators" : `set ${option}`)
        ))
      })
    )

/**
 * Decodes bytes in a format into rows of products and their stock. Fails at the end if two numbers contradict each other. Pages of one source
 * share their `evidence`.
 */
export const rows = (
  format: Format.Format,
  columns: Columns,
  options: Format.FormatOptions & Options & {
    readonly optionNames?: ColumnOptions | undefined
    readonly mayBeEmpty?: boolean | undefined
  }
): StreamingParser.Decoder<Row> =>
(bytes) =>
  Stream.suspend(() => {
    const { evidence = new Numerals.Evidence() } = options
    const decoder = schema(columns, options.optionNames, { ...options, evidence })
    return consistent(options.source, evidence, options.optionNames?.separators)(
      Format.rows(format, options.mayBeEmpty === true ? { ...decoder, empty: undefined } : decoder, options)(bytes)
    )
  })
