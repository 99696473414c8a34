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
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { FailureOf } from "./Contract.js"
import { Operations } from "./Operations.js"

/** @since 0.1.0 @category services */
export class Store extends Context.Tag("@plaza/client/Store")<Store, {
  /**
   * Sets the stock of a product, in pieces. Repeatable: sent again after an ambiguous failure.
   * Source: interface v1, "Endpoints", PATCH /store/products/{id}/stock.
   */
  readonly setStock: (id: ProductId, stock: number) => Effect.Effect<Product, FailureOf<"setStock">>
  /**
   * Ships an order. Checkable: after an ambiguous failure it is sent again, and a conflict then says that the first
   * attempt took; a conflict on the first attempt is a `Conflict`.
   * Source: interface v1, "Endpoints", POST /store/orders/{id}/ship.
   */
  readonly ship: (id: OrderId, shipment: NewShipment) => Effect.Effect<Order, FailureOf<"shipOrder">>
}>() {}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Store, never, Operations> = Layer.effect(
  Store,
  Effect.map(Operations, ({ send }) => ({
    setStock: (id, stock) =>
      send("setStock", { path: { id }, payload: { stock } }, { whenEmpty: () => ({ id, stock }) }),
    ship: (id, { carrier, trackingNumber }) => {
      // What a shipped order looks like is known from what was sent, where the service says no more.
      const shipped = (): Order => ({ id, carrier, trackingNumber })
      return send("shipOrder", { path: { id }, payload: { carrier, trackingNumber } }, {
        whenEmpty: shipped,
        check: {
          repeatRefused: (failure) => failure._tag === "Conflict" ? Option.some(shipped()) : Option.none()
        }
      })
    }
  }))
)
