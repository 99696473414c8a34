/**
 * The order in which to send stock values. Sends first what costs most if late: sold out, then falling, then back in stock. The
 * document doesn't show an order.
 *
 * @since 0.1.0
 */

/**
 * Priorities, the most urgent first:
 *
 * - `soldOut`: the wanted stock is 0, and the service may still have pieces for sale.
 * - `falling`: the wanted stock is lower than the stock at the service.
 * - `backInStock`: the stock at the service is 0, and the wanted stock is not.
 * - `rest`: any other difference.
 * - `doubtful`: the wanted value was sent with an unknown outcome; it probably succeeded.
 * - `assertion`: the service confirmed the wanted stock. {@link of} never returns it.
 *
 * `priorities.indexOf` sorts by urgency.
 *
 * @since 0.1.0
 * @category models
 */
export const priorities = ["soldOut", "falling", "backInStock", "rest", "doubtful", "assertion"] as const
/** One of {@link priorities}. @since 0.1.0 @category models */
export type Priority = (typeof priorities)[number]

/**
 * The known stock values of one product, in pieces.
 *
 * @since 0.1.0
 * @category models
 */
export interface StockValues {
  /** The stock to send. */
  readonly wanted: number
  /** The stock that the service last confirmed; undefined if it never confirmed one. */
  readonly confirmed: number | undefined
  /** The lowest and the highest stock of the requests with an unknown outcome; undefined if there is no such request. */
  readonly doubt: { readonly lowest: number; readonly highest: number } | undefined
}

/**
 * Returns the priority of a product whose wanted stock differs from its confirmed stock.
 *
 * @example
 * import { StockPriority } from "@plaza-legacy/client"
 *
 * // "soldOut", because the service confirmed three pieces
 * const priority = StockPriority.of({ wanted: 0, confirmed: 3, doubt: undefined })
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = ({ confirmed, doubt, wanted }: StockValues): Exclude<Priority, "assertion"> => {
  // Customers may buy the product until the service confirms the zero.
  if (wanted === 0 && (confirmed !== 0 || (doubt !== undefined && doubt.highest > 0))) return "soldOut"
  if (doubt !== undefined && doubt.lowest === wanted && doubt.highest === wanted) return "doubtful"
  if ((confirmed !== undefined && confirmed > wanted) || (doubt !== undefined && doubt.highest > wanted)) return "falling"
  if (wanted > 0 && (confirmed === 0 || doubt?.lowest === 0)) return "backInStock"
  return "rest"
}
