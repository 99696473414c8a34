/**
 * Moments of the last while, in order. What each costs stays the same, however many there are. Pure of services; knows
 * nothing of whose moments they are.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category models */
export interface SlidingWindow {
  /** Notes a moment, which is none before those that were noted. */
  readonly push: (now: number) => void
  /** How long until there are fewer than so many in the window; 0 when there are. */
  readonly waitFor: (limit: number, now: number) => number
}

/** Those that have left are thrown away in bulk, since taking one from the front moves all the others. */
const bulk = 1_000

/** @since 0.1.0 @category constructors */
export const make = (length: number): SlidingWindow => {
  let moments: Array<number> = []
  let first = 0
  const leave = (now: number) => {
    while ((moments[first] ?? Number.POSITIVE_INFINITY) + length <= now) {
      first++
    }
    if (first > bulk && first * 2 > moments.length) {
      moments = moments.slice(first)
      first = 0
    }
  }
  return {
    push: (now) => {
      moments.push(now)
    },
    waitFor: (limit, now) => {
      leave(now)
      // With this one gone there is room for one more. A window without room at all has none to wait for.
      return moments.length - first < limit ? 0 : (moments[moments.length - limit] ?? now) + length - now
    }
  }
}
