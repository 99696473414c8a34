/**
 * From the cells of one record to a row: which column is which, and what makes a record unusable. Knows nothing of how the cells
 * were found.
 *
 * @since 0.1.0
 */
import { quoted } from "./Quoted.js"
import type { Shape } from "./Shape.js"

/**
 * Where the columns stand that are looked at.
 *
 * @since 0.1.0
 * @category models
 */
export interface Layout {
  /** In the order of the shape's columns. */
  readonly places: ReadonlyArray<number>
  /** How many columns the header has. */
  readonly width: number
}

/**
 * Finds the columns in the header, or says in one sentence why they can't be told. A name that stands twice is as bad as none:
 * which of the two holds the value is a guess.
 *
 * @since 0.1.0
 * @category parsing
 */
export const findColumns = <Row>(header: ReadonlyArray<string>, { columns }: Shape<Row>): Layout | string => {
  const names = header.map((name) => name.trim())
  const found = `the columns are ${names.map(quoted).join(", ")}`
  for (const { name: column, option } of columns) {
    const times = names.filter((name) => name === column).length
    if (times === 0) return `there is no column ${quoted(column)}; ${found}. ${option === undefined ? "Rename it" : `Rename it or name another with ${option}`}`
    if (times > 1) return `the column ${quoted(column)} stands ${times} times; ${found}. Name each column once`
  }
  return { places: columns.map(({ name }) => names.indexOf(name)), width: header.length }
}

/**
 * Reads one record. Every way in which it can be unusable ends in a row that says so.
 *
 * @since 0.1.0
 * @category parsing
 */
export const readRecord = <Row>(shape: Shape<Row>, { places, width }: Layout, line: number, record: ReadonlyArray<string>): Row => {
  if (record.length !== width) {
    const named = record[places[0] ?? 0] ?? ""
    const reason = `it has ${record.length} column${record.length === 1 ? "" : "s"} where the header has ${width}`
    return shape.bad(line, named.trim() === "" ? undefined : named, reason)
  }
  return shape.read(line, places.map((place) => record[place]))
}
