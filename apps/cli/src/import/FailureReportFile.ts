/** Writes failed rows with their reasons as a file that can be imported again. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Format from "@plaza/tabular/Format"
import * as Effect from "effect/Effect"
import type { ImportKind } from "./ImportRow.ts"
import type { FailedRow } from "./ImportRun.ts"
import * as RowOutcome from "./RowOutcome.ts"

const reasonColumns = ["code", "reason"]

const cell = (text: string): string => /[",\r\n;\t|]|^\s|\s$/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text
const csv = (rows: ReadonlyArray<ReadonlyArray<string>>): string => rows.map((row) => `${row.map(cell).join(",")}\n`).join("")

const format = (fileFormat: Format.Format, columns: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const objects = () => rows.map((row) => JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, row[index]]))))
  switch (fileFormat) {
    case "csv":
      return csv([columns, ...rows])
    case "json":
      return `[\n${objects().join(",\n")}\n]\n`
    case "ndjson":
      return `${objects().join("\n")}\n`
  }
}

/** Writes the rows in the order of their lines, in the format of the path's extension. */
export const save = (
  path: string,
  kind: ImportKind,
  failed: ReadonlyArray<FailedRow>
): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => {
    const rows = failed.toSorted((one, other) => one.row.line - other.row.line).map(({ failure, row }) => {
      const code = "code" in failure && failure.code !== undefined ? failure.code : failure._tag
      return [...row.cells, code, RowOutcome.reasonOf(failure)]
    })
    return fs.writeFileString(path, format(Format.ofName(path), [...kind.columns, ...reasonColumns], rows))
  })
