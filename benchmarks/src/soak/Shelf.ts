/**
 * How long a stock takes to the shelf: from the word of the source to the service's confirmation, by how urgent it was. One that the
 * source takes back before it was sent never gets there, and doesn't count. Knows nothing of how it is sent.
 *
 * @since 0.1.0
 */
import type { ProductId } from "@plaza/domain/Ids"
import type { Urgency } from "@plaza/stock-sync/Entry"
import type { Told } from "@plaza/stock-sync/Standing"

/** @since 0.1.0 @category models */
export interface Wait {
  readonly urgency: Urgency
  readonly millis: number
  /** Nothing closed the account meanwhile: no outage, no quota. */
  readonly calm: boolean
}

/** @since 0.1.0 @category models */
export interface Shelf {
  /** The source has told the stock that the inventory has now. */
  readonly told: (at: number) => void
  /** The loop has told something. */
  readonly heard: (told: Told) => void
  readonly waits: ReadonlyArray<Wait>
}

/** @since 0.1.0 @category constructors */
export const make = (stock: ReadonlyMap<ProductId, number>): Shelf => {
  let wanted: ReadonlyMap<ProductId, number> = new Map()
  const shown = new Map<ProductId, number>()
  const since = new Map<ProductId, number>()
  const waits: Array<Wait> = []
  let open = false
  let closedUntil = 0
  return {
    waits,
    told: (at) => {
      for (const [id, pieces] of stock) {
        if (shown.get(id) === pieces) since.delete(id)
        else if (wanted.get(id) !== pieces) since.set(id, at)
      }
      // The inventory goes on before its next word.
      wanted = new Map(stock)
    },
    heard: (told) => {
      if (told._tag === "AccountIs") {
        open = told.account._tag === "Running"
        closedUntil = told.at
      }
      if (told._tag !== "Sent" || told.outcome !== "confirmed") return
      const { at, productId, urgency, value } = told
      shown.set(productId, value)
      const from = since.get(productId)
      if (from === undefined || wanted.get(productId) !== value) return
      waits.push({ urgency, millis: at - from, calm: open && from >= closedUntil })
      since.delete(productId)
    }
  }
}
