/** Gives the products of lower priorities a share of the requests, however many products of a higher one wait. */
import * as StockPriority from "../ledger/StockPriority.ts"

/** Of so many requests in a row for products of a priority and lower ones, one is for a lower one, if one waits. */
export const every = 10

export interface LowerShare {
  /** Priorities that have had their requests: a product of a lower priority comes before theirs, if one waits. */
  readonly yielding: () => ReadonlyArray<StockPriority.Priority>
  readonly record: (priority: StockPriority.Priority) => void
  /** A backlog that has ended keeps no share of the next one. */
  readonly reset: () => void
}

export const make = (): LowerShare => {
  /** Requests of each priority since the last one of a lower priority. */
  const inARow = StockPriority.priorities.map(() => 0)
  return {
    yielding: () => StockPriority.priorities.filter((_, index) => (inARow[index] ?? 0) >= every - 1),
    record: (priority) => {
      const index = StockPriority.indexOf(priority)
      inARow.fill(0, 0, index)
      inARow[index] = (inARow[index] ?? 0) + 1
    },
    reset: () => void inARow.fill(0)
  }
}
