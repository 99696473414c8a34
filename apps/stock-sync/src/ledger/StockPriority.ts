/**
 * The order in which stock is sent: first what costs most if it is late.
 *
 * - `soldOut`: the wanted stock is 0, and the service may still have pieces for sale.
 * - `falling`: the wanted stock is lower than the stock at the service.
 * - `backInStock`: the stock at the service is 0, and the wanted stock is not.
 * - `rest`: any other difference.
 * - `doubtful`: the wanted stock was sent with an unknown outcome; it probably succeeded.
 * - `assertion`: the service confirmed the wanted stock.
 */
export const priorities = ["soldOut", "falling", "backInStock", "rest", "doubtful", "assertion"] as const
export type Priority = (typeof priorities)[number]

/** The priorities of unsettled products. */
export type Waiting = Exclude<Priority, "assertion">

/** The position in the order, which is what the ledger stores. */
export const indexOf = (priority: Priority): number => priorities.indexOf(priority)

/** The known stock of a product, in pieces. */
export interface StockValues {
  readonly wanted: number
  /** The stock that the service last confirmed; undefined if it never confirmed one. */
  readonly confirmed: number | undefined
  /** The lowest and the highest stock of the requests with an unknown outcome; undefined if there is no such request. */
  readonly doubt: { readonly lowest: number; readonly highest: number } | undefined
}

/** The priority of a product whose wanted stock is not confirmed. */
export const of = ({ confirmed, doubt, wanted }: StockValues): Waiting => {
  // Customers may buy the product until the service confirms the zero.
  if (wanted === 0 && (confirmed !== 0 || (doubt !== undefined && doubt.highest > 0))) return "soldOut"
  if (doubt !== undefined && doubt.lowest === wanted && doubt.highest === wanted) return "doubtful"
  if ((confirmed !== undefined && confirmed > wanted) || (doubt !== undefined && doubt.highest > wanted)) return "falling"
  if (wanted > 0 && (confirmed === 0 || doubt?.lowest === 0)) return "backInStock"
  return "rest"
}
