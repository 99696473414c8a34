/** The formats of rows: detection and decoding. */
import * as Csv from "./Csv.ts"
import * as Gzip from "./Gzip.ts"
import * as Json from "./Json.ts"
import * as Ndjson from "./Ndjson.ts"
import type { RowSchema } from "./RowSchema.ts"
import * as StreamingParser from "./StreamingParser.ts"
import * as Utf8 from "./Utf8.ts"

export type Format = "csv" | "json" | "ndjson"

export const all: ReadonlyArray<Format> = ["csv", "json", "ndjson"]

export interface FormatOptions extends Csv.CsvOptions, Json.JsonOptions, Ndjson.NdjsonOptions {}

const endings: ReadonlyArray<readonly [RegExp, Format]> = [
  [/\.json(\.gz)?$/i, "json"],
  [/\.(ndjson|jsonl)(\.gz)?$/i, "ndjson"]
]

/** The format by the extension of a file name, with or without a final `.gz` (default: CSV). */
export const ofName = (name: string): Format => endings.find(([ending]) => ending.test(name))?.[1] ?? "csv"

const types: ReadonlyArray<readonly [RegExp, Format]> = [
  [/^text\/(csv|tab-separated-values)$/, "csv"],
  [/^(application|text)\/(x-)?(ndjson|jsonl|jsonlines|json-lines)$/, "ndjson"],
  [/^(application\/([\w.-]+\+)?json|text\/json)$/, "json"]
]

/** The format by a content type; undefined for other types, such as `text/plain`. */
export const ofContentType = (type: string): Format | undefined => {
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? ""
  return types.find(([pattern]) => pattern.test(essence))?.[1]
}

/** Decodes bytes in a format into rows. Detects and decodes gzip and UTF-16 in every format. */
export const rows = <Row>(format: Format, schema: RowSchema<Row>, options: FormatOptions): StreamingParser.Decoder<Row> => (bytes) =>
  bytes.pipe(
    StreamingParser.rechunk(Gzip.chunkSize),
    StreamingParser.decode(() => Gzip.parser(options.source)),
    StreamingParser.decode(() => Utf8.parser(options.source)),
    format === "csv" ? Csv.rows(schema, options) : format === "json" ? Json.rows(schema, options) : Ndjson.rows(schema, options)
  )
