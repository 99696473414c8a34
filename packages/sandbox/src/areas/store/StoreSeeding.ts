/**
 * Seeding of products and orders.
 *
 * @since 0.1.0
 */
import { OrderId, ProductId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Accounts } from "../../access/Accounts.js"
import { Assumed } from "../../Assumptions.js"
import { checkStock, checkText } from "../Validation.js"
import * as SeedData from "../../seeding/SeedData.js"
import type { SeedingOperations } from "../../seeding/Seeding.js"
import { Sql } from "../../storage/Sql.js"
import * as SeedingQueries from "../../seeding/SeedingQueries.js"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Pick<SeedingOperations, "setProduct" | "setOrder">,
  never,
  Sql | Accounts | Assumed
> = Effect.gen(function*() {
  const sql = yield* Sql
  const { maxShippingFieldLength, maxStock } = yield* Assumed
  const { getAccount } = yield* SeedingQueries.make
  return {
    setProduct: ({ accountId = SeedData.shopId, id, name = id, stock = 0 }) =>
      Effect.gen(function*() {
        yield* checkText("id", id, SeedingQueries.maxIdLength)
        yield* checkText("name", name, SeedingQueries.maxIdLength)
        yield* checkStock("stock", stock, maxStock)
        yield* getAccount(accountId)
        yield* sql`INSERT INTO products ${sql.insert({ id, account_id: accountId, name, stock })}
          ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, name = excluded.name, stock = excluded.stock`
        return ProductId.make(id)
      }).pipe(sql.withTransaction),

    setOrder: ({ accountId = SeedData.shopId, id, shipment }) =>
      Effect.gen(function*() {
        yield* checkText("id", id, SeedingQueries.maxIdLength)
        yield* getAccount(accountId)
        if (shipment !== undefined) {
          yield* checkText("shipment.carrier", shipment.carrier, maxShippingFieldLength)
          yield* checkText("shipment.trackingNumber", shipment.trackingNumber, maxShippingFieldLength)
        }
        const row = {
          id,
          account_id: accountId,
          carrier: shipment?.carrier ?? null,
          tracking_number: shipment?.trackingNumber ?? null,
          shipped_at: shipment === undefined ? null : yield* Clock.currentTimeMillis
        }
        yield* sql`INSERT INTO orders ${sql.insert(row)} ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id,
          carrier = excluded.carrier, tracking_number = excluded.tracking_number, shipped_at = excluded.shipped_at`
        return OrderId.make(id)
      }).pipe(sql.withTransaction)
  }
})
