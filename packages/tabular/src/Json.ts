/** Decodes a JSON document in constant memory: an array of objects, or an object with such an array. */
import { JSONParser } from "@streamparser/json"
import * as Effect from "effect/Effect"
import * as AcceptPartial from "./AcceptPartial.ts"
import * as Envelope from "./Envelope.ts"
import { decodeFields, hasColumn } from "./Fields.ts"
import { quoted } from "./Quoted.ts"
import type { RowSchema } from "./RowSchema.ts"
import * as SourceError from "./SourceError.ts"
import * as StreamingParser from "./StreamingParser.ts"

export interface JsonOptions {
  /** The name of the source in messages: a path, or "stdin". */
  readonly source: string
  /**
   * The path of the items, with dots between the names (default: the document itself, or its `data`). A name may be an array of objects
   * with the next name: `products.variants` selects the variants of all products.
   */
  readonly items?: string | undefined
  /** The option that selects another path, such as `--items`. */
  readonly itemsOption?: string | undefined
  /** The option that selects the format, such as `--format`. */
  readonly formatOption?: string | undefined
  /**
   * Receives the `next_cursor` of a document that is one page of several: a field of the document or of an object around its items that is
   * neither null nor empty. Without this callback such a document fails.
   */
  readonly onNextCursor?: ((cursor: string) => void) | undefined
  /**
   * Receives, at the end of the document, what its fields show of other pages, the number of its outermost items, and the document without
   * its items. Without this callback the document is judged alone.
   */
  readonly onEvidence?: ((evidence: ReadonlyArray<Envelope.Evidence>, count: number, document: unknown) => void) | undefined
  /** Refuses a document that shows to be a part, except by what is named here (default: only `next_cursor` is looked at). */
  readonly acceptPartial?: AcceptPartial.AcceptPartial | undefined
}

// Bytes between the ends of two items. Limits the memory for one item.
const maxItemBytes = 1_048_576

/**
 * Decodes the items of a document, in its order, numbered from 1. Fails with `SourceError` if the document is not JSON, truncated, not UTF-8,
 * one page of several, or has no array of items or an empty one.
 */
export const rows = <Row>(schema: RowSchema<Row>, options: JsonOptions): StreamingParser.Decoder<Row> =>
  StreamingParser.decode(() => new RowParser(schema, options))

const space = new Set([0x20, 0x09, 0x0a, 0x0d])

/** The paths of the items, with a star for each array on the way. For `a.b`: `a.b.*` and `a.*.b.*`. */
const itemPaths = ([first, ...rest]: ReadonlyArray<string>): ReadonlyArray<string> =>
  first === undefined
    ? ["*"]
    : itemPaths(rest).flatMap((path) => (rest.length === 0 ? [`${first}.${path}`] : [`${first}.${path}`, `${first}.*.${path}`]))

// The field that a reader of pages follows.
const nextCursor = "next_cursor"

// The names of arrays that a message lists.
const maxArrayNames = 5

class RowParser<Row> implements StreamingParser.Parser<Row> {
  private readonly schema: RowSchema<Row>
  private readonly options: JsonOptions
  private parser: JSONParser | undefined
  private isArray = false
  private number = 0
  private sinceItem = 0
  private rows: Array<Row> = []
  private isFollowed = false
  private envelope: Envelope.Reader | undefined
  /** The last item, if it has none of the columns and an earlier one has. */
  private noRow: unknown
  private hasRow = false
  /** Top-level fields with an array, for the message if the path has none. */
  private readonly arrays = new Set<string>()

  constructor(schema: RowSchema<Row>, options: JsonOptions) {
    this.schema = schema
    this.options = options
  }

  /** The names that lead from the document to the array. */
  private get names(): ReadonlyArray<string> {
    return this.options.items?.split(".") ?? (this.isArray ? [] : ["data"])
  }

