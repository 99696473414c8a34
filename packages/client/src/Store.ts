/**
 * Stock and shipping.
 *
 * @since 0.1.0
 */
import type { OrderId, ProductId } from "@plaza/domain/Ids"
import type { NewShipment } from "@plaza/domain/Requests"
import type { Order, Product } from "@plaza/domain/Resources"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RcMap from "effect/RcMap"
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
   * attempt took; a conflict on the first attempt is a `Conflict`. Calls for one order go one after the other, and where
   * an earlier one may have shipped it, a conflict after a failure can't tell whose shipment took: `OutcomeUnknown`.
   * Source: interface v1, "Endpoints", POST /store/orders/{id}/ship.
   */
  readonly ship: (id: OrderId, shipment: NewShipment) => Effect.Effect<Order, FailureOf<"shipOrder">>
}>() {}

// Orders whose shipping is remembered. More than any program ships while it still repeats a call for one of them.
const remembered = 10_000

/** The orders that calls have shipped, or may have. */
const makeShipped = () => {
  // Oldest first, as a set keeps the order of insertion.
  const orders = new Set<OrderId>()
  return {
    has: (id: OrderId) => orders.has(id),
    add: (id: OrderId) => {
      for (const oldest of orders) {
        if (orders.size < remembered) {
          break
        }
        orders.delete(oldest)
      }
      orders.add(id)
    }
  }
}

/**
 * Whether the order may be shipped after a call that ended so. That it surely was shipped once proves no more: the
 * document doesn't show all moves of an order, and who ships one anew has likely taken the first shipment back, so that a
 * conflict after a failure may speak of the new one.
 */
const mayBeShipped = (exit: Exit.Exit<unknown, FailureOf<"shipOrder">>): boolean =>
  Exit.isSuccess(exit) || Option.match(Cause.failureOption(exit.cause), {
    onNone: () => true,
    onSome: ({ _tag }) => _tag === "OutcomeUnknown" || _tag === "UnreadableSuccess" || _tag === "Conflict"
  })

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Store, never, Operations> = Layer.scoped(
  Store,
  Effect.gen(function*() {
    const { send } = yield* Operations
    const shippedBefore = makeShipped()
    // While another shipment's answer is still out, nobody can tell whose a conflict speaks of.
    const turns = yield* RcMap.make({ lookup: (_order: OrderId) => Effect.makeSemaphore(1) })

    const ship = (id: OrderId, { carrier, trackingNumber }: NewShipment) =>
      Effect.suspend(() => {
        // What a shipped order looks like is known from what was sent, where the service says no more.
        const shipped = (): Order => ({ id, carrier, trackingNumber })
        const mayBeAnothers = shippedBefore.has(id)
        return send("shipOrder", { path: { id }, payload: { carrier, trackingNumber } }, {
          whenEmpty: shipped,
          check: {
            repeatRefused: (failure) =>
              failure._tag === "Conflict" && !mayBeAnothers ? Option.some(shipped()) : Option.none()
          }
        })
      }).pipe(
        Effect.onExit((exit) => Effect.sync(() => mayBeShipped(exit) && shippedBefore.add(id)))
      )

    return {
      setStock: (id, stock) =>
        send("setStock", { path: { id }, payload: { stock } }, { whenEmpty: () => ({ id, stock }) }),
      ship: (id, shipment) =>
        Effect.scoped(Effect.flatMap(RcMap.get(turns, id), (turn) => turn.withPermits(1)(ship(id, shipment))))
    }
  })
)
