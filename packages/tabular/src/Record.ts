/** Finds the columns in a header, and reads the cells of a record into a row. */
import { distance } from "fastest-levenshtein"
import * as CellText from "./CellText.js"
import * as Identity from "./Identity.js"
import { quoted } from "./Quoted.js"
import type { Column, RowSchema } from "./RowSchema.js"

/** Where the columns of a shape are. */
export interface Layout {
  /** In the order of the shape's columns. */
  readonly places: ReadonlyArray<number>
  /** How many columns the header has. */
  readonly width: number
}

// The whole header of an export with hundreds of columns would flood a terminal.
const mostNames = 40

const listOf = (names: ReadonlyArray<string>): string => {
  const more = names.length - mostNames
  return `the columns are ${names.slice(0, mostNames).map(quoted).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

/** The places of a name: as it is written, or else without regard to case. */
const placesOf = (names: ReadonlyArray<string>, column: string): ReadonlyArray<number> => {
  const where = (matches: (name: string) => boolean) => names.flatMap((name, index) => matches(name) ? [index] : [])
  const exact = where((name) => name === column)
  return exact.length > 0 ? exact : where((name) => name.toLowerCase() === column.toLowerCase())
}

const bare = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/** The name that was probably meant: the same but for case and signs, or for a letter or two. */
const nearest = (column: string, names: ReadonlyArray<string>): string | undefined =>
  names
    .map((name) => ({ name, away: distance(bare(column), bare(name)) }))
    .filter(({ away, name }) => away <= 2 && away * 2 < Math.min(bare(name).length, bare(column).length))
    .toSorted((one, other) => one.away - other.away)[0]?.name

const missing = ({ name: column, option }: Column, names: ReadonlyArray<string>): string => {
  const near = nearest(column, names)
  const advice = near === undefined
    ? option === undefined ? "Rename it" : `Rename it or name another with ${option}`
    : `Did you mean ${quoted(near)}? Rename it${option === undefined ? "" : ` or name it with ${option}`}`
  const above = names.filter((name) => name !== "").length === 1 ? ". If lines stand above the header, such as a title, delete them" : ""
  return `there is no column ${quoted(column)}; ${listOf(names)}. ${advice}${above}`
}

const looksLikeData = (names: ReadonlyArray<string>): boolean =>
  names.some((name) => /^[-+]?\d+(?:[.,]\d+)?-?$/.test(CellText.plain(name, () => true)))

/**
 * Finds the columns in the header, or gives the reason why they can't be found. A name that occurs twice is as bad as none: which of the
 * two holds the value is a guess.
 */
export const findColumns = <Row>(header: ReadonlyArray<string>, { columns }: RowSchema<Row>): Layout | string => {
  const names = header.map((name) => CellText.plain(name, () => true))
  const found = columns.map((column) => ({ column, places: placesOf(names, CellText.trimmed(column.name)) }))
  if (found.every(({ places }) => places.length === 0) && looksLikeData(names)) {
    return `the first line (${
      names.slice(0, mostNames).map(quoted).join(", ")
    }) looks like data, not like a header: put a line with the names of the ` +
      `columns above it, among them ${columns.map(({ name }) => quoted(name)).join(" and ")}`
  }
  for (const { column, places } of found) {
    if (places.length === 0) return missing(column, names)
    if (places.length > 1) return `the column ${quoted(column.name)} stands ${places.length} times; ${listOf(names)}. Name each column once`
  }
  const places = found.flatMap(({ places }) => places)
  return new Set(places).size === places.length
    ? { places, width: header.length }
    : `${columns.map(({ name }) => quoted(name)).join(" and ")} are one column; ${listOf(names)}. Name different ones`
}

/**
 * The layout for the records of a file, by its first one. Some programs end each record with a delimiter, but not the header.
 */
export const fit = (layout: Layout, first: ReadonlyArray<string>): Layout =>
  first.length === layout.width + 1 && first.at(-1) === "" ? { ...layout, width: first.length } : layout

/** Reads one record. Every way in which it can be unusable gives a rejected row with the reason. */
export const readRecord = <Row>(shape: RowSchema<Row>, { places, width }: Layout, line: number, record: ReadonlyArray<string>): Row => {
  if (record.length !== width) {
    const reason = `it has ${record.length} column${record.length === 1 ? "" : "s"} where the header has ${width}`
    return shape.bad(line, Identity.named(record[places[0] ?? 0]), reason)
  }
  return shape.read(line, places.map((place) => record[place]))
}