  push(chunk: Uint8Array): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    const from = this.parser === undefined ? chunk.findIndex((byte) => !space.has(byte)) : 0
    const first = chunk[from]
    if (first === undefined) return Effect.succeed([])
    if (this.parser === undefined) {
      if (first !== 0x5b && first !== 0x7b)
        return Effect.fail(this.errorOf("it starts with neither [ nor {: this is not a JSON document with rows"))
      this.isArray = first === 0x5b
      this.parser = this.open()
    }
    this.sinceItem += chunk.length - from
    return this.step((parser) => parser.write(chunk.subarray(from)))
  }

  get end(): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.suspend(() => {
      if (this.parser === undefined) return Effect.fail(this.errorOf("it is empty"))
      return Effect.filterOrFail(
        this.step((parser) => {
          if (!parser.isEnded) throw new Stop(`after ${this.itemCount} it is truncated`)
          if (this.number > 0) this.judge()
        }),
        () => this.number > 0 || this.schema.empty === undefined,
        () =>
          this.errorOf(this.isArray && this.options.items !== undefined
            ? `it is an array without ${this.options.items}: omit ${this.options.itemsOption ?? "the name"}`
            : `there is no item in it (${this.place}), which is ${this.schema.empty}`)
      )
    })
  }

  private open(): JSONParser {
    const { isArray, names } = this
    const items = itemPaths(names).map((path) => (isArray && names.length > 0 ? `$.*.${path}` : `$.${path}`))
    // The second of these finds arrays by their first element.
    const beside = isArray ? [] : [...names.map((_, depth) => ["$", ...names.slice(0, depth), "next_cursor"].join(".")), "$.*.0"]
    const parser = new JSONParser({ paths: [...items, ...beside], keepStack: false })
    parser.onValue = ({ key, parent, stack, value }) => {
      const top = stack[1]?.key
      if (!isArray && key === "next_cursor" && stack.length <= names.length) this.page(value)
      else if (!isArray && stack.length === 2 && top !== names[0]) this.array(top, parent)
      // A star stands for any name as well: as many names have to lead here as were asked for.
      else if (stack.filter((step, depth) => depth > 0 && !Array.isArray(step.value)).length === names.length) this.item(parent, value)
    }
    if (this.options.acceptPartial !== undefined) {
      const envelope = new Envelope.Reader(names)
      parser.onToken = (token) => envelope.write(token)
      this.envelope = envelope
    }
    return parser
  }

  private item(parent: unknown, value: unknown): void {
    this.sinceItem = 0
    if (!Array.isArray(parent)) throw new Stop(`there is no array (${this.place})`)
    this.number++
    const isRow = hasColumn(this.schema, value)
    this.noRow = isRow || !this.hasRow ? undefined : value
    this.hasRow ||= isRow
    this.rows.push(decodeFields(this.schema, this.number, value))
  }

  /** Whether the document is whole, once it has ended. */
  private judge(): void {
    const { acceptPartial, onEvidence } = this.options
    if (acceptPartial === undefined) return
    if (this.noRow !== undefined && !AcceptPartial.accepts(acceptPartial, "last-row")) {
      throw new Stop(
        AcceptPartial.cutRefusal(acceptPartial, "last-row",
          `its last item has none of the columns (${quoted(JSON.stringify(this.noRow))}), so it may be cut`)
      )
    }
    const { document, evidence = [], outerCount = 0, repeated } = this.envelope ?? {}
    // Readers differ in which of them counts.
    if (repeated !== undefined && !AcceptPartial.accepts(acceptPartial, repeated)) {
      throw new Stop(
        AcceptPartial.pageRefusal(acceptPartial, [repeated], `it has the field ${quoted(repeated)} twice in one object`, "Write it once")
      )
    }
    if (onEvidence !== undefined) return onEvidence(evidence, outerCount, document)
    // The reader of the pages knows whether it has all of them.
    if (this.isFollowed) return
    const pages = new Envelope.Pages()
    pages.add(evidence)
    const complaint = pages.complaint((field) => AcceptPartial.accepts(acceptPartial, field))
    if (complaint !== undefined) throw new Stop(AcceptPartial.pageRefusal(acceptPartial, complaint.fields, complaint.reason))
  }

  private array(name: unknown, value: unknown): void {
    if (Array.isArray(value) && typeof name === "string" && this.arrays.size < maxArrayNames) this.arrays.add(name)
  }

  private page(cursor: unknown): void {
    if (cursor === null || cursor === "") return
    if (typeof cursor !== "string" && typeof cursor !== "number") throw new Stop("its next_cursor is neither text nor a number")
    const { acceptPartial, onNextCursor } = this.options
    if (onNextCursor !== undefined) {
      this.isFollowed = true
      return onNextCursor(String(cursor))
    }
    // With `acceptPartial`, the end of the document names it among all that shows a part.
    if (acceptPartial === undefined) {
      throw new Stop(
        AcceptPartial.pageRefusal(acceptPartial, [nextCursor], `it is one page of several: next_cursor is set (${quoted(String(cursor))})`)
      )
    }
  }

  private step(act: (parser: JSONParser) => void): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.suspend(() => {
      try {
        if (this.parser !== undefined) act(this.parser)
      } catch (error) {
        return Effect.fail(this.errorOf(error instanceof Stop ? error.message : this.reasonOf(error)))
      }
      if (this.sinceItem > maxItemBytes)
        return Effect.fail(this.errorOf(`after ${this.itemCount} there is 1 MiB without another (${this.place})`))
      const { rows } = this
      this.rows = []
      return Effect.succeed(rows)
    })
  }

  private reasonOf(error: unknown): string {
    const { formatOption = "the format" } = this.options
    if (this.parser?.isEnded === true && !this.isArray && this.number === 0) {
      return `it is several JSON objects, not one document: set ${formatOption} to ndjson`
    }
    const { charsetOption } = this.schema
    // Thrown by the decoder of strings; the parser's own errors are of other classes.
    if (error instanceof TypeError)
      return `after ${this.itemCount} it is not UTF-8: ${
        charsetOption === undefined
          ? "save it in UTF-8"
          : `save it in UTF-8, or name its charset with ${charsetOption}, such as windows-1252`
      }`
    return `after ${this.itemCount} it is not JSON`
  }

  private get itemCount(): string {
    return `${this.number} ${this.number === 1 ? "item" : "items"}`
  }

  private get place(): string {
    const { items, itemsOption } = this.options
    const expected = `expected in ${items ?? "the document itself or its data"}`
    const arrays = this.arrays.size === 0
      ? ""
      : `; it has ${this.arrays.size === 1 ? "the array" : "the arrays"} ${[...this.arrays].map(quoted).join(", ")}`
    return itemsOption === undefined ? `${expected}${arrays}` : `${expected}${arrays}; select another path with ${itemsOption}`
  }

  private errorOf(reason: string): SourceError.SourceError {
    return SourceError.content(this.options.source, reason)
  }
}

/** Thrown through the parser, which has no other way to stop. */
class Stop extends Error {}
