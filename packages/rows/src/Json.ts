/**
 * Reads rows from the bytes of a JSON document as they come, keeping no more than one chunk and one item: an array of objects, or an
 * object that holds one. Knows nothing of where the bytes come from.
 *
 * @since 0.1.0
 */
import { JSONParser } from "@streamparser/json"
import * as Effect from "effect/Effect"
import * as ByPieces from "./ByPieces.js"
import { readFields } from "./Fields.js"
import * as Refused from "./Refused.js"
import type { Shape } from "./Shape.js"

/** @since 0.1.0 @category models */
export interface JsonOptions {
  /** What is read, for messages: a path, or "stdin". */
  readonly source: string
  /** The names that lead to the array, parted by dots. The document itself, or what it calls `data`, unless told. */
  readonly items?: string | undefined
  /** What names another place, as `--items`. */
  readonly itemsOption?: string | undefined
}

// Bytes between two items. More is an item that doesn't end; without a bound it would be gathered in memory whole.
const longestItem = 1_048_576

/**
 * The rows of a document, in its order, numbered from 1. Fails with `SourceRefused` where the document as a whole can't be trusted:
 * not JSON, cut short, not UTF-8, no array where one is expected or an empty one.
 *
 * @since 0.1.0
 * @category streams
 */
export const rows = <Row>(shape: Shape<Row>, options: JsonOptions): ByPieces.Read<Row> => ByPieces.rows(() => new Reader(shape, options))

const space = new Set([0x20, 0x09, 0x0a, 0x0d])
const mark = [0xef, 0xbb, 0xbf]

/** The parser's only user. */
class Reader<Row> implements ByPieces.Reader<Row> {
  private readonly shape: Shape<Row>
  private readonly options: JsonOptions
  private parser: JSONParser | undefined
  private head = 0
  private number = 0
  private sinceItem = 0
  private taken: Array<Row> = []

  constructor(shape: Shape<Row>, options: JsonOptions) {
    this.shape = shape
    this.options = options
  }

  take(chunk: Uint8Array): Effect.Effect<ReadonlyArray<Row>, Refused.SourceRefused> {
    const from = this.parser === undefined ? this.skip(chunk) : 0
    const first = chunk[from]
    if (first === undefined) return Effect.succeed([])
    if (this.parser === undefined) {
      const refused = this.begin(first)
      if (refused !== undefined) return Effect.fail(refused)
    }
    this.sinceItem += chunk.length - from
    return this.step((parser) => parser.write(chunk.subarray(from)))
  }

  get end(): Effect.Effect<ReadonlyArray<Row>, Refused.SourceRefused> {
    return Effect.suspend(() => {
      if (this.parser === undefined) return Effect.fail(this.refusal("it is empty"))
      return Effect.filterOrFail(
        this.step((parser) => parser.isEnded ? undefined : parser.end()),
        () => this.number > 0 || this.shape.empty === undefined,
        () => this.refusal(`there is no item in it (${this.place}), which is ${this.shape.empty}`)
      )
    })
  }

  /** Where the text begins behind a byte order mark and blanks. */
  private skip(chunk: Uint8Array): number {
    let at = 0
    for (const byte of chunk) {
      if (this.head < mark.length && byte === mark[this.head]) this.head++
      else if (space.has(byte)) this.head = mark.length
      else break
      at++
    }
    return at
  }

  /** Which items are looked for follows from what the document begins with. */
  private begin(first: number): Refused.SourceRefused | undefined {
    const { items } = this.options
    if (first === 0xff || first === 0xfe) return Refused.utf16(this.options.source)
    if (first !== 0x5b && first !== 0x7b) return this.refusal("it begins with neither [ nor {: this is no JSON document with rows in it")
    const isArray = first === 0x5b
    if (isArray && items !== undefined) return this.refusal(`it is an array, in which nothing is called ${items}: leave ${this.options.itemsOption ?? "the name"} out`)
    const parser = new JSONParser({ paths: [isArray ? "$.*" : `$.${items ?? "data"}.*`], keepStack: false })
    parser.onValue = ({ parent, value }) => {
      this.sinceItem = 0
      this.number++
      if (!Array.isArray(parent)) throw new NoArray()
      this.taken.push(readFields(this.shape, this.number, value))
    }
    this.parser = parser
    return undefined
  }

  private step(act: (parser: JSONParser) => void): Effect.Effect<ReadonlyArray<Row>, Refused.SourceRefused> {
    return Effect.suspend(() => {
      try {
        if (this.parser !== undefined) act(this.parser)
      } catch (error) {
        return Effect.fail(this.refusal(
          error instanceof NoArray
            ? `there is no array (${this.place})`
            : `behind ${this.number} ${this.number === 1 ? "item" : "items"} it is cut short or no JSON (${error instanceof Error ? error.message : "unknown reason"})`
        ))
      }
      if (this.sinceItem > longestItem) {
        return Effect.fail(this.refusal(`behind ${this.number} ${this.number === 1 ? "item" : "items"} comes 1 MiB without another (${this.place})`))
      }
      const taken = this.taken
      this.taken = []
      return Effect.succeed(taken)
    })
  }

  private get place(): string {
    const { items, itemsOption } = this.options
    const looked = `looked for in ${items ?? "the document itself or its data"}`
    return itemsOption === undefined ? looked : `${looked}; name another place with ${itemsOption}`
  }

  private refusal(what: string): Refused.SourceRefused {
    return Refused.content(this.options.source, what)
  }
}

/** Thrown through the parser, which knows no other way to be stopped. */
class NoArray extends Error {}
