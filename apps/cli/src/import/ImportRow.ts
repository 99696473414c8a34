/** The rows of an import by kind, and the request of each row. */
import { StockPriority } from "@plaza-legacy/client"
import type { FailureOf, Store } from "@plaza-legacy/client"
import * as Format from "@plaza/tabular/Format"
import * as Orders from "@plaza/tabular/Orders"
import * as Stock from "@plaza/tabular/Stock"
import type * as StreamingParser from "@plaza/tabular/StreamingParser"
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export type Failure = FailureOf<"setStock"> | FailureOf<"shipOrder">

/** A valid row. */
export interface ImportRow {
  readonly _tag: "Valid"
  readonly line: number
  /** Unique within an import. */
  readonly id: string
  /** The values of the columns of its kind. */
  readonly cells: ReadonlyArray<string>
  /** The sort order: lower ones are sent first. A doubtful row may have been sent by an earlier run. */
  readonly priority: (doubtful: boolean) => number
  readonly send: (store: Store["Type"]) => Effect.Effect<unknown, Failure>
}

export interface RejectedRow {
  readonly _tag: "Rejected"
  readonly line: number
  readonly reason: string
}

export interface ImportKind {
  readonly name: "stock" | "orders"
  readonly columns: readonly [id: string, ...rest: ReadonlyArray<string>]
  readonly decode: (format: Format.Format, options: Format.FormatOptions) => StreamingParser.Decoder<ImportRow | RejectedRow>
  /** Whether a later import of other rows can overwrite an earlier one, so that the journal of the earlier one is no longer true. */
  readonly overwrites: boolean
}

const stockRow = (row: Stock.Row): ImportRow | RejectedRow => {
  if (row._tag === "Rejected") return row
  const { line, productId, stock } = row
  return {
    _tag: "Valid",
    line,
    id: productId,
    cells: [productId, String(stock)],
    priority: (doubtful) =>
      StockPriority.priorities.indexOf(StockPriority.of({
        wanted: stock,
        confirmed: undefined,
        doubt: doubtful ? { lowest: stock, highest: stock } : undefined
      })),
    send: (store) => store.setStock(productId, stock)
  }
}

export const stock: ImportKind = {
  name: "stock",
  columns: ["productId", "stock"],
  decode: (format, options) => (bytes) =>
    Stream.map(Format.rows(format, Stock.schema({ idColumn: "productId", stockColumn: "stock" }), options)(bytes), stockRow),
  overwrites: true
}

const orderRow = (row: Orders.Row): ImportRow | RejectedRow => {
  if (row._tag === "Rejected") return row
  const { carrier, line, orderId, trackingNumber } = row
  return {
    _tag: "Valid",
    line,
    id: orderId,
    cells: [orderId, carrier, trackingNumber],
    priority: () => 0,
    send: (store) => store.ship(orderId, { carrier, trackingNumber })
  }
}

export const orders: ImportKind = {
  name: "orders",
  columns: ["orderId", "carrier", "trackingNumber"],
  decode: (format, options) => (bytes) => Stream.map(Format.rows(format, Orders.schema, options)(bytes), orderRow),
  overwrites: false
}
