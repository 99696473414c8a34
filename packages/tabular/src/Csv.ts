/**
 * Decodes CSV in constant memory: comma, semicolon, tab or bar as delimiter, quoted fields over several lines, any line ends. Expects UTF-8
 * without a byte order mark.
 */
import { CsvError, Parser } from "csv-parse"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as AcceptPartial from "./AcceptPartial.ts"
import * as CellText from "./CellText.ts"
import { isErrorText } from "./ErrorText.ts"
import { quoted } from "./Quoted.ts"
import { adaptTo, type ColumnLayout, decodeRecord, findColumns } from "./Record.ts"
import type { RowSchema } from "./RowSchema.ts"
import * as SourceError from "./SourceError.ts"
import * as StreamingParser from "./StreamingParser.ts"

export interface CsvOptions {
  /** The name of the source in messages: a path, or "stdin". */
  readonly source: string
  /** The delimiter of columns (default: that of a line `sep=`, else the most frequent one in the header). */
  readonly delimiter?: string | undefined
  /** The option that selects the format, such as `--format`. */
  readonly formatOption?: string | undefined
  /** Refuses a source that ends in no row or contains an error message, except by what is named here (default: these are rejected rows). */
  readonly acceptPartial?: AcceptPartial.AcceptPartial | undefined
  /** Whether nothing but its line end shows that the last row is complete. */
  readonly needsLineEnd?: boolean | undefined
}

// A longer record has an unclosed quote. Without a limit the rest of the file would be one record in memory.
const maxRecordBytes = 1_048_576
// No real header is longer.
const maxHeaderBytes = 65_536

/** Decodes CSV, in the order of the file. Fails with `SourceError` for an empty file, a missing column or invalid quoting. */
export const rows = <Row>(schema: RowSchema<Row>, options: CsvOptions): StreamingParser.Decoder<Row> =>
  StreamingParser.decode(() => new RowParser(schema, options))

/**
 * The parser of `csv-parse`, with a callback for each record instead of its queue, so that records before invalid quoting are not lost.
 * (`on_record` does the same, but describes each record, which more than doubles the time.)
 */
class RecordParser extends Parser {
  readonly formulas: FormulaFilter
  private readonly accept: (record: ReadonlyArray<string>) => void

  constructor(delimiter: string, accept: (record: ReadonlyArray<string>) => void) {
    super({
      delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      max_record_size: maxRecordBytes
    })
    this.formulas = new FormulaFilter(delimiter)
    this.accept = accept
  }

  override push(record: ReadonlyArray<string> | null): boolean {
    if (record === null) return super.push(null)
    this.accept(record)
    return true
  }
}

class RowParser<Row> implements StreamingParser.Parser<Row> {
  private readonly schema: RowSchema<Row>
  private readonly options: CsvOptions
  private head: Uint8Array = new Uint8Array(0)
  private firstLine = new FirstLine()
  private delimiter: string | undefined
  private parser: RecordParser | undefined
  private layout: ColumnLayout | undefined
  private failure: SourceError.SourceError | undefined
  private rows: Array<Row> = []
  private hasRows = false
  private hasWholeRow = false
  /** The last record, if it is no row. */
  private last: { readonly line: number; readonly text: string; readonly isRow: boolean } | undefined
  private lastByte: number | undefined
  // Counted here: the parser counts a CRLF inside quotes twice, and reports the line where a record ends.
  private line = 1

  constructor(schema: RowSchema<Row>, options: CsvOptions) {
    this.schema = schema
    this.options = options
    this.delimiter = options.delimiter
  }

