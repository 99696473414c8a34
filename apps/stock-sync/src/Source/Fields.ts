/**
 * From one thing with names and values, as JSON and databases give them, to a row. Knows nothing of how it was found.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type { Row } from "../Source.js"
import type { Columns } from "./Columns.js"
import * as Identity from "./Identity.js"
import * as StockValue from "./StockValue.js"

// A whole number that is exact has one way of being written, so it names a product as well as its digits do.
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : typeof value === "bigint" || (Number.isSafeInteger(value) && !Object.is(value, -0)) ? String(value) : undefined

/**
 * Reads one thing. Every way in which it can be unusable ends in a row that says so.
 *
 * @since 0.1.0
 * @category parsing
 */
export const readFields = ({ idColumn, stockColumn }: Columns, line: number, thing: unknown): Row => {
  const bad = (reason: string, productId?: string): Row => ({ _tag: "Bad", line, productId, reason })
  if (!Predicate.isRecord(thing)) return bad("it is no object with names and values")
  // What every object answers to, as `constructor`, is nothing that the source told.
  const at = (name: string): unknown => (Object.hasOwn(thing, name) ? thing[name] : undefined)
  const id = at(idColumn)
  if (id === undefined || id === null) return bad(id === null ? `${idColumn} is null` : `there is no ${idColumn}`)
  const named = textOf(id)
  if (named === undefined) return bad(`${idColumn} is neither a text nor an exact whole number: write it as a text`)
  const productId = Identity.parse(idColumn, named)
  if (Either.isLeft(productId)) return bad(productId.left, named.trim() === "" ? undefined : named)
  const stock = StockValue.read(stockColumn, at(stockColumn))
  return Either.isLeft(stock) ? bad(stock.left, named) : { _tag: "Good", line, productId: productId.right, stock: stock.right }
}
