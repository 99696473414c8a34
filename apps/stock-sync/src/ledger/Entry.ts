/**
 * A product as the ledger knows it. The interface has no operation that reads a product, so the ledger is the only record of the
 * stock at the service.
 *
 * Source: interface v1, "Endpoints", gaps.
 */
import type { ProductId } from "@plaza/domain/Ids"
import type * as DateTime from "effect/DateTime"

/**
 * - `pending`: wanted, and not confirmed.
 * - `sending`: a request is in flight. If it is still there when the ledger is opened, the request was interrupted.
 * - `doubtful`: an earlier request may still take effect, with another stock than the last confirmed one.
 * - `settled`: the service confirmed the wanted stock.
 * - `uncertain`: the service accepted the wanted stock and showed another one, or a proxy refused it and may have let it through. Nothing
 *   is confirmed. It is sent again when `dueAt` has come, or when another stock is wanted.
 * - `quarantined`: the service refuses the wanted stock of this product; retried at growing intervals.
 */
export const states = ["settled", "pending", "sending", "doubtful", "uncertain", "quarantined"] as const
export type EntryState = (typeof states)[number]

/** The tag of a response that shows another stock than the one sent. */
export const mismatchTag = "StockMismatch"

/** The last response, or the lack of one, that did not confirm a value. */
export interface Refusal {
  /** The failure's tag, such as `NotFound` or `AttemptTimeout`. */
  readonly tag: string
  /** The error code of the response, if there was one. */
  readonly code: string | undefined
  readonly message: string
  /** The stock that was sent. */
  readonly value: number
}

export interface Entry {
  readonly productId: ProductId
  /** Whole pieces. */
  readonly wanted: number
  /** The stock that the service last confirmed; undefined if it never did. */
  readonly confirmed: number | undefined
  readonly confirmedAt: DateTime.Utc | undefined
  /** The stock of the last request; undefined if there was none. */
  readonly sent: number | undefined
  /**
   * The range of stocks that the store may have besides the confirmed one: those of requests with an unknown outcome, and those that
   * responses showed. `until`: when the last such request can no longer take effect; undefined: none can.
   */
  readonly doubt: { readonly lowest: number; readonly highest: number; readonly until: DateTime.Utc | undefined } | undefined
  /** Requests for the wanted stock since the last confirmation. */
  readonly attempts: number
  readonly state: EntryState
  /** Not sent before this time; undefined: due now, or not sent at all if it is settled or uncertain. */
  readonly dueAt: DateTime.Utc | undefined
  readonly refusal: Refusal | undefined
  /** The position of its row in the source. */
  readonly line: number
  readonly updatedAt: DateTime.Utc
}
