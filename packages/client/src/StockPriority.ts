/**
 * The order in which to send stock values: a sold-out product can still be bought, a falling stock can be oversold, and a product
 * that is back in stock can't be bought yet.
 *
 * @since 0.1.0
 */

/**
 * Priorities, the most urgent first. `doubtful` repeats a value of unknown outcome that has probably arrived; `assertion` repeats a
 * confirmed value.
 *
 * @since 0.1.0
 * @category models
 */
export const priorities = ["soldOut", "falling", "backInStock", "rest", "doubtful", "assertion"] as const
/** @since 0.1.0 @category models */
export type Priority = (typeof priorities)[number]

/**
 * The known stock values of one product, in pieces.
 *
 * @since 0.1.0
 * @category models
 */
export interface Knowledge {
  readonly wanted: number
  /** The last confirmed stock; undefined if the service never confirmed one. */
  readonly confirmed: number | undefined
  /** The lowest and the highest stock of requests with an unknown outcome; undefined if there are none. */
  readonly doubt: { readonly lowest: number; readonly highest: number } | undefined
}

/**
 * The priority of a product whose wanted stock differs from the confirmed one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = ({ confirmed, doubt, wanted }: Knowledge): Exclude<Priority, "assertion"> => {
  // The product may be on sale until the zero is confirmed.
  if (wanted === 0 && (confirmed !== 0 || (doubt !== undefined && doubt.highest > 0))) return "soldOut"
  if (doubt !== undefined && doubt.lowest === wanted && doubt.highest === wanted) return "doubtful"
  if ((confirmed !== undefined && confirmed > wanted) || (doubt !== undefined && doubt.highest > wanted)) return "falling"
  if (wanted > 0 && (confirmed === 0 || doubt?.lowest === 0)) return "backInStock"
  return "rest"
}
