/** The program of docs/guides/ship-orders.md. */
import { ClientError, FailureScope, Store } from "@plaza/client"
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
        // First, because a refusal can follow an attempt that shipped the order.
        Effect.catchIf(FailureScope.mayHaveHappened, (failure) =>
          // With `likely`, the order is shipped, perhaps with another tracking number.
          Effect.succeed("likely" in failure ? "check the tracking number" as const : "check the order" as const)),
        ClientError.catchCategory("Conflict", () => Effect.succeed("already shipped" as const)),
        ClientError.catchCategory("NotFound", () => Effect.succeed("unknown order" as const)),
        Effect.map((state) => ({ order, state }))
      ), { concurrency: 4 }))
