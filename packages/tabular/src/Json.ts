/**
 * Reads rows from the bytes of a JSON document as they come, and keeps no more than one piece and one item: an array of objects, or an
 * object that holds one.
 */
import { JSONParser } from "@streamparser/json"
import * as Effect from "effect/Effect"
import { readFields } from "./Fields.js"
import { quoted } from "./Quoted.js"
import type { RowSchema } from "./RowSchema.js"
import * as SourceError from "./SourceError.js"
import * as StreamingParser from "./StreamingParser.js"

export interface JsonOptions {
  /** What is read, for messages: a path, or "stdin". */
  readonly source: string
  /**
   * The names that lead to the items, with dots between them (default: the document itself, or its `data`). Each name may lead to an array
   * of objects that hold the next one: `products.variants` gives the variants of all products.
   */
  readonly items?: string | undefined
  /** The option that names another place, such as `--items`. */
  readonly itemsOption?: string | undefined
  /** The option that names another format, such as `--format`. */
  readonly formatOption?: string | undefined
  /**
   * Takes the `next_cursor` of a document that is one page of several: a field of the document or of an object around its items that is
   * neither null nor empty. Without it such a document is refused.
   */
  readonly onNextCursor?: ((cursor: string) => void) | undefined
}

// Bytes between two items. More is an item that doesn't end; without a bound it would be gathered in memory whole.
const longestItem = 1_048_576

/**
 * The rows of a document, in its order, numbered from 1. Fails with `SourceError` where the document as a whole can't be trusted:
 * not JSON, cut short, not UTF-8, one page of several, no array where one is expected or an empty one.
 */
export const rows = <Row>(shape: RowSchema<Row>, options: JsonOptions): StreamingParser.Read<Row> =>
  StreamingParser.rows(() => new Reader(shape, options))

const space = new Set([0x20, 0x09, 0x0a, 0x0d])

/** The paths that end at the items, with a star for each array on the way: of `a.b` they are `a.b.*` and `a.*.b.*`. */
const itemPaths = ([first, ...rest]: ReadonlyArray<string>): ReadonlyArray<string> =>
  first === undefined
    ? ["*"]
    : itemPaths(rest).flatMap((path) => (rest.length === 0 ? [`${first}.${path}`] : [`${first}.${path}`, `${first}.*.${path}`]))

// Enough names to choose from in a message.
const mostArrays = 5

/** The parser's only user. */
class Reader<Row> implements StreamingParser.Reader<Row> {
  private readonly shape: RowSchema<Row>
  private readonly options: JsonOptions
  private parser: JSONParser | undefined
  private isArray = false
  private number = 0
  private sinceItem = 0
  private taken: Array<Row> = []
  /** Top-level fields that hold an array, for the message where none is found in the expected place. */
  private readonly arrays = new Set<string>()

  constructor(shape: RowSchema<Row>, options: JsonOptions) {
    this.shape = shape
    this.options = options
  }

  /** The names that lead from the document to the array. */
  private get names(): ReadonlyArray<string> {
    return this.options.items?.split(".") ?? (this.isArray ? [] : ["data"])
  }

  take(piece: Uint8Array): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    const from = this.parser === undefined ? piece.findIndex((byte) => !space.has(byte)) : 0
    const first = piece[from]
    if (first === undefined) return Effect.succeed([])
    if (this.parser === undefined) {
      if (first !== 0x5b && first !== 0x7b)
        return Effect.fail(this.refusal("it begins with neither [ nor {: this is no JSON document with rows in it"))
      this.isArray = first === 0x5b
      this.parser = this.open()
    }
    this.sinceItem += piece.length - from
    return this.step((parser) => parser.write(piece.subarray(from)))
  }

  get end(): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.suspend(() => {
      if (this.parser === undefined) return Effect.fail(this.refusal("it is empty"))
      return Effect.filterOrFail(
        this.step((parser) => {
          if (!parser.isEnded) throw new Stop(`behind ${this.count} it is cut short`)
        }),
        () => this.number > 0 || this.shape.empty === undefined,
        () =>
          this.refusal(this.isArray && this.options.items !== undefined
            ? `it is an array, in which nothing is called ${this.options.items}: leave ${this.options.itemsOption ?? "the name"} out`
            : `there is no item in it (${this.place}), which is ${this.shape.empty}`)
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
    return parser
  }

  private item(parent: unknown, value: unknown): void {
    this.sinceItem = 0
    if (!Array.isArray(parent)) throw new Stop(`there is no array (${this.place})`)
    this.number++
    this.taken.push(readFields(this.shape, this.number, value))
  }

  private array(name: unknown, value: unknown): void {
    if (Array.isArray(value) && typeof name === "string" && this.arrays.size < mostArrays) this.arrays.add(name)
  }

  private page(cursor: unknown): void {
    if (cursor === null || cursor === "") return
    if (typeof cursor !== "string" && typeof cursor !== "number") throw new Stop("its next_cursor is neither a text nor a number")
    if (this.options.onNextCursor === undefined) {
      throw new Stop(`it is one page of several: next_cursor is set (${quoted(String(cursor))}). Give a document with all items`)
    }
    this.options.onNextCursor(String(cursor))
  }

  private step(act: (parser: JSONParser) => void): Effect.Effect<ReadonlyArray<Row>, SourceError.SourceError> {
    return Effect.suspend(() => {
      try {
        if (this.parser !== undefined) act(this.parser)
      } catch (error) {
        return Effect.fail(this.refusal(error instanceof Stop ? error.message : this.complaint(error)))
      }
      if (this.sinceItem > longestItem) return Effect.fail(this.refusal(`behind ${this.count} comes 1 MiB without another (${this.place})`))
      const { taken } = this
      this.taken = []
      return Effect.succeed(taken)
    })
  }

  private complaint(error: unknown): string {
    const { formatOption = "the format" } = this.options
    if (this.parser?.isEnded === true && !this.isArray && this.number === 0) {
      return `it is one JSON object after another, not one document: name the format ndjson with ${formatOption}`
    }
    // Thrown by the decoder of strings; the parser's own errors are of other classes.
    if (error instanceof TypeError) return `behind ${this.count} it is not UTF-8: save it in UTF-8`
    return `behind ${this.count} it is not JSON`
  }

  private get count(): string {
    return `${this.number} ${this.number === 1 ? "item" : "items"}`
  }

  private get place(): string {
    const { items, itemsOption } = this.options
    const looked = `looked for in ${items ?? "the document itself or its data"}`
    const arrays = this.arrays.size === 0
      ? ""
      : `; it has ${this.arrays.size === 1 ? "the array" : "the arrays"} ${[...this.arrays].map(quoted).join(", ")}`
    return itemsOption === undefined ? `${looked}${arrays}` : `${looked}${arrays}; name another place with ${itemsOption}`
  }

  private refusal(what: string): SourceError.SourceError {
    return SourceError.content(this.options.source, what)
  }
}

/** Thrown through the parser, which can't be stopped otherwise. */
class Stop extends Error {}
