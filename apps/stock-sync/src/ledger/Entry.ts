/**
 * What the ledger knows of one product. The interface shows no way to read a product back, so this is all that is known of
 * what the service holds.
 *
 * Source: interface v1, "Endpoints", gaps.
 */
import type { StockPriority } from "@plaza/client"
import type { ProductId } from "@plaza/domain/Ids"

/**
 * - `pending`: wanted, and not confirmed.
 * - `sending`: a request is in flight. Found when the ledger is opened, the request was cut off.
 * - `doubtful`: an earlier request may still take effect, with another stock than the one that was confirmed last.
 * - `settled`: the service confirmed the wanted stock.
 * - `quarantined`: the service refuses the wanted stock of this product; tried again at growing intervals.
 */
export const states = ["settled", "pending", "sending", "doubtful", "quarantined"] as const
export type EntryState = (typeof states)[number]

/** What waits: every priority except the repetition of confirmed stock. */
export type Waiting = Exclude<StockPriority.Priority, "assertion">

/** The last response, or the lack of one, that kept a value from being confirmed. */
export interface Refusal {
  /** The failure's tag, such as `NotFound` or `AttemptTimeout`. */
  readonly tag: string
  /** The service's code, where the service responded with one. */
  readonly code: string | undefined
  readonly message: string
  /** The stock that was sent. */
  readonly value: number
}

/** All moments are milliseconds since the epoch. */
export interface Entry {
  readonly productId: ProductId
  /** Whole pieces. */
  readonly wanted: number
  /** The stock that the service last confirmed; undefined if it never did. */
  readonly confirmed: number | undefined
  readonly confirmedAt: number | undefined
  /** The stock of the last request; undefined if there was none. */
  readonly sent: number | undefined
  /** The range of the requests that may have taken effect, or may still, and until when that is possible. */
  readonly doubt: { readonly lowest: number; readonly highest: number; readonly until: number } | undefined
  /** Requests for the wanted stock since the last confirmation. */
  readonly attempts: number
  readonly state: EntryState
  /** Not sent before; undefined: as soon as its turn comes. */
  readonly dueAt: number | undefined
  readonly refusal: Refusal | undefined
  /** The position of its row in the source. */
  readonly line: number
  readonly updatedAt: number
}
