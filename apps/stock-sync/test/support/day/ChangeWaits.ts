/**
 * Measures how long each change waits from the source to the confirmation of the service, by priority, and whether the rate limit explains
 * the wait. A change that the source reverts before it is sent is not counted.
 */
import type { ProductId } from "@plaza/domain/Ids"
import { DateTime } from "effect"
import type * as StockPriority from "../../../src/ledger/StockPriority.ts"
import type { StampedEvent } from "../../../src/sync/SyncStatus.ts"

export interface Wait {
  readonly productId: ProductId
  readonly priority: StockPriority.Priority
  readonly millis: number
  /** Longest time, in milliseconds, that the rate limit requires for the requests of this wait and of the window before it. */
  readonly explained: number
  /** No outage and no quota stopped sending during the wait. */
  readonly calm: boolean
}

export interface ChangeWaits {
  /** Records that the source now has the stock of the inventory. */
  readonly sourceChanged: (at: number) => void
  /** Records an event of the worker. */
  readonly onEvent: (event: StampedEvent) => void
  readonly waits: ReadonlyArray<Wait>
}

export const make = (
  stock: ReadonlyMap<ProductId, number>,
  allowance: { readonly limit: number; readonly windowMillis: number }
): ChangeWaits => {
  /** Times at which requests ended. */
  const sent: Array<number> = []
  const sentSince = (from: number): number => {
    let low = 0
    let high = sent.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sent[middle] ?? Number.POSITIVE_INFINITY) < from) low = middle + 1
      else high = middle
    }
    return sent.length - low
  }
  let wanted: ReadonlyMap<ProductId, number> = new Map()
  const shown = new Map<ProductId, number>()
  const since = new Map<ProductId, number>()
  const waits: Array<Wait> = []
  let open = false
  let closedUntil = 0
  return {
    waits,
    sourceChanged: (at) => {
      for (const [id, pieces] of stock) {
        if (shown.get(id) === pieces) since.delete(id)
        else if (wanted.get(id) !== pieces) since.set(id, at)
      }
      // A copy, because the inventory changes before the next snapshot.
      wanted = new Map(stock)
    },
    onEvent: (event) => {
      if (event._tag === "AccountChanged") {
        open = event.account._tag === "Running"
        closedUntil = DateTime.toEpochMillis(event.at)
      }
      if (event._tag !== "Sent") return
      const at = DateTime.toEpochMillis(event.at)
      sent.push(at)
      if (event.outcome !== "confirmed") return
      const { priority, productId, value } = event
      shown.set(productId, value)
      const from = since.get(productId)
      if (from === undefined || wanted.get(productId) !== value) return
      const explained = sentSince(from - allowance.windowMillis) * allowance.windowMillis / allowance.limit
      waits.push({ productId, priority, millis: at - from, explained, calm: open && from >= closedUntil })
      since.delete(productId)
    }
  }
}
