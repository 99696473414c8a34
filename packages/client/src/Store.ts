/**
 * Stock and shipping.
 *
 * @since 0.1.0
 */
import type { OrderId, ProductId } from "@plaza/domain/Ids"
import type { NewShipment } from "@plaza/domain/Requests"
import type { Order, Product } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { isServiceError } from "./ClientError.ts"
import type { CallFailure } from "./ClientError.ts"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { layerOf, Operations } from "./internal/contract/Operations.ts"
import { validateName, validatePayload } from "./internal/contract/validateText.ts"
import * as KeyedLock from "./internal/delivery/KeyedLock.ts"

/**
 * Sets the stock of products and ships orders.
 *
 * @since 0.1.0
 * @category services
 */
export class Store extends Context.Service<Store, {
  /**
   * Sets the stock of a product, in pieces. Repeatable: the client sends the request again after an ambiguous failure. A client
   * runs its calls for one product one after the other, so it sends the value of the last call last.
   *
   * Limits: a service that continues a request after a timeout, a lost connection, a 5xx or an interruption of the call can
   * store that older value last. The order doesn't include other clients. The wait for earlier calls doesn't count as `maxWait`.
   * Source: interface v1, "Endpoints", PATCH /store/products/{id}/stock.
   *
   * @example
   * import { Store } from "@plaza/client"
   * import { ProductId } from "@plaza/domain"
   * import { Effect } from "effect"
   *
   * const program = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("MUG-BLUE-350"), 12))
   * // => { id: "MUG-BLUE-350", stock: 12 }
   */
  readonly setStock: (id: ProductId, stock: number) => Effect.Effect<Product, Store.SetStockFailure>
  /**
   * Ships an order. Checkable: the client sends the request again after an ambiguous failure. A conflict on the first attempt
   * fails with `Conflict`. A conflict after an ambiguous failure fails with `OutcomeUnknown` and `likely: "done"`: the order is
   * shipped, but perhaps with another carrier and tracking number. A client runs its calls for one order one after the other. A blank
   * carrier or tracking number fails with `InvalidInput`, without a request.
   * Source: interface v1, "Endpoints", POST /store/orders/{id}/ship.
   *
   * @example
   * import { Store } from "@plaza/client"
   * import { OrderId } from "@plaza/domain"
   * import { Effect } from "effect"
   *
   * const program = Effect.flatMap(Store, ({ ship }) =>
   *   ship(OrderId.make("500001"), { carrier: "DHL", trackingNumber: "JD0001" }))
   * // => { id: "500001", carrier: "DHL", trackingNumber: "JD0001" }
   */
  readonly ship: (id: OrderId, shipment: NewShipment) => Effect.Effect<Order, Store.ShipFailure>
}>()("@plaza/client/Store") {}

/**
 * The failures of each operation.
 *
 * @since 0.1.0
 * @category models
 */
export declare namespace Store {
  /** The failures of `setStock`. */
  export type SetStockFailure = FailureOf<"setStock"> | CallFailure
  /** The failures of `ship`. */
  export type ShipFailure = FailureOf<"shipOrder"> | CallFailure
}

/** Creates the service of {@link Store} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Store["Service"], never, Operations> = Effect.gen(function*() {
  const { send } = yield* Operations
  // Without it, a retry of an older value could follow a newer value.
  const withLock = yield* KeyedLock.make

  return {
    setStock: (id, stock) =>
      withLock(`product ${id}`)(
        send("setStock", { path: { id }, payload: { stock } }, { whenEmpty: () => ({ id, stock }), known: { id } })
      ),
    ship: (id, shipment) =>
      validatePayload("shipOrder", shipment).pipe(
        Effect.andThen(Effect.suspend(() => validateName("carrier", shipment.carrier))),
        Effect.andThen(Effect.suspend(() => validateName("trackingNumber", shipment.trackingNumber))),
        Effect.andThen(Effect.suspend(() => {
          const { carrier, trackingNumber } = shipment
          return withLock(`order ${id}`)(
            send("shipOrder", { path: { id }, payload: { carrier, trackingNumber } }, {
              whenEmpty: () => ({ id, carrier, trackingNumber }),
              known: { id },
              // Another code with the same status may mean another state, such as a cancelled order.
              check: { suggestsDone: (failure) => isServiceError(failure) && failure.code === "CONFLICT" }
            })
          )
        }))
      )
  }
})

/**
 * The service {@link Store} alone, on `Plaza.layerOperations`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Store, never, Operations> = /*#__PURE__*/ layerOf(Store, make)
