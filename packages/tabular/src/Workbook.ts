/**
 * Decodes a sheet of an Excel workbook (.xlsx). The workbook is kept in memory as it is stored, and its sheet is read as a stream. Values are
 * those that Excel shows: leading zeros of a number format belong to an id, and a formula has its last result.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { setFlagsFromString } from "node:v8"
import * as CellText from "./CellText.ts"
import * as Identity from "./Identity.ts"
import { quoted } from "./Quoted.ts"
import { type ColumnLayout, findColumns } from "./Record.ts"
import type { RowSchema } from "./RowSchema.ts"
import * as SourceError from "./SourceError.ts"
import * as StreamingParser from "./StreamingParser.ts"
import * as Archive from "./workbook/Archive.ts"
import * as Book from "./workbook/Book.ts"
import * as Cell from "./workbook/Cell.ts"
import * as Rows from "./workbook/Rows.ts"

export interface WorkbookOptions {
  /** The name of the source in messages: a path, or "stdin". */
  readonly source: string
  /** The name of the sheet, or the number of its tab from 1 (default: the only visible sheet with content). */
  readonly sheet?: string | undefined
  /** The option that selects the sheet, such as `--sheet`. */
  readonly sheetOption?: string | undefined
}

/**
 * Stops the growth of V8's young generation. Workbooks consist of short-lived objects, for which it grows to a third of the process's memory
 * and no reading becomes faster.
 */
const limitYoungGeneration = Effect.sync(() => setFlagsFromString("--semi-space-growth-factor=1"))

/** Decodes a workbook, in the order of its rows. Fails with `SourceError` if it is damaged, or if its sheet or a column is not found. */
export const rows = <Row>(schema: RowSchema<Row>, options: WorkbookOptions): StreamingParser.Decoder<Row> => (bytes) =>
  Stream.unwrap(Effect.gen(function*() {
    yield* limitYoungGeneration
    const archive = yield* Archive.open(options.source, bytes)
    const book = yield* Book.read(archive)
    const sheet = yield* choose(archive, book, options)
    const context: Cell.Context = { strings: yield* book.strings, styles: yield* book.styles, isUncalculated: book.isUncalculated }
    const source = `${options.source}, sheet ${quoted(sheet.name)}`
    return Stream.suspend(() => {
      const decoder = new RowDecoder(schema, source, context)
      const decoded = StreamingParser.flatten(
        Stream.mapArrayEffect(Rows.decoder(source, sheet.path, decoder.selection)(archive.read(sheet.path)), (chunk) =>
          Effect.map(decoder.decode(chunk), one))
      )
      return Stream.concat(decoded, Stream.suspend(() => decoder.end))
    })
  }))

const one = <A>(value: A) => [value] as const

const listOf = (sheets: ReadonlyArray<Book.Sheet>): string => sheets.map(({ name }) => quoted(name)).join(", ")

const choose = (
  archive: Archive.Archive,
  { sheets }: Book.Book,
  { sheet: named, sheetOption }: WorkbookOptions
): Effect.Effect<Book.Sheet, SourceError.SourceError> => {
  const visible = sheets.filter(({ isVisible }) => isVisible)
  const fail = (reason: string) => Effect.fail(SourceError.content(archive.source, reason))
  if (named !== undefined) {
    const same = (name: string) => name === named.trim()
    const found = sheets.find(({ name }) => same(name)) ??
      sheets.find(({ name }) => name.trim().toLowerCase() === named.trim().toLowerCase()) ??
      (/^\d{1,4}$/.test(named.trim()) ? visible[Number(named) - 1] : undefined)
    return found === undefined
      ? fail(`there is no sheet ${quoted(named)}; the sheets are ${listOf(visible)}. Correct ${sheetOption ?? "the name"}`)
      : Effect.succeed(found)
  }
  const [first, ...others] = visible
  if (first === undefined) {
    return fail(
      `all of its sheets are hidden (${listOf(sheets)}): ${
        sheetOption === undefined ? "show the one to read" : `name the one to read with ${sheetOption}`
      }`
    )
  }
  if (others.length === 0) return Effect.succeed(first)
  // Any order of the sheets may change, so the first one is no better than the others.
  return Effect.flatMap(
    Effect.filter(visible,
      ({ path }) => Effect.map(Stream.runHead(Rows.decoder(archive.source, path)(archive.read(path))), ({ _tag }) => _tag === "Some")),
    ([filled, ...more]) =>
      filled === undefined || more.length === 0
        ? Effect.succeed(filled ?? first)
        : fail(
          `it has ${more.length + 1} sheets with content (${listOf([filled, ...more])}): ${
            sheetOption === undefined ? "keep only the one to read" : `name the one to read with ${sheetOption}`
          }`
        )
  )
}

