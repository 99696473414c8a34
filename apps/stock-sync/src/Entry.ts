/**
 * What is remembered of one product. The interface shows no way to read a product back, so this is all that is known of what the
 * service holds. Knows nothing of how it is kept (`Ledger`) nor of what follows from it (`Plan`).
 *
 * Source: interface v1, "Endpoints", gaps.
 *
 * @since 0.1.0
 */
import type { ProductId } from "@plaza/domain/Ids"

/**
 * Where a product stands.
 *
 * - `pending`: wanted, not sent, or sent and certainly not taken.
 * - `sending`: handed to the network. Found at a start, it was cut off and is as good as doubtful.
 * - `doubtful`: sent, and nobody knows whether it was taken.
 * - `settled`: the service confirmed what was wanted then.
 * - `quarantined`: refused for what was wanted; not sent again until that changes.
 *
 * @since 0.1.0
 * @category models
 */
export type EntryState = "settled" | "pending" | "sending" | "doubtful" | "quarantined"

/**
 * In which order products are sent, the most urgent first: what is sold out can still be bought, what falls can be oversold, what is
 * back can't be bought yet. A doubtful value that is still wanted has probably arrived, so it comes last of what waits. An assertion
 * repeats what was confirmed, in case that it was changed in the store since.
 *
 * @since 0.1.0
 * @category models
 */
export const urgencies = ["soldOut", "falling", "backInStock", "rest", "doubtful", "assertion"] as const
/** @since 0.1.0 @category models */
export type Urgency = (typeof urgencies)[number]

/**
 * The last answer, or the lack of one, that kept a value from being confirmed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refusal {
  /** The failure's tag, as `NotFound` or `AttemptTimeout`. */
  readonly tag: string
  /** The service's code, where the service answered. */
  readonly code: string | undefined
  readonly message: string
  /** The stock that was sent. */
  readonly value: number
}

/** @since 0.1.0 @category models */
export interface Entry {
  readonly productId: ProductId
  /** Whole pieces, as the source last told. */
  readonly wanted: number
  /** What the service last confirmed; undefined if it never did. */
  readonly confirmed: number | undefined
  /** Milliseconds since the epoch. */
  readonly confirmedAt: number | undefined
  /** The value last handed to the network; undefined if none ever was. */
  readonly sent: number | undefined
  /** How often the wanted value has been sent. */
  readonly attempts: number
  readonly state: EntryState
  readonly refusal: Refusal | undefined
  /** The line of the source that told the wanted value; while that is the same, possibly where it stood in an earlier snapshot. */
  readonly line: number
  /** Milliseconds since the epoch. */
  readonly updatedAt: number
}