  push(chunk: Uint8Array): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    this.lastByte = chunk.at(-1) ?? this.lastByte
    if (this.parser !== undefined) return this.write(this.parser, chunk)
    this.head = Buffer.concat([this.head, chunk])
    const header = this.header()
    return header === undefined && this.head.length <= maxHeaderBytes ? Effect.succeed([]) : this.start(header)
  }

  get end(): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.gen({ self: this }, function*() {
      const first = this.parser === undefined ? yield* this.start(this.header() ?? Buffer.from(this.head).toString("utf8")) : []
      const last = this.parser === undefined ? [] : yield* this.finish(this.parser)
      if (this.layout === undefined) return yield* this.fail("it is empty")
      if (!this.hasRows && this.schema.empty !== undefined) {
        return yield* this.fail(`it has a header and no rows, which is ${this.schema.empty}`)
      }
      const cut = this.cut()
      if (cut !== undefined) return yield* cut
      return [...first, ...last]
    })
  }

  /** The header, once it is complete. A line `sep=;` above it, which Excel writes, sets the delimiter and becomes a blank line. */
  private header(): string | undefined {
    const first = this.firstLine.find(this.head)
    const separator = first === undefined ? null : /^(\s*)"?sep=([^"\r\n\uFFFD])"?\s*$/iu.exec(first)
    if (first === undefined || separator === null) return first
    const [, above = "", delimiter] = separator
    this.delimiter ??= delimiter
    this.head = Buffer.concat([Buffer.from(above), this.head.subarray(Buffer.byteLength(first))])
    this.firstLine = new FirstLine()
    return this.firstLine.find(this.head)
  }

  private start(header: string | undefined): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    if (header === undefined) return this.fail("the first line is longer than 64 KiB: this is not a CSV file with a header", 1)
    if (/^\s*(?:\{|\[\s*(?:\{|$))/.test(header)) {
      return this.fail(
        `it looks like JSON, not like CSV: set ${this.options.formatOption ?? "the format"} to json or ndjson`,
        1
      )
    }
    const parser = new RecordParser(this.delimiter ?? delimiterOf(header), (record) => this.accept(record))
    // The callback of `write` gets the failure. An event without a listener would end the process.
    parser.on("error", () => undefined)
    this.parser = parser
    return this.write(parser, this.head)
  }

  private write(parser: RecordParser, chunk: Uint8Array) {
    return this.step((resume) => parser.write(parser.formulas.filter(chunk), resume))
  }

  private finish(parser: RecordParser) {
    return this.step((resume) => parser.end(parser.formulas.remainder, resume))
  }

  private step(act: (resume: (error?: Error | null) => void) => void): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.callback<ReadonlyArray<Row>, SourceError.SourceError>((resume) =>
      act((error) => {
        const rows = this.rows
        this.rows = []
        if (this.failure !== undefined) resume(Effect.fail(this.failure))
        else if (error) resume(this.fail(invalidQuoting(error), this.line))
        else resume(Effect.succeed(rows))
      })
    )
  }

  private accept(record: ReadonlyArray<string>): void {
    const line = this.line
    this.line += 1 + record.reduce((sum, field) => sum + lineEndsIn(field), 0)
    if (this.failure !== undefined || isBlank(record)) return
    if (this.layout === undefined) {
      const found = findColumns(record, this.schema)
      if (typeof found === "string") this.failure = this.errorOf(found, line)
      else this.layout = found
      return
    }
    if (!this.hasRows) this.layout = adaptTo(this.layout, record)
    this.hasRows = true
    const row = decodeRecord(this.schema, this.layout, line, record)
    this.rows.push(row)
    if (this.options.acceptPartial !== undefined) this.check(row, record, this.layout, line)
  }

  private check(row: Row, record: ReadonlyArray<string>, { width }: ColumnLayout, line: number): void {
    if (!Predicate.isTagged(row, "Rejected")) {
      this.last = undefined
      this.hasWholeRow = true
      return
    }
    const isRow = record.length === width
    const text = record.join(" ")
    this.hasWholeRow ||= isRow
    const isAccepted = AcceptPartial.accepts(this.options.acceptPartial, "error-text")
    const isMessage = isErrorText(text)
    this.last = isMessage && isAccepted ? undefined : { line, text, isRow }
    if (isMessage && !isAccepted) {
      this.failure = this.refusalOf("error-text", `${quoted(text.trim())} is an error message, so the row before it may be cut`, line)
    }
  }

  /** Why the end of the source is not that of its rows. */
  private cut(): SourceError.SourceError | undefined {
    const { acceptPartial, needsLineEnd = false } = this.options
    const { last, lastByte } = this
    if (acceptPartial === undefined) return undefined
    const isEnded = lastByte === lineFeed || lastByte === carriageReturn
    if (needsLineEnd && !isEnded && !AcceptPartial.accepts(acceptPartial, "line-end")) {
      return this.refusalOf("line-end", "its last line has no line end, so it may be cut")
    }
    if (last === undefined || !this.hasWholeRow || AcceptPartial.accepts(acceptPartial, "last-row")) return undefined
    return last.isRow && (isEnded || !last.text.endsWith("\uFFFD"))
      ? undefined
      : this.refusalOf("last-row", `its last line is no row (${quoted(last.text.trim())}), so it may be cut`, last.line)
  }

  private refusalOf(mark: AcceptPartial.Mark, reason: string, line?: number): SourceError.SourceError {
    return this.errorOf(AcceptPartial.cutRefusal(this.options.acceptPartial, mark, reason), line)
  }

  private errorOf(reason: string, line?: number): SourceError.SourceError {
    return SourceError.content(this.options.source, reason, line)
  }

  private fail(reason: string, line?: number) {
    return Effect.fail(this.errorOf(reason, line))
  }
}

