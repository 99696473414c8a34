/**
 * The order in which stock is sent: what is sold out can still be bought, what falls can be oversold, what is back in stock
 * cannot be bought yet.
 *
 * @since 0.1.0
 */

/**
 * Classes, the most urgent first. `doubtful` repeats a value whose outcome is unknown and that has probably arrived;
 * `assertion` repeats a value that was confirmed.
 *
 * @since 0.1.0
 * @category models
 */
export const priorities = ["soldOut", "falling", "backInStock", "rest", "doubtful", "assertion"] as const
/** @since 0.1.0 @category models */
export type Priority = (typeof priorities)[number]

/**
 * What is known of one product.
 *
 * @since 0.1.0
 * @category models
 */
export interface Knowledge {
  readonly wanted: number
  /** The last stock that the service confirmed; undefined if it never did. */
  readonly confirmed: number | undefined
  /** The lowest and the highest stock of the requests whose outcome is unknown; undefined if there are none. */
  readonly doubt: { readonly lowest: number; readonly highest: number } | undefined
}

/**
 * The class of a product whose wanted stock is to be sent.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = ({ confirmed, doubt, wanted }: Knowledge): Exclude<Priority, "assertion"> => {
  // As long as nobody confirmed the zero, the product may be on sale.
  if (wanted === 0 && (confirmed !== 0 || (doubt !== undefined && doubt.highest > 0))) return "soldOut"
  if (doubt !== undefined && doubt.lowest === wanted && doubt.highest === wanted) return "doubtful"
  if ((confirmed !== undefined && confirmed > wanted) || (doubt !== undefined && doubt.highest > wanted)) return "falling"
  if (wanted > 0 && (confirmed === 0 || doubt?.lowest === 0)) return "backInStock"
  return "rest"
}
