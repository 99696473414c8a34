/** The program of docs/guides/ship-orders.md. */
import { Store } from "@plaza/client"
import { OrderId } from "@plaza/domain"
import { Effect } from "effect"

export interface Shipment {
  readonly order: string
  readonly carrier: string
  readonly trackingNumber: string
}

/** Ships the orders, four at a time, and returns the state of each. A failure that concerns all orders ends the program. */
export const shipOrders = (shipments: ReadonlyArray<Shipment>) =>
  Effect.flatMap(Store, ({ ship }) =>
    Effect.forEach(shipments, ({ order, ...shipment }) =>
      ship(OrderId.make(order), shipment).pipe(
        Effect.as("shipped" as const),
        Effect.catchTags({
          Conflict: () => Effect.succeed("already shipped" as const),
          NotFound: () => Effect.succeed("unknown order" as const),
          // With `likely`, the order is shipped, perhaps with another tracking number.
          OutcomeUnknown: ({ likely }) =>
            Effect.succeed(likely === "done" ? "check the tracking number" as const : "check the order" as const)
        }),
        Effect.map((state) => ({ order, state }))
      ), { concurrency: 4 }))