/**
 * Removes the equals sign of `="007"`, which Excel writes to keep leading zeros. A quoted field remains.
 */
class FormulaFilter {
  private readonly fieldEnds: ReadonlyArray<number | undefined>
  private before = lineFeed
  private inQuotes = false
  private heldSign = false

  constructor(delimiter: string) {
    this.fieldEnds = [lineFeed, carriageReturn, Buffer.from(delimiter).at(-1)]
  }

  /** The bytes of a chunk, without the signs. A sign at its end waits for the next byte. */
  filter(chunk: Uint8Array): Uint8Array {
    const bytes = this.heldSign ? Buffer.concat([Buffer.of(equals), chunk]) : chunk
    const kept: Array<Uint8Array> = []
    let from = 0
    this.heldSign = false
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === quote) this.inQuotes = !this.inQuotes
      else if (byte === equals && !this.inQuotes && this.fieldEnds.includes(at === 0 ? this.before : bytes[at - 1])) {
        if (at + 1 < bytes.length && bytes[at + 1] !== quote) continue
        this.heldSign = at + 1 === bytes.length
        kept.push(bytes.subarray(from, at))
        from = at + 1
      }
    }
    // The byte before the waiting sign ends a field.
    this.before = (this.heldSign ? bytes[bytes.length - 2] : bytes.at(-1)) ?? this.before
    return kept.length === 0 ? bytes : Buffer.concat([...kept, bytes.subarray(from)])
  }

  get remainder(): Uint8Array {
    return this.heldSign ? Buffer.of(equals) : new Uint8Array(0)
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const quote = 0x22
const equals = 0x3d

const isBlank = (record: ReadonlyArray<string>): boolean => record.every((field) => field === "" || CellText.trim(field) === "")

// Almost no field has a line end, so look before counting.
const lineEndsIn = (field: string): number => field.includes("\n") || field.includes("\r") ? field.match(/\r\n|\n|\r/g)?.length ?? 0 : 0

/** Finds the first line end outside quotes. Reads each byte once, because a header may arrive byte by byte. */
class FirstLine {
  private at = 0
  private inQuotes = false
  private content = false

  /** The text before the line end, with blank lines above it; undefined while it is incomplete. `head` only grows. */
  find(head: Uint8Array): string | undefined {
    for (; this.at < head.length; this.at++) {
      const byte = head[this.at] ?? 0
      if (byte === quote) this.inQuotes = !this.inQuotes
      else if ((byte === lineFeed || byte === carriageReturn) && !this.inQuotes && this.content) {
        return Buffer.from(head.subarray(0, this.at)).toString("utf8")
      }
      if (byte > 0x20) this.content = true
    }
    return undefined
  }
}

/** The most frequent delimiter in the header outside quotes. */
const delimiterOf = (header: string): string => {
  const unquoted = header.replace(/"(?:[^"]|"")*"/g, "")
  const count = (delimiter: string) => unquoted.split(delimiter).length
  return [",", ";", "\t", "|"].reduce((best, next) => (count(next) > count(best) ? next : best))
}

const invalidQuoting = (error: Error): string => {
  const code = error instanceof CsvError ? error.code : ""
  const reason = code === "CSV_MAX_RECORD_SIZE"
    ? `the row is longer than ${maxRecordBytes / 1_048_576} MiB, or a quote opens here and is never closed`
    : code === "CSV_QUOTE_NOT_CLOSED"
    ? "a quote opens here and is never closed"
    : code === "CSV_INVALID_CLOSING_QUOTE"
    ? "there is text between a closing quote and the next delimiter"
    : code === "INVALID_OPENING_QUOTE"
    ? "there is a quote inside a field without quotes"
    : `this is not valid CSV (${error.message})`
  return `${reason}, so the rest of the file can't be trusted. Quote the whole field, and double the quotes inside it`
}
