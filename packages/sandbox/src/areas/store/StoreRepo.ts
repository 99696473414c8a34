/** The tables `products` and `orders`. */
import { OrderId, ProductId, ProfileId } from "@plaza/domain/Ids"
import type { Shipment } from "@plaza/domain/Shipping"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db } from "../../storage/Db.ts"

export const Product = Schema.Struct({
  seq: Schema.Number,
  id: ProductId,
  /** The owner of the store. */
  accountId: ProfileId,
  name: Schema.String,
  stock: Schema.Number
})
export type Product = typeof Product.Type

export const Order = Schema.Struct({
  seq: Schema.Number,
  id: OrderId,
  /** The owner of the store. */
  accountId: ProfileId,
  /** Null until the order is shipped, as is the tracking number. */
  carrier: Schema.NullOr(Schema.String),
  trackingNumber: Schema.NullOr(Schema.String)
})
export type Order = typeof Order.Type

export class StoreRepo extends Context.Service<StoreRepo>()("@plaza/sandbox/StoreRepo", {
  make: Effect.map(Db, (db) => ({
    findProduct: (id: string) => db.first(Product)`SELECT seq, id, account_id AS accountId, name, stock FROM products WHERE id = ${id}`,
    /** The products of a store below a sequence number, newest first. */
    findOlderProducts: (accountId: string, seq: number, limit: number) =>
      db.all(Product)`SELECT seq, id, account_id AS accountId, name, stock FROM products
          WHERE account_id = ${accountId} AND seq < ${seq} ORDER BY seq DESC LIMIT ${limit}`,
    allProducts: () => db.all(Product)`SELECT seq, id, account_id AS accountId, name, stock FROM products ORDER BY seq`,
    upsertProduct: (product: { readonly id: string; readonly accountId: string; readonly name: string; readonly stock: number }) =>
      db.run`INSERT INTO products (id, account_id, name, stock)
        VALUES (${product.id}, ${product.accountId}, ${product.name}, ${product.stock})
        ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, name = excluded.name, stock = excluded.stock`,
    setStock: (id: string, stock: number) => db.run`UPDATE products SET stock = ${stock} WHERE id = ${id}`,

    findOrder: (id: string) =>
      db.first(Order)`SELECT seq, id, account_id AS accountId, carrier, tracking_number AS trackingNumber
          FROM orders WHERE id = ${id}`,
    /** The orders of a store below a sequence number, newest first. */
    findOlderOrders: (accountId: string, seq: number, limit: number) =>
      db.all(Order)`SELECT seq, id, account_id AS accountId, carrier, tracking_number AS trackingNumber FROM orders
          WHERE account_id = ${accountId} AND seq < ${seq} ORDER BY seq DESC LIMIT ${limit}`,
    allOrders: () =>
      db.all(Order)`SELECT seq, id, account_id AS accountId, carrier, tracking_number AS trackingNumber FROM orders ORDER BY seq`,
    /** Adds an order or replaces the one with this id; `shippedAt` is in milliseconds since 1970. */
    upsertOrder: ({ accountId, id, shipment, shippedAt }: {
      readonly id: string
      readonly accountId: string
      readonly shipment: Shipment | undefined
      readonly shippedAt: number | null
    }) =>
      db.run`INSERT INTO orders (id, account_id, carrier, tracking_number, shipped_at)
        VALUES (${id}, ${accountId}, ${shipment?.carrier ?? null}, ${shipment?.trackingNumber ?? null}, ${shippedAt})
        ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, carrier = excluded.carrier,
          tracking_number = excluded.tracking_number, shipped_at = excluded.shipped_at`,
    /** Records a shipment; `shippedAt` is in milliseconds since 1970. */
    ship: (id: string, { carrier, trackingNumber }: Shipment, shippedAt: number) =>
      db.run`UPDATE orders SET carrier = ${carrier}, tracking_number = ${trackingNumber}, shipped_at = ${shippedAt}
        WHERE id = ${id}`
  }))
}) {
  static readonly layer = Layer.effect(StoreRepo, StoreRepo.make)
}
