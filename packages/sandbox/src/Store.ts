/**
 * The area of the store: stock and shipping. Knows nothing of keys or limits.
 *
 * Source: interface v1, "Endpoints" and "States and transitions".
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import { Conflict, Forbidden, StoreBlocked } from "@plaza/domain/Errors"
import { OrderId, ProductId } from "@plaza/domain/Ids"
import type { StoreGroup } from "@plaza/domain/PlazaApi"
import * as Shipping from "@plaza/domain/Shipping"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Accounts } from "./Accounts.js"
import { Assumed } from "./Assumptions.js"
import * as Database from "./Database.js"
import * as Envelope from "./Envelope.js"
import { checkStock, checkText } from "./Fields.js"
import type { Handlers } from "./Gate.js"

/** @since 0.1.0 @category rows */
export interface ProductRow {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly stock: number
}

/** @since 0.1.0 @category rows */
export interface OrderRow {
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

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<Handlers<typeof StoreGroup>, never, SqlClient.SqlClient | Accounts | Assumed> = Effect
  .gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const accounts = yield* Accounts
    const { maxShippingFieldLength, maxStock } = yield* Assumed

    /** Only the owner of a store acts in it; whom the store blocked is told so first. */
    const mayAct = (callerId: string, ownerId: string) =>
      Effect.gen(function*() {
        if (callerId === ownerId) {
          return
        }
        const { blocksFromStore } = yield* accounts.relation(ownerId, callerId)
        if (blocksFromStore) {
          return yield* new StoreBlocked({ message: "the store has blocked this account" })
        }
        return yield* new Forbidden({ message: "this belongs to the store of another account" })
      })

    return {
      setStock: ({ path, payload: { stock } }, { caller }) =>
        Effect.gen(function*() {
          yield* checkStock("stock", stock, maxStock)
          const [product] = yield* sql<ProductRow>`SELECT * FROM products WHERE id = ${path.id}`
          if (product === undefined) {
            return yield* Envelope.notFound("product", path.id)
          }
          yield* mayAct(caller.accountId, product.account_id)
          yield* sql`UPDATE products SET stock = ${stock} WHERE id = ${path.id}`
          return { id: ProductId.make(product.id), name: product.name, stock }
        }).pipe(sql.withTransaction, Database.orDefect),

      shipOrder: ({ path, payload: { carrier, trackingNumber } }, { caller }) =>
        Effect.gen(function*() {
          yield* checkText("carrier", carrier, maxShippingFieldLength)
          yield* checkText("trackingNumber", trackingNumber, maxShippingFieldLength)
          const [order] = yield* sql<OrderRow>`SELECT * FROM orders WHERE id = ${path.id}`
          if (order === undefined) {
            return yield* Envelope.notFound("order", path.id)
          }
          yield* mayAct(caller.accountId, order.account_id)
          if (Either.isLeft(Shipping.ship(shippingState(order), { carrier, trackingNumber }))) {
            return yield* new Conflict({ message: `the order "${path.id}" has been shipped already` })
          }
          const now = yield* Clock.currentTimeMillis
          yield* sql`UPDATE orders SET carrier = ${carrier}, tracking_number = ${trackingNumber}, shipped_at = ${now}
            WHERE id = ${path.id}`
          return { id: OrderId.make(order.id), carrier, trackingNumber, state: "shipped" }
        }).pipe(sql.withTransaction, Database.orDefect)
    }
  })
