/**
 * Reads rows from the bytes of a CSV file as they come, keeping no more than one chunk. Comma, semicolon, tab or bar, or what is told; quoted
 * fields over several lines, any line end, with or without a byte order mark; UTF-8.
 * Knows nothing of where the bytes come from.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { CsvError, Parser } from "csv-parse"
import * as ByPieces from "./ByPieces.js"
import { findColumns, type Layout, readRecord } from "./Record.js"
import * as Refused from "./Refused.js"
import type { Shape } from "./Shape.js"

/** @since 0.1.0 @category models */
export interface CsvOptions {
  /** What is read, for messages: a path, or "stdin". */
  readonly source: string
  /** What stands between two columns; found out from the header unless told. */
  readonly delimiter?: string | undefined
}

// A record longer than this is a quote that was never closed; without a bound it would swallow the rest of the file into memory.
const longestRecord = 1_048_576
// A header longer than this is no header.
const longestHeader = 65_536

/**
 * The rows of a CSV text, in the order of the file. Fails with `SourceRefused` where the file as a whole can't be trusted:
 * nothing in it, no such column, text that isn't UTF-8, broken quoting (what follows might be read shifted).
 *
 * @since 0.1.0
 * @category streams
 */
export const rows = <Row>(shape: Shape<Row>, options: CsvOptions): ByPieces.Read<Row> => ByPieces.rows(() => new Reader(shape, options))

/**
 * The parser with its records picked up as they are found instead of being queued behind it: that keeps them in step with the bytes,
 * and those before a broken one are not lost with it. (`on_record` would do the same, but tells where it stands for every record, which more than doubles the time.)
 */
class Records extends Parser {
  private readonly accept: (record: ReadonlyArray<string>) => void

  constructor(delimiter: string, accept: (record: ReadonlyArray<string>) => void) {
    super({
      bom: true,
      delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      max_record_size: longestRecord
    })
    this.accept = accept
  }

  override push(record: ReadonlyArray<string> | null): boolean {
    if (record === null) return super.push(null)
    this.accept(record)
    return true
  }
}

/** The parser's only user. */
class Reader<Row> implements ByPieces.Reader<Row> {
  private readonly shape: Shape<Row>
  private readonly options: CsvOptions
  private head: Uint8Array = new Uint8Array(0)
  private parser: Parser | undefined
  private layout: Layout | undefined
  private refused: Refused.SourceRefused | undefined
  private taken: Array<Row> = []
  private any = false
  // Counted here, because the parser counts a CRLF inside quotes as two lines and tells the line where a record ends.
  private line = 1

  constructor(shape: Shape<Row>, options: CsvOptions) {
    this.shape = shape
    this.options = options
  }

  take(chunk: Uint8Array): Effect.Effect<ReadonlyArray<Row>, Refused.SourceRefused> {
    if (this.parser !== undefined) return this.write(this.parser, chunk)
    this.head = Buffer.concat([this.head, chunk])
    const header = firstLine(this.head)
    return header === undefined && this.head.length <= longestHeader ? Effect.succeed([]) : this.begin(header)
  }

  get end(): Effect.Effect<ReadonlyArray<Row>, Refused.SourceRefused> {
    return Effect.gen(this, function*() {
      const first = this.parser === undefined ? yield* this.begin(Buffer.from(this.head).toString("utf8")) : []
      const last = this.parser === undefined ? [] : yield* this.finish(this.parser)
      if (!this.any && this.shape.empty !== undefined) {
        return yield* this.refuse(`there is a header and no row below it, which is ${this.shape.empty}`)
      }
      return [...first, ...last]
    })
  }

  private begin(header: string | undefined): Effect.Effect<ReadonlyArray<Row>, Refused.SourceRefused> {
    if (Refused.isUtf16(this.head)) return Effect.fail(Refused.utf16(this.options.source))
    if (header === undefined) return this.refuse("the first line has no end within 64 KiB: this is no CSV file with a header", 1)
    if (header.replace(/^\uFEFF/, "").trim() === "" && this.head.length === Buffer.byteLength(header)) return this.refuse("it is empty")
    const parser = new Records(this.options.delimiter ?? delimiterOf(header), (record) => this.accept(record))
    // The failure is told by the callback of the write that caused it; without a listener it would end the process as well.
    parser.on("error", () => undefined)
    this.parser = parser
    return this.write(parser, this.head)
  }

  private write(parser: Parser, chunk: Uint8Array) {
    return this.step((resume) => parser.write(chunk, resume))
  }

  private finish(parser: Parser) {
    return this.step((resume) => parser.end(resume))
  }

  private step(act: (resume: (error?: Error | null) => void) => void): Effect.Effect<ReadonlyArray<Row>, Refused.SourceRefused> {
    return Effect.async<ReadonlyArray<Row>, Refused.SourceRefused>((resume) =>
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
    if (this.refused !== undefined || (record.length === 1 && record[0]?.trim() === "")) return
    if (this.layout === undefined) {
      const found = findColumns(record, this.shape)
      if (typeof found === "string") this.refused = this.refusal(found, line)
      else this.layout = found
      return
    }
    this.any = true
    this.taken.push(readRecord(this.shape, this.layout, line, record))
  }

  private refusal(what: string, line?: number): Refused.SourceRefused {
    return Refused.content(this.options.source, what, line)
  }

  private refuse(what: string, line?: number) {
    return Effect.fail(this.refusal(what, line))
  }
}

// Looked for before it is counted: almost no field has one, and this is asked of every field.
const lineEndsIn = (field: string): number =>
  field.includes("\n") || field.includes("\r") ? field.match(/\r\n|\n|\r/g)?.length ?? 0 : 0

/** The text up to the first line end that stands outside quotes; undefined while it hasn't come yet. */
const firstLine = (head: Uint8Array): string | undefined => {
  let inQuotes = false
  let content = false
  for (const [index, byte] of head.entries()) {
    if (byte === 0x22) inQuotes = !inQuotes
    else if ((byte === 0x0a || byte === 0x0d) && !inQuotes && content) return Buffer.from(head.subarray(0, index)).toString("utf8")
    // Blank lines above the header (0xEF 0xBB 0xBF is the byte order mark).
    if (byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf) content = true
  }
  return undefined
}

/** The one of the four that stands most often in the header outside quotes. */
const delimiterOf = (header: string): string => {
  const bare = header.replace(/"(?:[^"]|"")*"/g, "")
  const count = (delimiter: string) => bare.split(delimiter).length
  return [",", ";", "\t", "|"].reduce((best, next) => (count(next) > count(best) ? next : best))
}

const brokenQuoting = (error: Error): string => {
  const told = error instanceof CsvError ? error.code : ""
  const what = told === "CSV_QUOTE_NOT_CLOSED" || told === "CSV_MAX_RECORD_SIZE"
    ? "a quote opens here and does not close"
    : told === "CSV_INVALID_CLOSING_QUOTE"
    ? "something stands between a closing quote and the next column"
    : told === "INVALID_OPENING_QUOTE"
    ? "a quote stands inside a field that is not quoted"
    : `this can't be read as CSV (${error.message})`
  return `${what}, and what follows can't be trusted. Put the whole field in quotes and double those inside it`
}
