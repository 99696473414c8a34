/** Decodes NDJSON, one JSON object per line, in constant memory. A line that is not JSON is a rejected row. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { decodeFields } from "./Fields.js"
import { quoted } from "./Quoted.js"
import type { RowSchema } from "./RowSchema.js"
import * as SourceError from "./SourceError.js"
import * as StreamingParser from "./StreamingParser.js"

export interface NdjsonOptions {
  /** The name of the source in messages: a path, or "stdin". */
  readonly source: string
  /** The option that selects the format, such as `--format`. */
  readonly formatOption?: string | undefined
}

// Limits the memory for one line. No row is longer.
const maxLineLength = 1_048_576

/**
 * Decodes NDJSON, in the order of the source, and skips blank lines. Fails with `SourceError` if the source is empty, truncated, or one JSON
 * document over several lines.
 */
export const rows = <Row>(schema: RowSchema<Row>, options: NdjsonOptions): StreamingParser.Decoder<Row> =>
  StreamingParser.decode(() => new RowParser(schema, options))

class RowParser<Row> implements StreamingParser.Parser<Row> {
  private readonly schema: RowSchema<Row>
  private readonly options: NdjsonOptions
  // Bytes that are not UTF-8 become U+FFFD, which rejects the id.
  private readonly decoder = new TextDecoder()
  // The pieces of an incomplete line. They are joined once, because a line may arrive byte by byte.
  private pieces: Array<string> = []
  private restLength = 0
  private line = 0
  private hasRows = false

  constructor(schema: RowSchema<Row>, options: NdjsonOptions) {
    this.schema = schema
    this.options = options
  }

  push(chunk: Uint8Array): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    const text = this.decoder.decode(chunk, { stream: true })
    const end = text.lastIndexOf("\n")
    const lines = end === -1 ? [] : `${this.rest()}${text.slice(0, end)}`.split("\n")
    this.pieces.push(text.slice(end + 1))
    this.restLength += text.length - end - 1
    return this.restLength > maxLineLength
      ? this.fail("the line is longer than 1 MiB: this is not one JSON object per line", this.line + 1)
      : this.decodeLines(lines)
  }

  get end(): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.suspend(() => {
      const last = `${this.rest()}${this.decoder.decode()}`
      if (this.hasRows && last.trimStart().startsWith("{") && Either.isLeft(parse(last))) {
        return this.fail("the last line is an incomplete JSON object: the source is truncated", this.line + 1)
      }
      return Effect.filterOrElse(this.decodeLines([last]), () => this.hasRows || this.schema.empty === undefined,
        () => this.fail("it is empty"))
    })
  }

  private rest(): string {
    const text = this.pieces.join("")
    this.pieces = []
    this.restLength = 0
    return text
  }

  private decodeLines(lines: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    const rows: Array<Row> = []
    for (const text of lines) {
      this.line++
      if (text.trim() === "") continue
      if (!this.hasRows && /^\s*(?:\[|\{\s*$)/.test(text)) {
        const format = this.options.formatOption ?? "the format"
        return this.fail(`it is one JSON document, not one object per line: set ${format} to json`, this.line)
      }
      this.hasRows = true
      const value = parse(text)
      rows.push(
        Either.isLeft(value) ? this.schema.reject(this.line, undefined, value.left) : decodeFields(this.schema, this.line, value.right)
      )
    }
    return Effect.succeed(rows)
  }

  private fail(reason: string, line?: number) {
    return Effect.fail(SourceError.content(this.options.source, reason, line))
  }
}

const parse = (text: string): Either.Either<unknown, string> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: () => `${quoted(text.trim())} is not JSON`
  })
