/** The formats of rows: detection and decoding. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Csv from "./Csv.ts"
import * as Gzip from "./Gzip.ts"
import * as Json from "./Json.ts"
import * as Ndjson from "./Ndjson.ts"
import type { RowSchema } from "./RowSchema.ts"
import * as StreamingParser from "./StreamingParser.ts"
import * as Utf8 from "./Utf8.ts"
import type { WorkbookOptions } from "./Workbook.ts"

/** `xlsx`: an Excel workbook. */
export type Format = "csv" | "json" | "ndjson" | "xlsx"

export const all: ReadonlyArray<Format> = ["csv", "json", "ndjson", "xlsx"]

export interface FormatOptions extends Csv.CsvOptions, Json.JsonOptions, Ndjson.NdjsonOptions, WorkbookOptions, Utf8.CharsetOptions {}

const endings: ReadonlyArray<readonly [RegExp, Format]> = [
  [/\.json(\.gz)?$/i, "json"],
  [/\.(ndjson|jsonl)(\.gz)?$/i, "ndjson"],
  [/\.(xlsx|xlsm)$/i, "xlsx"]
]

/** The format by the extension of a file name, with or without a final `.gz` (default: CSV). */
export const ofName = (name: string): Format => endings.find(([ending]) => ending.test(name))?.[1] ?? "csv"

const types: ReadonlyArray<readonly [RegExp, Format]> = [
  [/^text\/(csv|tab-separated-values)$/, "csv"],
  [/^(application|text)\/(x-)?(ndjson|jsonl|jsonlines|json-lines)$/, "ndjson"],
  [/^(application\/([\w.-]+\+)?json|text\/json)$/, "json"],
  [/^application\/vnd\.(openxmlformats-officedocument\.spreadsheetml\.sheet|ms-excel\.sheet\.macroenabled\.12)$/, "xlsx"]
]

/** The format by a content type; undefined for other types, such as `text/plain`. */
export const ofContentType = (type: string): Format | undefined => {
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? ""
  return types.find(([pattern]) => pattern.test(essence))?.[1]
}

// The zip archive that a workbook is, and one without parts.
const archives: ReadonlyArray<ReadonlyArray<number>> = [[0x50, 0x4b, 0x03, 0x04], [0x50, 0x4b, 0x05, 0x06]]

/** How many bytes of a source `isArchive` needs. */
export const archiveHead = 4

/** Whether a source begins as a workbook or another zip archive. No text does. */
export const isArchive = (head: Uint8Array): boolean => archives.some((magic) => magic.every((byte, index) => head[index] === byte))

/** A decoder of text. A file with the name of a workbook that is none is CSV: many shops export such files. */
const decoderOf = <Row>(format: Format, schema: RowSchema<Row>, options: FormatOptions): StreamingParser.Decoder<Row> =>
  format === "json" ? Json.rows(schema, options) : format === "ndjson" ? Ndjson.rows(schema, options) : Csv.rows(schema, options)

/** Decodes bytes in a format into rows. Detects workbooks, and detects and decodes gzip and UTF-16, in every format. */
export const rows = <Row>(format: Format, schema: RowSchema<Row>, options: FormatOptions): StreamingParser.Decoder<Row> => (bytes) => {
  const uncompressed = bytes.pipe(
    StreamingParser.rechunk(Gzip.chunkSize),
    StreamingParser.decode(() => Gzip.parser(options.source))
  )
  return StreamingParser.withHead(uncompressed, archiveHead, (head) =>
    isArchive(head)
      // Most sources are no workbooks, and need not load its libraries.
      ? (whole) =>
        Stream.unwrap(Effect.map(Effect.promise(() => import("./Workbook.ts")), (Workbook) => Workbook.rows(schema, options)(whole)))
      : (whole) => decoderOf(format, schema, options)(StreamingParser.decode(() => Utf8.parser(options.source, options))(whole)))
}
