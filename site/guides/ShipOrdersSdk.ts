/** The program of docs/guides/ship-orders.md, without Effect. */
import { isPlazaError, type Plaza } from "@plaza/sdk"

export interface Shipment {
  readonly order: string
  readonly carrier: string
  readonly trackingNumber: string
}

const stateAfter = (error: unknown) => {
  if (!isPlazaError(error)) throw error
  // First, because a refusal can follow an attempt that shipped the order.
  if (error.mayHaveHappened) {
    // With `likely`, the order is shipped, perhaps with another tracking number.
    return error._tag === "OutcomeUnknown" && error.likely === "done" ? "check the tracking number" : "check the order"
  }
  if (error.category === "Conflict") return "already shipped"
  if (error.category === "NotFound") return "unknown order"
  throw error
}

/** Ships the orders one after the other, and returns the state of each. A failure that concerns all orders ends the program. */
export const shipOrders = async (plaza: Plaza, shipments: ReadonlyArray<Shipment>) => {
  const states: Array<{ readonly order: string; readonly state: string }> = []
  for (const { order, ...shipment } of shipments)
    states.push({ order, state: await plaza.store.ship(order, shipment).then(() => "shipped", stateAfter) })
  return states
}
