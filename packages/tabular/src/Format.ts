/** The formats, how they are recognised, and the rows of bytes in one of them. */
import * as Csv from "./Csv.js"
import * as Gzip from "./Gzip.js"
import * as Json from "./Json.js"
import * as Ndjson from "./Ndjson.js"
import type { RowSchema } from "./RowSchema.js"
import * as StreamingParser from "./StreamingParser.js"
import * as Utf8 from "./Utf8.js"

export type Format = "csv" | "json" | "ndjson"

export const all: ReadonlyArray<Format> = ["csv", "json", "ndjson"]

export interface FormatOptions extends Csv.CsvOptions, Json.JsonOptions {}

const endings: ReadonlyArray<readonly [RegExp, Format]> = [
  [/\.json(\.gz)?$/i, "json"],
  [/\.(ndjson|jsonl)(\.gz)?$/i, "ndjson"]
]

/** The format by the ending of a name, with or without `.gz` behind it (default: CSV). */
export const ofName = (name: string): Format => endings.find(([ending]) => ending.test(name))?.[1] ?? "csv"

const types: ReadonlyArray<readonly [RegExp, Format]> = [
  [/^text\/(csv|tab-separated-values)$/, "csv"],
  [/^(application|text)\/(x-)?(ndjson|jsonl|jsonlines|json-lines)$/, "ndjson"],
  [/^(application\/([\w.-]+\+)?json|text\/json)$/, "json"]
]

/** The format by a content type; undefined where the type names none, such as `text/plain`. */
export const ofContentType = (type: string): Format | undefined => {
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? ""
  return types.find(([pattern]) => pattern.test(essence))?.[1]
}

/**
 * The rows of bytes in a format. Bytes that are packed with gzip are unpacked, and UTF-16 is decoded, whatever the format.
 */
export const rows = <Row>(format: Format, shape: RowSchema<Row>, options: FormatOptions): StreamingParser.Read<Row> => (bytes) =>
  bytes.pipe(
    StreamingParser.upTo(Gzip.pieceSize),
    StreamingParser.rows(() => Gzip.reader(options.source)),
    StreamingParser.rows(() => Utf8.reader(options.source)),
    format === "csv" ? Csv.rows(shape, options) : format === "json" ? Json.rows(shape, options) : Ndjson.rows(shape, options)
  )
