/**
 * In which format bytes are, and their rows. Knows nothing of where the bytes come from.
 *
 * @since 0.1.0
 */
import type * as ByPieces from "./ByPieces.js"
import * as Csv from "./Csv.js"
import * as Json from "./Json.js"
import * as Ndjson from "./Ndjson.js"
import type { Shape } from "./Shape.js"

/** @since 0.1.0 @category models */
export type Format = "csv" | "json" | "ndjson"

/** @since 0.1.0 @category constants */
export const all: ReadonlyArray<Format> = ["csv", "json", "ndjson"]

/** @since 0.1.0 @category models */
export interface FormatOptions extends Csv.CsvOptions, Json.JsonOptions {}

const endings: ReadonlyArray<readonly [RegExp, Format]> = [
  [/\.json$/i, "json"],
  [/\.(ndjson|jsonl)$/i, "ndjson"]
]

/**
 * The format that the ending of a name tells; CSV where it tells nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofName = (name: string): Format => endings.find(([ending]) => ending.test(name))?.[1] ?? "csv"

const types: ReadonlyArray<readonly [RegExp, Format]> = [
  [/^text\/(csv|tab-separated-values)$/, "csv"],
  [/^(application|text)\/(x-)?(ndjson|jsonl|jsonlines|json-lines)$/, "ndjson"],
  [/^(application\/([\w.-]+\+)?json|text\/json)$/, "json"]
]

/**
 * The format that a content type tells; undefined where it tells none, as `text/plain`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofContentType = (type: string): Format | undefined => {
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? ""
  return types.find(([pattern]) => pattern.test(essence))?.[1]
}

/**
 * The rows of bytes in a format.
 *
 * @since 0.1.0
 * @category streams
 */
export const rows = <Row>(format: Format, shape: Shape<Row>, options: FormatOptions): ByPieces.Read<Row> =>
  format === "csv" ? Csv.rows(shape, options) : format === "json" ? Json.rows(shape, options) : Ndjson.rows(shape, options)
