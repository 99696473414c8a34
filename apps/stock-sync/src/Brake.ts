/**
 * When a snapshot is too destructive to be believed: one that would take much of the catalogue out of sale is more often a broken feed
 * than a sold-out shop. Pure; knows nothing of how snapshots are compared nor of where one is held.
 *
 * @since 0.1.0
 */

/**
 * What a snapshot would do to products that are wanted with stock so far.
 *
 * @since 0.1.0
 * @category models
 */
export interface Damage {
  /** Products that it names with 0. */
  readonly zeroed: number
  /** Products that it doesn't name any longer, and that would be wanted 0 for that. */
  readonly dropped: number
  /** Products that the snapshot before it named. */
  readonly catalogue: number
}

/** @since 0.1.0 @category models */
export interface Brake {
  /** Of the catalogue, 0 to 1. */
  readonly share: number
  readonly count: number
}

/**
 * What holds unless told.
 *
 * @since 0.1.0
 * @category constants
 */
export const usual: Brake = { share: 0.2, count: 25 }

/**
 * Whether a snapshot is held: only if it exceeds both, so that neither the last pieces of a small shop nor a busy day of a large one do it.
 *
 * @since 0.1.0
 * @category judging
 */
export const holds = (brake: Brake, { catalogue, dropped, zeroed }: Damage): boolean =>
  zeroed + dropped > brake.count && zeroed + dropped > brake.share * catalogue
