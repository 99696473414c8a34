/**
 * Handlers of the store area: setting stock and shipping orders, and the assumed reads. A product is visible to every account that
 * its owner is available to and that the store has not blocked; an order only to its owner.
 *
 * Source: interface v1, "Endpoints" and "States and transitions".
 */
import { Conflict } from "@plaza/domain/Errors"
import * as Shipping from "@plaza/domain/Shipping"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Result from "effect/Result"
import { AccountPolicy } from "../../access/AccountPolicy.ts"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import { CurrentAssumptions } from "../../Assumptions.ts"
import { CurrentCaller, InterfaceApi } from "../../InterfaceApi.ts"
import { Db } from "../../storage/Db.ts"
import { checkStock, checkText, notFound } from "../../Validation.ts"
import { newest, Pagination } from "../Pagination.ts"
import { StorePolicy } from "./StorePolicy.ts"
import type { Order, Product } from "./StoreRepo.ts"
import { StoreRepo } from "./StoreRepo.ts"

export const shippingState = ({ carrier, trackingNumber }: Order): Shipping.ShippingState =>
  carrier === null || trackingNumber === null
    ? Shipping.ShippingState.NotShipped()
    : Shipping.ShippingState.Shipped({ shipment: { carrier, trackingNumber } })

const toProduct = ({ id, name, stock }: Product) => ({ id, name, stock })

const toOrder = (order: Order) => ({
  id: order.id,
  ...Shipping.ShippingState.$match(shippingState(order), {
    NotShipped: () => ({ state: "not shipped" as const }),
    Shipped: ({ shipment: { carrier, trackingNumber } }) => ({ state: "shipped" as const, carrier, trackingNumber })
  })
})

export const layer = HttpApiBuilder.group(InterfaceApi, "store", (handlers) =>
  Effect.gen(function*() {
    const { transaction } = yield* Db
    const repo = yield* StoreRepo
    const policy = yield* StorePolicy
    const accounts = yield* AccountsRepo
    const { requireAvailable } = yield* AccountPolicy
    const { readPage } = yield* Pagination
    const { maxShippingFieldLength, maxStock } = yield* CurrentAssumptions

    return handlers.handleAll({
      setStock: Effect.fnUntraced(function*({ params, payload: { stock } }) {
        const { accountId } = yield* CurrentCaller
        yield* checkStock("stock", stock, maxStock)
        const product = yield* policy.findProduct(params.id)
        yield* policy.requireOwner(accountId, product.accountId)
        repo.setStock(params.id, stock)
        return toProduct({ ...product, stock })
      }, transaction),
      shipOrder: Effect.fnUntraced(function*({ params, payload: { carrier, trackingNumber } }) {
        const { accountId } = yield* CurrentCaller
        yield* checkText("carrier", carrier, maxShippingFieldLength)
        yield* checkText("trackingNumber", trackingNumber, maxShippingFieldLength)
        const order = yield* policy.findOrder(params.id)
        yield* policy.requireOwner(accountId, order.accountId)
        const shipment = { carrier, trackingNumber }
        if (Result.isFailure(Shipping.ship(shippingState(order), shipment))) {
          return yield* new Conflict({ message: `the order "${params.id}" has been shipped already` })
        }
        repo.ship(params.id, shipment, yield* Clock.currentTimeMillis)
        return toOrder({ ...order, ...shipment })
      }, transaction),

      getStore: () => Effect.map(CurrentCaller, ({ account, accountId }) => ({ ownerId: accountId, name: account.name })),
      listProducts: ({ query }) =>
        Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
            name: "products",
            accountId,
            findOlder: ([seq = newest], limit) => repo.findOlderProducts(accountId, seq, limit),
            positionOf: ({ seq }) => [seq],
            toItem: toProduct
          }, query)),
      getProduct: Effect.fnUntraced(function*({ params }) {
        const { accountId } = yield* CurrentCaller
        const product = yield* policy.findProduct(params.id)
        const owner = accounts.find(product.accountId)
        if (owner === undefined) {
          return yield* notFound("product", params.id)
        }
        yield* requireAvailable(accountId, owner)
        yield* policy.requireNotBlocked(accountId, product.accountId)
        return toProduct(product)
      }),
      listOrders: ({ query }) =>
        Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
            name: "orders",
            accountId,
            findOlder: ([seq = newest], limit) => repo.findOlderOrders(accountId, seq, limit),
            positionOf: ({ seq }) => [seq],
            toItem: toOrder
          }, query)),
      getOrder: Effect.fnUntraced(function*({ params }) {
        const { accountId } = yield* CurrentCaller
        const order = yield* policy.findOrder(params.id)
        yield* policy.requireOwner(accountId, order.accountId)
        return toOrder(order)
      })
    })
  }))
