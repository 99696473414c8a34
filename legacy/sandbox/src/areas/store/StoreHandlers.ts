/**
 * Handlers of the store area: setting stock and shipping orders.
 *
 * Source: interface v1, "Endpoints" and "States and transitions".
 *
 * @since 0.1.0
 */
import { Conflict } from "@plaza-legacy/domain/Errors"
import { StoreGroup } from "@plaza-legacy/domain/PlazaApi"
import * as Shipping from "@plaza-legacy/domain/Shipping"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { CurrentAssumptions } from "../../Assumptions.ts"
import * as Endpoints from "../../http/Endpoints.ts"
import { CurrentCaller } from "../../http/RequiresAdmission.ts"
import { servedInterface } from "../../http/ServedApi.ts"
import { Sql } from "../../storage/Sql.ts"
import { checkStock, checkText } from "../Validation.ts"
import { StorePolicy } from "./StorePolicy.ts"
import type { Order, Product } from "./StoreRepo.ts"
import { StoreRepo } from "./StoreRepo.ts"

/** @since 0.1.0 @category conversions */
export const shippingState = ({ carrier, trackingNumber }: Order): Shipping.ShippingState =>
  carrier === null || trackingNumber === null
    ? Shipping.ShippingState.NotShipped()
    : Shipping.ShippingState.Shipped({ shipment: { carrier, trackingNumber } })

/** @since 0.1.0 @category conversions */
export const toProduct = ({ id, name, stock }: Product) => ({ id, name, stock })

/**
 * An order as a response shows it. The states are named in the document; the field `state` is assumed.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toOrder = (order: Order) => ({
  id: order.id,
  ...Shipping.ShippingState.$match(shippingState(order), {
    NotShipped: () => ({ state: "not shipped" }),
    Shipped: ({ shipment }) => ({ state: "shipped", ...shipment })
  })
})

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedInterface, StoreGroup, (handlers) =>
  Effect.gen(function*() {
    const { withTransaction } = yield* Sql
    const repo = yield* StoreRepo
    const policy = yield* StorePolicy
    const { maxShippingFieldLength, maxStock } = yield* CurrentAssumptions

    return handlers
      .handle("setStock", ({ path, payload: { stock } }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          yield* checkStock("stock", stock, maxStock)
          const product = yield* policy.findProduct(path.id)
          yield* policy.requireOwner(caller.accountId, product.accountId)
          yield* repo.setStock(path.id, stock)
          return toProduct({ ...product, stock })
        }).pipe(withTransaction))
      .handle("shipOrder", ({ path, payload: { carrier, trackingNumber } }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          yield* checkText("carrier", carrier, maxShippingFieldLength)
          yield* checkText("trackingNumber", trackingNumber, maxShippingFieldLength)
          const order = yield* policy.findOrder(path.id)
          yield* policy.requireOwner(caller.accountId, order.accountId)
          const shipment = { carrier, trackingNumber }
          if (Either.isLeft(Shipping.ship(shippingState(order), shipment))) {
            return yield* new Conflict({ message: `the order "${path.id}" has been shipped already` })
          }
          yield* repo.ship(path.id, shipment, yield* Clock.currentTimeMillis)
          return toOrder({ ...order, ...shipment })
        }).pipe(withTransaction))
  }))
