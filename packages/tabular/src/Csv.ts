/**
 * Reads rows from the bytes of a CSV file as they come, and keeps no more than one piece. Comma, semicolon, tab or bar between columns;
 * quoted fields over several lines; any line ends; UTF-8 without a byte order mark.
 */
import { CsvError, Parser } from "csv-parse"
import * as Effect from "effect/Effect"
import * as CellText from "./CellText.js"
import { findColumns, fit, type Layout, readRecord } from "./Record.js"
import type { RowSchema } from "./RowSchema.js"
import * as SourceError from "./SourceError.js"
import * as StreamingParser from "./StreamingParser.js"

export interface CsvOptions {
  /** What is read, for messages: a path, or "stdin". */
  readonly source: string
  /** What separates columns (default: what the line `sep=` names, else the one that occurs most often in the header). */
  readonly delimiter?: string | undefined
  /** The option that names another format, such as `--format`. */
  readonly formatOption?: string | undefined
}

// A record longer than this is a quote that was never closed; without a bound it would swallow the rest of the file into memory.
const longestRecord = 1_048_576
// A header longer than this is no header.
const longestHeader = 65_536

/**
 * The rows of a CSV text, in the order of the file. Fails with `SourceError` where the file as a whole can't be trusted:
 * nothing in it, no such column, broken quoting (what follows might be read shifted).
 */
export const rows = <Row>(shape: RowSchema<Row>, options: CsvOptions): StreamingParser.Read<Row> =>
  StreamingParser.rows(() => new Reader(shape, options))

/**
 * The parser, with its records taken as they are found instead of queued: they stay in step with the bytes, and those before a broken
 * one are not lost with it. (`on_record` does the same, but makes a description of each record, which more than doubles the time.)
 */
class Records extends Parser {
  readonly formulas: Formulas
  private readonly accept: (record: ReadonlyArray<string>) => void

  constructor(delimiter: string, accept: (record: ReadonlyArray<string>) => void) {
    super({
      delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      max_record_size: longestRecord
    })
    this.formulas = new Formulas(delimiter)
    this.accept = accept
  }

  override push(record: ReadonlyArray<string> | null): boolean {
    if (record === null) return super.push(null)
    this.accept(record)
    return true
  }
}

/** The parser's only user. */
class Reader<Row> implements StreamingParser.Reader<Row> {
  private readonly shape: RowSchema<Row>
  private readonly options: CsvOptions
  private head: Uint8Array = new Uint8Array(0)
  private delimiter: string | undefined
  private parser: Records | undefined
  private layout: Layout | undefined
  private refused: SourceError.SourceError | undefined
  private taken: Array<Row> = []
  private any = false
  // Counted here, because the parser counts a CRLF inside quotes as two lines and gives the line where a record ends.
  private line = 1

  constructor(shape: RowSchema<Row>, options: CsvOptions) {
    this.shape = shape
    this.options = options
    this.delimiter = options.delimiter
  }

  take(piece: Uint8Array): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    if (this.parser !== undefined) return this.write(this.parser, piece)
    this.head = Buffer.concat([this.head, piece])
    const header = this.header()
    return header === undefined && this.head.length <= longestHeader ? Effect.succeed([]) : this.begin(header)
  }

  get end(): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.gen(this, function*() {
      const first = this.parser === undefined ? yield* this.begin(this.header() ?? Buffer.from(this.head).toString("utf8")) : []
      const last = this.parser === undefined ? [] : yield* this.finish(this.parser)
      if (this.layout === undefined) return yield* this.refuse("it is empty")
      if (!this.any && this.shape.empty !== undefined) {
        return yield* this.refuse(`there is a header and no row below it, which is ${this.shape.empty}`)
      }
      return [...first, ...last]
    })
  }

  /** The header, once it is there. A line `sep=;` above it, which Excel writes, names the delimiter and is made a blank line. */
  private header(): string | undefined {
    const first = firstLine(this.head)
    const separator = first === undefined ? null : /^(\s*)"?sep=([^"\r\n\uFFFD])"?\s*$/iu.exec(first)
    if (first === undefined || separator === null) return first
    const [, above = "", delimiter] = separator
    this.delimiter ??= delimiter
    this.head = Buffer.concat([Buffer.from(above), this.head.subarray(Buffer.byteLength(first))])
    return firstLine(this.head)
  }

  private begin(header: string | undefined): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    if (header === undefined) return this.refuse("the first line has no end within 64 KiB: this is no CSV file with a header", 1)
    if (/^\s*(?:\{|\[\s*(?:\{|$))/.test(header)) {
      return this.refuse(
        `it begins like JSON, not like CSV: name the format json or ndjson with ${this.options.formatOption ?? "the format"}`,
        1
      )
    }
    const parser = new Records(this.delimiter ?? delimiterOf(header), (record) => this.accept(record))
    // The callback of the write that causes a failure gets it; without a listener it would end the process as well.
    parser.on("error", () => undefined)
    this.parser = parser
    return this.write(parser, this.head)
  }

  private write(parser: Records, piece: Uint8Array) {
    return this.step((resume) => parser.write(parser.formulas.opened(piece), resume))
  }

  private finish(parser: Records) {
    return this.step((resume) => parser.end(parser.formulas.rest, resume))
  }

  private step(act: (resume: (error?: Error | null) => void) => void): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.async<ReadonlyArray<Row>, SourceError.SourceError>((resume) =>
      act((error) => {
        const taken = this.taken
        this.taken = []
        if (this.refused !== undefined) resume(Effect.fail(this.refused))
        else if (error) resume(this.refuse(brokenQuoting(error), this.line))
        else resume(Effect.succeed(taken))
      })
    )
  }

  private accept(record: ReadonlyArray<string>): void {
    const line = this.line
    this.line += 1 + record.reduce((sum, field) => sum + lineEndsIn(field), 0)
    if (this.refused !== undefined || isBlank(record)) return
    if (this.layout === undefined) {
      const found = findColumns(record, this.shape)
      if (typeof found === "string") this.refused = this.refusal(found, line)
      else this.layout = found
      return
    }
    if (!this.any) this.layout = fit(this.layout, record)
    this.any = true
    this.taken.push(readRecord(this.shape, this.layout, line, record))
  }

  private refusal(what: string, line?: number): SourceError.SourceError {
    return SourceError.content(this.options.source, what, line)
  }

  private refuse(what: string, line?: number) {
    return Effect.fail(this.refusal(what, line))
  }
}

