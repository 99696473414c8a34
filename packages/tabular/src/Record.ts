/** Finds the columns in a CSV header, and decodes the records below it. */
import { distance } from "fastest-levenshtein"
import * as CellText from "./CellText.ts"
import * as Identity from "./Identity.ts"
import { quoted } from "./Quoted.ts"
import type { Column, RowSchema } from "./RowSchema.ts"
import * as Utf8 from "./Utf8.ts"

/** The positions of a schema's columns in a record. */
export interface ColumnLayout {
  /** In the order of the schema's columns. */
  readonly positions: ReadonlyArray<number>
  /** The number of columns in the header. */
  readonly width: number
}

// A header with hundreds of columns would fill the terminal.
const maxNames = 40

/** The columns of a header, for the end of a clause. Empty if they must not be shown. */
export const listOf = (names: ReadonlyArray<string>, hidden = false): string => {
  if (hidden) return ""
  const more = names.length - maxNames
  return `; the columns are ${names.slice(0, maxNames).map(quoted).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

/** The positions of a name: of exact matches, else of matches that ignore case. */
const positionsOf = (names: ReadonlyArray<string>, column: string): ReadonlyArray<number> => {
  const positionsWhere = (matches: (name: string) => boolean) => names.flatMap((name, index) => matches(name) ? [index] : [])
  const exact = positionsWhere((name) => name === column)
  return exact.length > 0 ? exact : positionsWhere((name) => name.toLowerCase() === column.toLowerCase())
}

const normalizedName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/** The most similar name: equal except for case and punctuation, or for at most two letters. */
export const nearest = (column: string, names: ReadonlyArray<string>): string | undefined =>
  names
    .map((name) => ({ name, away: distance(normalizedName(column), normalizedName(name)) }))
    .filter(({ away, name }) => away <= 2 && away * 2 < Math.min(normalizedName(name).length, normalizedName(column).length))
    .toSorted((one, other) => one.away - other.away)[0]?.name

const missing = ({ name: column, option }: Column, names: ReadonlyArray<string>, hidden: boolean): string => {
  const near = nearest(column, names)
  const remedy = near === undefined
    ? option === undefined ? "Add it, or rename a column" : `Add it, or select another column with ${option}`
    : `Did you mean ${quoted(near)}? Rename it${option === undefined ? "" : `, or select it with ${option}`}`
  const above = names.filter((name) => name !== "").length === 1 ? ". Delete any lines above the header, such as a title" : ""
  return `there is no column ${quoted(column)}${listOf(names, hidden)}. ${remedy}${above}`
}

const looksLikeData = (names: ReadonlyArray<string>): boolean =>
  names.some((name) => /^[-+]?\d+(?:[.,]\d+)?-?$/.test(CellText.normalize(name, () => true)))

/** Finds the columns in the header. Returns the reason as text if a column is missing or occurs twice. */
export const findColumns = <Row>(
  header: ReadonlyArray<string>,
  { charsetOption, columns, hidesHeader: hidden = false }: RowSchema<Row>
): ColumnLayout | string => {
  const names = header.map((name) => CellText.normalize(name, () => true))
  const found = columns.map((column) => ({ column, positions: positionsOf(names, CellText.trim(column.name)) }))
  if (found.every(({ positions }) => positions.length === 0) && looksLikeData(names)) {
    return `the first line${
      hidden ? "" : ` (${names.slice(0, maxNames).map(quoted).join(", ")})`
    } looks like data, not like a header: add a first line with the names of the ` +
      `columns, including ${columns.map(({ name }) => quoted(name)).join(" and ")}`
  }
  for (const { column, positions } of found) {
    if (positions.length === 0) {
      // The decoder puts this character in place of bytes that are not UTF-8.
      const undecoded = names.find((name) => name.includes("\uFFFD"))
      return undecoded === undefined
        ? missing(column, names, hidden)
        : `its header is not UTF-8${hidden ? "" : ` (${quoted(undecoded)})`}, and there is no column ${quoted(column.name)} in it: ${
          Utf8.remedy(charsetOption)
        }`
    }
    if (positions.length > 1)
      return `the column ${quoted(column.name)} occurs ${positions.length} times${listOf(names, hidden)}. Keep one of them`
  }
  const positions = found.flatMap(({ positions }) => positions)
  return new Set(positions).size === positions.length
    ? { positions, width: header.length }
    : `${columns.map(({ name }) => quoted(name)).join(" and ")} are the same column${listOf(names, hidden)}. Select different columns`
}

/** Adapts the layout to the first record. Some programs end each record with a delimiter, but not the header. */
export const adaptTo = (layout: ColumnLayout, first: ReadonlyArray<string>): ColumnLayout =>
  first.length === layout.width + 1 && first.at(-1) === "" ? { ...layout, width: first.length } : layout

/** Decodes one record. An invalid record gives a rejected row. */
export const decodeRecord = <Row>(
  schema: RowSchema<Row>,
  { positions, width }: ColumnLayout,
  line: number,
  record: ReadonlyArray<string>
): Row => {
  if (record.length !== width) {
    const reason = `it has ${record.length} column${record.length === 1 ? "" : "s"}, and the header has ${width}`
    return schema.reject(line, Identity.ofRejected(record[positions[0] ?? 0]), reason)
  }
  return schema.decode(line, positions.map((place) => record[place]))
}
