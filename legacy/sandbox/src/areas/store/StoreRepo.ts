/**
 * The tables `products` and `orders`.
 *
 * @since 0.1.0
 */
import { OrderId, ProductId, ProfileId } from "@plaza-legacy/domain/Ids"
import type { Shipment } from "@plaza-legacy/domain/Shipping"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Sql } from "../../storage/Sql.ts"
import * as SqlSchema from "../../storage/SqlSchema.ts"

/** @since 0.1.0 @category rows */
export const Product = Schema.Struct({
  seq: Schema.Number,
  id: ProductId,
  /** The owner of the store. */
  accountId: ProfileId,
  name: Schema.String,
  stock: Schema.Number
})
/** @since 0.1.0 @category rows */
export type Product = typeof Product.Type

/** @since 0.1.0 @category rows */
export const Order = Schema.Struct({
  seq: Schema.Number,
  id: OrderId,
  /** The owner of the store. */
  accountId: ProfileId,
  /** Null until the order is shipped, as is the tracking number. */
  carrier: Schema.NullOr(Schema.String),
  trackingNumber: Schema.NullOr(Schema.String)
})
/** @since 0.1.0 @category rows */
export type Order = typeof Order.Type

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => ({
  findProduct: SqlSchema.findOne({
    Result: Product,
    execute: (id: string) => sql.first`SELECT seq, id, account_id AS accountId, name, stock FROM products WHERE id = ${id}`
  }),
  /** The products of a store below a sequence number, newest first. */
  findOlderProducts: SqlSchema.findAll({
    Result: Product,
    execute: (accountId: string, seq: number, limit: number) =>
      sql`SELECT seq, id, account_id AS accountId, name, stock FROM products
        WHERE account_id = ${accountId} AND seq < ${seq} ORDER BY seq DESC LIMIT ${limit}`
  }),
  allProducts: SqlSchema.findAll({
    Result: Product,
    execute: () => sql`SELECT seq, id, account_id AS accountId, name, stock FROM products ORDER BY seq`
  }),
  upsertProduct: (product: { readonly id: string; readonly accountId: string; readonly name: string; readonly stock: number }) =>
    Effect.asVoid(sql`INSERT INTO products (id, account_id, name, stock)
      VALUES (${product.id}, ${product.accountId}, ${product.name}, ${product.stock})
      ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, name = excluded.name, stock = excluded.stock`),
  setStock: (id: string, stock: number) => Effect.asVoid(sql`UPDATE products SET stock = ${stock} WHERE id = ${id}`),

  findOrder: SqlSchema.findOne({
    Result: Order,
    execute: (id: string) =>
      sql.first`SELECT seq, id, account_id AS accountId, carrier, tracking_number AS trackingNumber
        FROM orders WHERE id = ${id}`
  }),
  /** The orders of a store below a sequence number, newest first. */
  findOlderOrders: SqlSchema.findAll({
    Result: Order,
    execute: (accountId: string, seq: number, limit: number) =>
      sql`SELECT seq, id, account_id AS accountId, carrier, tracking_number AS trackingNumber FROM orders
        WHERE account_id = ${accountId} AND seq < ${seq} ORDER BY seq DESC LIMIT ${limit}`
  }),
  allOrders: SqlSchema.findAll({
    Result: Order,
    execute: () => sql`SELECT seq, id, account_id AS accountId, carrier, tracking_number AS trackingNumber FROM orders ORDER BY seq`
  }),
  /** Adds an order or replaces the one with this id; `shippedAt` is in milliseconds since 1970. */
  upsertOrder: ({ accountId, id, shipment, shippedAt }: {
    readonly id: string
    readonly accountId: string
    readonly shipment: Shipment | undefined
    readonly shippedAt: number | null
  }) =>
    Effect.asVoid(sql`INSERT INTO orders (id, account_id, carrier, tracking_number, shipped_at)
      VALUES (${id}, ${accountId}, ${shipment?.carrier ?? null}, ${shipment?.trackingNumber ?? null}, ${shippedAt})
      ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, carrier = excluded.carrier,
        tracking_number = excluded.tracking_number, shipped_at = excluded.shipped_at`),
  /** Records a shipment; `shippedAt` is in milliseconds since 1970. */
  ship: (id: string, { carrier, trackingNumber }: Shipment, shippedAt: number) =>
    Effect.asVoid(sql`UPDATE orders SET carrier = ${carrier}, tracking_number = ${trackingNumber}, shipped_at = ${shippedAt}
      WHERE id = ${id}`)
}))

/** @since 0.1.0 @category services */
export class StoreRepo extends Context.Tag("@plaza-legacy/sandbox/StoreRepo")<StoreRepo, Effect.Effect.Success<typeof make>>() {}