class RowDecoder<Row> {
  private readonly schema: RowSchema<Row>
  private readonly source: string
  private readonly context: Cell.Context
  /** Its columns are set once the header is known. */
  readonly selection: Rows.Selection = {
    isBlank: (cell) => CellText.trim(Cell.nameOf(cell, this.context) ?? "-") === ""
  }
  private layout: ColumnLayout | undefined
  private hasRows = false

  constructor(schema: RowSchema<Row>, source: string, context: Cell.Context) {
    this.schema = schema
    this.source = source
    this.context = context
  }

  decode(rows: ReadonlyArray<Rows.Row>): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.suspend(() => {
      const decoded: Array<Row> = []
      for (const row of rows) {
        const result = this.layout === undefined ? this.header(row) : this.row(this.layout, row)
        if (result instanceof SourceError.SourceError) return Effect.fail(result)
        if (result !== undefined) decoded.push(result.row)
      }
      return Effect.succeed(decoded)
    })
  }

  /** Fails if there were no rows. */
  get end(): Stream.Stream<never, SourceError.SourceError> {
    return this.layout === undefined
      ? Stream.fail(this.errorOf("the sheet is empty"))
      : !this.hasRows && this.schema.empty !== undefined
      ? Stream.fail(this.errorOf(`it has a header and no rows, which is ${this.schema.empty}`))
      : Stream.empty
  }

  private header({ cells, number }: Rows.Row): SourceError.SourceError | undefined {
    const names: Array<string> = []
    for (const cell of cells) {
      const name = Cell.nameOf(cell, this.context)
      if (name === undefined) return this.unknownText(number)
      while (names.length < cell.column) names.push("")
      names.push(name)
    }
    if (names.every((name) => CellText.trim(name) === "")) return undefined
    const found = findColumns(names, this.schema)
    if (typeof found === "string") return this.errorOf(found, number)
    this.layout = found
    this.selection.columns = new Set(found.positions)
    return undefined
  }

  private row({ positions }: ColumnLayout, row: Rows.Row): SourceError.SourceError | { readonly row: Row } | undefined {
    const { schema } = this
    const values: Array<unknown> = []
    let problem: string | undefined
    for (const [index, column] of schema.columns.entries()) {
      const position = positions[index]
      const found = Cell.valueOf(row.cells.find((cell) => cell.column === position), column, this.context)
      if (found === undefined) return this.unknownText(row.number)
      if ("problem" in found) problem ??= `${column.name} ${found.problem}`
      values.push("problem" in found ? undefined : found.value)
    }
    // A row with only white space is none, as in CSV.
    if (problem === undefined && row.cells.every(this.selection.isBlank)) return undefined
    this.hasRows = true
    return {
      row: problem === undefined
        ? schema.decode(row.number, values)
        : schema.reject(row.number, Identity.ofRejected(values[0]), problem)
    }
  }

  private unknownText(row: number): SourceError.SourceError {
    return this.errorOf("a cell has a text that the workbook does not have, so it is damaged: open it in Excel and save it again", row)
  }

  private errorOf(reason: string, row?: number): SourceError.SourceError {
    return SourceError.content(this.source, reason, row, "row")
  }
}
