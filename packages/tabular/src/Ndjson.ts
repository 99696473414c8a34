/**
 * Reads rows from the bytes of a text with one JSON object a line, as they come, and keeps no more than one piece and one line. A line
 * that isn't JSON is a rejected row.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { readFields } from "./Fields.js"
import { quoted } from "./Quoted.js"
import type { RowSchema } from "./RowSchema.js"
import * as SourceError from "./SourceError.js"
import * as StreamingParser from "./StreamingParser.js"

export interface NdjsonOptions {
  /** What is read, for messages: a path, or "stdin". */
  readonly source: string
  /** The option that names another format, such as `--format`. */
  readonly formatOption?: string | undefined
}

// A line longer than this is no line of one product; without a bound it would be gathered in memory whole.
const longestLine = 1_048_576

/**
 * The rows of a text, in its order; blank lines are skipped. Fails with `SourceError` where the text as a whole can't be trusted:
 * nothing in it, cut short, one JSON document over several lines, a line without an end.
 */
export const rows = <Row>(shape: RowSchema<Row>, options: NdjsonOptions): StreamingParser.Read<Row> =>
  StreamingParser.rows(() => new Reader(shape, options))

class Reader<Row> implements StreamingParser.Reader<Row> {
  private readonly shape: RowSchema<Row>
  private readonly options: NdjsonOptions
  // Bytes that aren't UTF-8 become a character by which an id shows it.
  private readonly decoder = new TextDecoder()
  private rest = ""
  private line = 0
  private any = false

  constructor(shape: RowSchema<Row>, options: NdjsonOptions) {
    this.shape = shape
    this.options = options
  }

  take(piece: Uint8Array): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    const lines = `${this.rest}${this.decoder.decode(piece, { stream: true })}`.split("\n")
    this.rest = lines.pop() ?? ""
    return this.rest.length > longestLine
      ? this.refuse("the line has no end within 1 MiB: these are not JSON objects line by line", this.line + 1)
      : this.read(lines)
  }

  get end(): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.suspend(() => {
      const last = `${this.rest}${this.decoder.decode()}`
      if (this.any && last.trimStart().startsWith("{") && Either.isLeft(parse(last))) {
        return this.refuse("the last line has no end and is no whole JSON object, so the text is cut short", this.line + 1)
      }
      return Effect.filterOrElse(this.read([last]), () => this.any || this.shape.empty === undefined, () => this.refuse("it is empty"))
    })
  }

  private read(lines: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    const rows: Array<Row> = []
    for (const text of lines) {
      this.line++
      if (text.trim() === "") continue
      if (!this.any && /^\s*(?:\[|\{\s*$)/.test(text)) {
        const format = this.options.formatOption ?? "the format"
        return this.refuse(`it is one JSON document, not one object a line: name the format json with ${format}`, this.line)
      }
      this.any = true
      const value = parse(text)
      rows.push(Either.isLeft(value) ? this.shape.bad(this.line, undefined, value.left) : readFields(this.shape, this.line, value.right))
    }
    return Effect.succeed(rows)
  }

  private refuse(what: string, line?: number) {
    return Effect.fail(SourceError.content(this.options.source, what, line))
  }
}

const parse = (text: string): Either.Either<unknown, string> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: () => `${quoted(text.trim())} is not JSON`
  })
