/**
 * The area of the store: stock and shipping. Knows nothing of keys or limits.
 *
 * Source: interface v1, "Endpoints" and "States and transitions".
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type { NotFound } from "@plaza/domain/Errors"
import { Conflict, Forbidden, StoreBlocked } from "@plaza/domain/Errors"
import { OrderId, ProductId } from "@plaza/domain/Ids"
import * as Shipping from "@plaza/domain/Shipping"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Accounts } from "../../access/Accounts.js"
import { Assumed } from "../../Assumptions.js"
import * as Envelope from "../../http/Envelope.js"
import { checkStock, checkText } from "../Validation.js"
import { Sql } from "../../storage/Sql.js"
import { CurrentCaller, toItsEnd } from "../../http/RequiresAdmission.js"
import { ServedApi } from "../../http/ServedApi.js"

/** @since 0.1.0 @category rows */
export interface ProductRow {
  readonly seq: number
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly stock: number
}

/** @since 0.1.0 @category rows */
export interface OrderRow {
  readonly seq: number
  readonly id: string
  readonly account_id: string
  readonly carrier: string | null
  readonly tracking_number: string | null
}

/**
 * The state of an order by its row.
 *
 * @since 0.1.0
 * @category rows
 */
export const shippingState = ({ carrier, tracking_number }: OrderRow): Shipping.ShippingState =>
  carrier === null || tracking_number === null
    ? Shipping.ShippingState.NotShipped()
    : Shipping.ShippingState.Shipped({ shipment: { carrier, trackingNumber: tracking_number } })

/** @since 0.1.0 @category rows */
export const productFromRow = ({ id, name, stock }: ProductRow) => ({ id: ProductId.make(id), name, stock })

/**
 * An order as it is told. The names of its states are the document's, the field is assumed.
 *
 * @since 0.1.0
 * @category rows
 */
export const orderFromRow = (row: OrderRow) => ({
  id: OrderId.make(row.id),
  ...Shipping.ShippingState.$match(shippingState(row), {
    NotShipped: () => ({ state: "not shipped" }),
    Shipped: ({ shipment }) => ({ state: "shipped", ...shipment })
  })
})

/**
 * Finds products and orders, and tells who may act on them.
 *
 * @since 0.1.0
 * @category checks
 */
export const makeParts: Effect.Effect<{
  readonly product: (id: string) => Effect.Effect<ProductRow, NotFound>
  readonly order: (id: string) => Effect.Effect<OrderRow, NotFound>
  /** Refuses whom the store of another has blocked. */
  readonly letIn: (callerId: string, ownerId: string) => Effect.Effect<void, StoreBlocked>
  /** Only the owner of a store acts in it; whom the store blocked is told so first. */
  readonly mayAct: (callerId: string, ownerId: string) => Effect.Effect<void, StoreBlocked | Forbidden>
}, never, Sql | Accounts> = Effect.gen(function*() {
  const sql = yield* Sql
  const accounts = yield* Accounts
  const letIn = (callerId: string, ownerId: string) =>
    callerId === ownerId ? Effect.void : Effect.flatMap(
      accounts.relation(ownerId, callerId),
      ({ blocksFromStore }) =>
        blocksFromStore ? new StoreBlocked({ message: "the store has blocked this account" }) : Effect.void
    )
  return {
    product: (id) =>
      Effect.flatMap(
        sql.first<ProductRow>`SELECT * FROM products WHERE id = ${id}`,
        (row) => row === undefined ? Envelope.notFound("product", id) : Effect.succeed(row)
      ),
    order: (id) =>
      Effect.flatMap(
        sql.first<OrderRow>`SELECT * FROM orders WHERE id = ${id}`,
        (row) => row === undefined ? Envelope.notFound("order", id) : Effect.succeed(row)
      ),
    letIn,
    mayAct: (callerId, ownerId) =>
      callerId === ownerId ? Effect.void : Effect.zipRight(
        letIn(callerId, ownerId),
        new Forbidden({ message: "this belongs to the store of another account" })
      )
  }
})

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedApi, "store", (handlers) =>
  Effect.gen(function*() {
    const sql = yield* Sql
    const parts = yield* makeParts
    const { maxShippingFieldLength, maxStock } = yield* Assumed

    return handlers
      .handle("setStock", ({ path, payload: { stock } }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          yield* checkStock("stock", stock, maxStock)
          const product = yield* parts.product(path.id)
          yield* parts.mayAct(caller.accountId, product.account_id)
          yield* sql`UPDATE products SET stock = ${stock} WHERE id = ${path.id}`
          return productFromRow({ ...product, stock })
        }).pipe(sql.withTransaction), toItsEnd)
      .handle("shipOrder", ({ path, payload: { carrier, trackingNumber } }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          yield* checkText("carrier", carrier, maxShippingFieldLength)
          yield* checkText("trackingNumber", trackingNumber, maxShippingFieldLength)
          const order = yield* parts.order(path.id)
          yield* parts.mayAct(caller.accountId, order.account_id)
          if (Either.isLeft(Shipping.ship(shippingState(order), { carrier, trackingNumber }))) {
            return yield* new Conflict({ message: `the order "${path.id}" has been shipped already` })
          }
          const now = yield* Clock.currentTimeMillis
          yield* sql`UPDATE orders SET carrier = ${carrier}, tracking_number = ${trackingNumber}, shipped_at = ${now}
            WHERE id = ${path.id}`
          return orderFromRow({ ...order, carrier, tracking_number: trackingNumber })
        }).pipe(sql.withTransaction), toItsEnd)
  }))
