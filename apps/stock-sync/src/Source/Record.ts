/**
 * From the cells of one record to a row: which column is which, and what makes a record unusable. Knows nothing of how the cells
 * were found.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import type { Row } from "../Source.js"
import type { Columns } from "./Columns.js"
import * as Identity from "./Identity.js"
import { quoted } from "./Quoted.js"
import * as StockValue from "./StockValue.js"

/**
 * Where the two columns stand that are looked at.
 *
 * @since 0.1.0
 * @category models
 */
export interface Layout extends Columns {
  readonly idAt: number
  readonly stockAt: number
  /** How many columns the header has. */
  readonly width: number
}

/**
 * Finds the columns in the header, or says in one sentence why they can't be told. A name that stands twice is as bad as none:
 * which of the two holds the stock is a guess.
 *
 * @since 0.1.0
 * @category parsing
 */
export const findColumns = (
  header: ReadonlyArray<string>,
  { idColumn, stockColumn }: Columns
): Layout | string => {
  const names = header.map((name) => name.trim())
  const found = `the columns are ${names.map(quoted).join(", ")}`
  for (const [column, flag] of [[idColumn, "--id-column"], [stockColumn, "--stock-column"]] as const) {
    const times = names.filter((name) => name === column).length
    if (times === 0) return `there is no column ${quoted(column)}; ${found}. Rename it or name another with ${flag}`
    if (times > 1) return `the column ${quoted(column)} stands ${times} times; ${found}. Name each column once`
  }
  return { idColumn, stockColumn, idAt: names.indexOf(idColumn), stockAt: names.indexOf(stockColumn), width: header.length }
}

/**
 * Reads one record. Every way in which it can be unusable ends in a row that says so.
 *
 * @since 0.1.0
 * @category parsing
 */
export const readRecord = (layout: Layout, line: number, record: ReadonlyArray<string>): Row => {
  const { idColumn, stockColumn, width } = layout
  const named = record[layout.idAt] ?? ""
  const bad = (reason: string): Row => ({ _tag: "Bad", line, productId: named.trim() === "" ? undefined : named, reason })
  if (record.length !== width) {
    return bad(`it has ${record.length} column${record.length === 1 ? "" : "s"} where the header has ${width}`)
  }
  const productId = Identity.parse(idColumn, named)
  if (Either.isLeft(productId)) return bad(productId.left)
  const stock = StockValue.parse(stockColumn, record[layout.stockAt] ?? "")
  return Either.isLeft(stock) ? bad(stock.left) : { _tag: "Good", line, productId: productId.right, stock: stock.right }
}
