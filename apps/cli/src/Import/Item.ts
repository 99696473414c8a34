/** The kinds of rows that can be imported, and the request that each row needs. */
import { StockPriority } from "@plaza/client"
import type { FailureOf } from "@plaza/client"
import * as Format from "@plaza/tabular/Format"
import * as Orders from "@plaza/tabular/Orders"
import * as Stock from "@plaza/tabular/Stock"
import type * as StreamingParser from "@plaza/tabular/StreamingParser"
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Client } from "../Connection.js"

export type Failure = FailureOf<"setStock"> | FailureOf<"shipOrder">

/** A row that can be sent. */
export interface Item {
  readonly _tag: "Valid"
  readonly line: number
  /** No two items of an import have the same. */
  readonly id: string
  /** What stands in the columns of its kind, as it is written. */
  readonly cells: ReadonlyArray<string>
  /** Its place among the others: lower ones are sent first. Whether an earlier attempt may have happened counts. */
  readonly urgency: (doubtful: boolean) => number
  readonly send: (store: Client["store"]) => Effect.Effect<unknown, Failure>
}

export interface BadItem {
  readonly _tag: "Rejected"
  readonly line: number
  readonly reason: string
}

export interface Kind {
  readonly name: "stock" | "orders"
  readonly columns: readonly [id: string, ...rest: ReadonlyArray<string>]
  readonly read: (format: Format.Format, options: Format.FormatOptions) => StreamingParser.Decoder<Item | BadItem>
  /**
   * Whether a later import of other rows takes back what an earlier one did: then the earlier one is not in place any more, whatever its
   * journal says.
   */
  readonly overwrites: boolean
}

const stockItem = (row: Stock.Row): Item | BadItem => {
  if (row._tag === "Rejected") return row
  const { line, productId, stock } = row
  return {
    _tag: "Valid",
    line,
    id: productId,
    cells: [productId, String(stock)],
    urgency: (doubtful) =>
      StockPriority.priorities.indexOf(StockPriority.of({
        wanted: stock,
        confirmed: undefined,
        doubt: doubtful ? { lowest: stock, highest: stock } : undefined
      })),
    send: (store) => store.setStock(productId, stock)
  }
}

export const stock: Kind = {
  name: "stock",
  columns: ["productId", "stock"],
  read: (format, options) => (bytes) =>
    Stream.map(Format.rows(format, Stock.schema({ idColumn: "productId", stockColumn: "stock" }), options)(bytes), stockItem),
  overwrites: true
}

const orderItem = (row: Orders.Row): Item | BadItem => {
  if (row._tag === "Rejected") return row
  const { carrier, line, orderId, trackingNumber } = row
  return {
    _tag: "Valid",
    line,
    id: orderId,
    cells: [orderId, carrier, trackingNumber],
    urgency: () => 0,
    send: (store) => store.ship(orderId, { carrier, trackingNumber })
  }
}

export const orders: Kind = {
  name: "orders",
  columns: ["orderId", "carrier", "trackingNumber"],
  read: (format, options) => (bytes) => Stream.map(Format.rows(format, Orders.schema, options)(bytes), orderItem),
  overwrites: false
}