/**
 * Takes away the equals sign of `="007"`, which Excel writes to keep zeros, without the quotes that CSV asks for: what is left is a quoted
 * field.
 */
class Formulas {
  private readonly fieldEnds: ReadonlyArray<number | undefined>
  private before = lineFeed
  private inQuotes = false
  private held = false

  constructor(delimiter: string) {
    this.fieldEnds = [lineFeed, carriageReturn, Buffer.from(delimiter).at(-1)]
  }

  /** The bytes of a piece, without the signs. A sign at its end is held back until the byte behind it is known. */
  opened(piece: Uint8Array): Uint8Array {
    const bytes = this.held ? Buffer.concat([Buffer.of(equals), piece]) : piece
    const kept: Array<Uint8Array> = []
    let from = 0
    this.held = false
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === quote) this.inQuotes = !this.inQuotes
      else if (byte === equals && !this.inQuotes && this.fieldEnds.includes(at === 0 ? this.before : bytes[at - 1])) {
        if (at + 1 < bytes.length && bytes[at + 1] !== quote) continue
        this.held = at + 1 === bytes.length
        kept.push(bytes.subarray(from, at))
        from = at + 1
      }
    }
    // Before a sign that is held back stands the end of a field still.
    this.before = (this.held ? bytes[bytes.length - 2] : bytes.at(-1)) ?? this.before
    return kept.length === 0 ? bytes : Buffer.concat([...kept, bytes.subarray(from)])
  }

  get rest(): Uint8Array {
    return this.held ? Buffer.of(equals) : new Uint8Array(0)
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const quote = 0x22
const equals = 0x3d

const isBlank = (record: ReadonlyArray<string>): boolean => record.every((field) => field === "" || CellText.trimmed(field) === "")

// Looked for before they are counted: almost no field has one.
const lineEndsIn = (field: string): number => field.includes("\n") || field.includes("\r") ? field.match(/\r\n|\n|\r/g)?.length ?? 0 : 0

/** The text up to the first line end outside quotes, with blank lines above it; undefined while it hasn't come yet. */
const firstLine = (head: Uint8Array): string | undefined => {
  let inQuotes = false
  let content = false
  for (const [index, byte] of head.entries()) {
    if (byte === 0x22) inQuotes = !inQuotes
    else if ((byte === 0x0a || byte === 0x0d) && !inQuotes && content) return Buffer.from(head.subarray(0, index)).toString("utf8")
    if (byte > 0x20) content = true
  }
  return undefined
}

/** The one of the four that occurs most often in the header outside quotes. */
const delimiterOf = (header: string): string => {
  const bare = header.replace(/"(?:[^"]|"")*"/g, "")
  const count = (delimiter: string) => bare.split(delimiter).length
  return [",", ";", "\t", "|"].reduce((best, next) => (count(next) > count(best) ? next : best))
}

const brokenQuoting = (error: Error): string => {
  const code = error instanceof CsvError ? error.code : ""
  const what = code === "CSV_QUOTE_NOT_CLOSED" || code === "CSV_MAX_RECORD_SIZE"
    ? "a quote opens here and does not close"
    : code === "CSV_INVALID_CLOSING_QUOTE"
    ? "something stands between a closing quote and the next column"
    : code === "INVALID_OPENING_QUOTE"
    ? "a quote stands inside a field that is not quoted"
    : `this can't be read as CSV (${error.message})`
  return `${what}, and what follows can't be trusted. Put the whole field in quotes and double those inside it`
}
