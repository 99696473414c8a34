/** Writes the rows that were not accepted, with the reason, as a file that can be imported again. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Format from "@plaza/tabular/Format"
import * as Effect from "effect/Effect"
import type { Kind } from "./Item.js"
import type { Failed } from "./Run.js"

const reasons = ["code", "reason"]

const cell = (text: string): string => /[",\r\n;\t|]|^\s|\s$/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text
const csv = (rows: ReadonlyArray<ReadonlyArray<string>>): string => rows.map((row) => `${row.map(cell).join(",")}\n`).join("")

const write = (format: Format.Format, columns: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const objects = () => rows.map((row) => JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, row[index]]))))
  switch (format) {
    case "csv":
      return csv([columns, ...rows])
    case "json":
      return `[\n${objects().join(",\n")}\n]\n`
    case "ndjson":
      return `${objects().join("\n")}\n`
  }
}

/** Writes the rows that were not taken, in the order of their lines and in the format that the path's ending tells. */
export const save = (path: string, kind: Kind, failed: ReadonlyArray<Failed>): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => {
    const rows = failed.toSorted((one, other) => one.item.line - other.item.line).map(({ failure, item }) => {
      const code = "code" in failure && failure.code !== undefined ? failure.code : failure._tag
      return [...item.cells, code, failure.message]
    })
    return fs.writeFileString(path, write(Format.ofName(path), [...kind.columns, ...reasons], rows))
  })
