/** The rows of an import by kind: how they are decoded and sent, and the outcome of a failed request. */
import { FailureScope, type Store } from "@plaza/client"
import * as Format from "@plaza/tabular/Format"
import * as Orders from "@plaza/tabular/Orders"
import * as Stock from "@plaza/tabular/Stock"
import type * as StreamingParser from "@plaza/tabular/StreamingParser"
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

export type Failure = Store.SetStockFailure | Store.ShipFailure

/** A valid row. */
export interface ImportRow {
  readonly _tag: "Valid"
  readonly line: number
  /** Unique within an import. */
  readonly id: string
  /** The values of the columns of its kind. */
  readonly cells: ReadonlyArray<string>
  /** The sort order: lower ones are sent first. A doubtful row may have been sent by an earlier run. */
  readonly priority: (isDoubtful: boolean) => number
  readonly send: (store: Store["Service"]) => Effect.Effect<unknown, Failure>
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
    // Customers may buy a product until the service confirms that it is sold out. A doubtful stock is most likely in place.
    priority: (isDoubtful) => stock === 0 ? 0 : isDoubtful ? 2 : 1,
    send: (store) => store.setStock(productId, stock)
  }
}

const stock: ImportKind = {
  name: "stock",
  columns: ["productId", "stock"],
  decode: (format, options) => (bytes) =>
    Stream.map(Stock.rows(format, { idColumn: "productId", stockColumn: "stock" }, options)(bytes), stockRow),
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

const orders: ImportKind = {
  name: "orders",
  columns: ["orderId", "carrier", "trackingNumber"],
  decode: (format, options) => (bytes) => Stream.map(Format.rows(format, Orders.schema, options)(bytes), orderRow),
  overwrites: false
}

export const kinds: Readonly<Record<ImportKind["name"], ImportKind>> = { stock, orders }

/** The outcome of a failed request, as the journal records it. */
type RowOutcome =
  | { readonly is: "already" | "unverified" }
  | { readonly is: "failed" | "unknown"; readonly failure: Failure }

/**
 * Classifies a failed request. A conflict shows that the order is shipped. If an earlier attempt may have been carried out, in this call or,
 * with `isDoubtful`, in an earlier one, it does not show by whom.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 */
export const outcomeOf = (failure: Failure, isDoubtful: boolean): RowOutcome => {
  const mayHaveHappened = FailureScope.mayHaveHappened(failure)
  if ((failure._tag === "OutcomeUnknown" ? failure.cause : failure)._tag === "Conflict") {
    return { is: isDoubtful || mayHaveHappened ? "unverified" : "already" }
  }
  return { is: mayHaveHappened ? "unknown" : "failed", failure }
}

/** Why a row failed, and whether it may be in place all the same. */
export const reasonOf = (failure: Failure): string =>
  failure._tag !== "OutcomeUnknown" && FailureScope.mayHaveHappened(failure)
    ? `${failure.message} (the service may have carried it out all the same)`
    : failure.message
