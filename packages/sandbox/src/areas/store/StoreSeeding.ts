/**
 * Setting up a store: products and orders. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import { OrderId, ProductId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Accounts } from "../../access/Accounts.js"
import { Assumed } from "../../Assumptions.js"
import { checkStock, checkText } from "../Fields.js"
import * as Seed from "../../seeding/SeedData.js"
import type { SetupCalls } from "../../seeding/Seeding.js"
import { Sql } from "../../storage/Sql.js"
import * as Parts from "../../seeding/SeedingParts.js"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Pick<SetupCalls, "setProduct" | "setOrder">,
  never,
  Sql | Accounts | Assumed
> = Effect.gen(function*() {
  const sql = yield* Sql
  const { maxShippingFieldLength, maxStock } = yield* Assumed
  const { known } = yield* Parts.make
  return {
    setProduct: ({ accountId = Seed.shopId, id, name = id, stock = 0 }) =>
      Effect.gen(function*() {
        yield* checkText("id", id, Parts.maxIdLength)
        yield* checkText("name", name, Parts.maxIdLength)
        yield* checkStock("stock", stock, maxStock)
        yield* known(accountId)
        yield* sql`INSERT INTO products ${sql.insert({ id, account_id: accountId, name, stock })}
          ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, name = excluded.name, stock = excluded.stock`
        return ProductId.make(id)
      }).pipe(sql.withTransaction),

    setOrder: ({ accountId = Seed.shopId, id, shipment }) =>
      Effect.gen(function*() {
        yield* checkText("id", id, Parts.maxIdLength)
        yield* known(accountId)
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
