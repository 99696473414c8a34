/** Decodes NDJSON, one JSON object per line, in constant memory. A line that is not JSON is a rejected row. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as AcceptPartial from "./AcceptPartial.ts"
import * as Envelope from "./Envelope.ts"
import { isErrorText } from "./ErrorText.ts"
import { decodeFields, hasColumn } from "./Fields.ts"
import { quoted } from "./Quoted.ts"
import type { RowSchema } from "./RowSchema.ts"
import * as SourceError from "./SourceError.ts"
import * as StreamingParser from "./StreamingParser.ts"

export interface NdjsonOptions {
  /** The name of the source in messages: a path, or "stdin". */
  readonly source: string
  /** The option that selects the format, such as `--format`. */
  readonly formatOption?: string | undefined
  /**
   * Refuses a source that ends in no row, contains an error message, or shows to be one page of several, except by what is named here
   * (default: these are rejected rows).
   */
  readonly acceptPartial?: AcceptPartial.AcceptPartial | undefined
}

// Limits the memory for one line. No row is longer.
const maxLineLength = 1_048_576
// Lines that are no rows repeat the same fields.
const maxEvidence = 100

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
  private rows = 0
  /** The last line, if it is no row and an earlier one is. */
  private last: { readonly line: number; readonly text: string } | undefined
  /** What the objects show that are no rows. */
  private readonly evidence: Array<Envelope.Evidence> = []

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
      if (this.hasRows && last.trimStart().startsWith("{") && Result.isFailure(parse(last))) {
        return this.fail("the last line is an incomplete JSON object: the source is truncated", this.line + 1)
      }
      return Effect.filterOrElse(this.decodeLines([last]), () => this.hasRows || this.schema.empty === undefined,
        () => this.fail("it is empty")).pipe(Effect.tap(() => this.judge()))
    })
  }

  private judge(): Effect.Effect<void, SourceError.SourceError> {
    const { acceptPartial } = this.options
    if (acceptPartial === undefined || this.rows === 0) return Effect.void
    const pages = new Envelope.Pages()
    pages.add(this.evidence.map((each) => ({ ...each, items: this.rows })))
    const complaint = pages.complaint((field) => AcceptPartial.accepts(acceptPartial, field))
    if (complaint !== undefined) return this.fail(AcceptPartial.pageRefusal(acceptPartial, complaint.fields, complaint.reason))
    return this.last === undefined || AcceptPartial.accepts(acceptPartial, "last-row")
      ? Effect.void
      : this.fail(
        AcceptPartial.cutRefusal(acceptPartial, "last-row", `its last line is no row (${quoted(this.last.text.trim())}), so it may be cut`),
        this.last.line
      )
  }

  /** Remembers what a line shows. Returns whether it is an error message. */
  private observe(text: string, value: unknown): boolean {
    const { acceptPartial } = this.options
    if (acceptPartial === undefined) return false
    if (hasColumn(this.schema, value)) {
      this.rows++
      this.last = undefined
      return false
    }
    if (Predicate.isObject(value) && this.evidence.length < maxEvidence) this.evidence.push(...Envelope.ofObject(value))
    const isAccepted = AcceptPartial.accepts(acceptPartial, "error-text")
    const isMessage = !Predicate.isObject(value) && isErrorText(text)
    this.last = this.rows === 0 || (isMessage && isAccepted) ? undefined : { line: this.line, text }
    return isMessage && !isAccepted
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
      if (this.observe(text, Result.getOrUndefined(value))) {
        return this.fail(
          AcceptPartial.cutRefusal(this.options.acceptPartial, "error-text",
            `${quoted(text.trim())} is an error message, so rows may be missing`),
          this.line
        )
      }
      rows.push(
        Result.isFailure(value)
          ? this.schema.reject(this.line, undefined, value.failure)
          : decodeFields(this.schema, this.line, value.success)
      )
    }
    return Effect.succeed(rows)
  }

  private fail(reason: string, line?: number) {
    return Effect.fail(SourceError.content(this.options.source, reason, line))
  }
}

const parse = (text: string): Result.Result<unknown, string> =>
  Result.try({
    try: (): unknown => JSON.parse(text),
    catch: () => `${quoted(text.trim())} is not JSON`
  })
