/**
 * Counts the requests of one key against the rate.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category models */
export interface RateCounter {
  /** Counts a request at a timestamp, which isn't before the last one. */
  readonly push: (now: number) => void
  /** Milliseconds until another request is within `limit`; 0 if it is within it already. */
  readonly waitFor: (limit: number, now: number) => number
}
