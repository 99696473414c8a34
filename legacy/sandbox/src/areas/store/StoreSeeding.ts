/**
 * Seeding of stores: products and orders.
 *
 * @since 0.1.0
 */
import { OrderId, ProductId } from "@plaza-legacy/domain/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { AccountsRepo } from "../../access/AccountsRepo.ts"
import { CurrentAssumptions } from "../../Assumptions.ts"
import * as SeedData from "../../seeding/SeedData.ts"
import type { SeedingOperations } from "../../seeding/Seeding.ts"
import * as SeedingQueries from "../../seeding/SeedingQueries.ts"
import { Sql } from "../../storage/Sql.ts"
import { checkStock, checkText } from "../Validation.ts"
import { StoreRepo } from "./StoreRepo.ts"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Pick<SeedingOperations, "setProduct" | "setOrder">,
  never,
  Sql | StoreRepo | AccountsRepo | CurrentAssumptions
> = Effect.gen(function*() {
  const { withTransaction } = yield* Sql
  const repo = yield* StoreRepo
  const { maxShippingFieldLength, maxStock } = yield* CurrentAssumptions
  const { getAccount } = yield* SeedingQueries.make
  return {
    setProduct: ({ accountId = SeedData.shopId, id, name = id, stock = 0 }) =>
      Effect.gen(function*() {
        yield* checkText("id", id, SeedingQueries.maxIdLength)
        yield* checkText("name", name, SeedingQueries.maxIdLength)
        yield* checkStock("stock", stock, maxStock)
        yield* getAccount(accountId)
        yield* repo.upsertProduct({ id, accountId, name, stock })
        return ProductId.make(id)
      }).pipe(withTransaction),

    setOrder: ({ accountId = SeedData.shopId, id, shipment }) =>
      Effect.gen(function*() {
        yield* checkText("id", id, SeedingQueries.maxIdLength)
        yield* getAccount(accountId)
        if (shipment !== undefined) {
          yield* checkText("shipment.carrier", shipment.carrier, maxShippingFieldLength)
          yield* checkText("shipment.trackingNumber", shipment.trackingNumber, maxShippingFieldLength)
        }
        const shippedAt = shipment === undefined ? null : yield* Clock.currentTimeMillis
        yield* repo.upsertOrder({ id, accountId, shipment, shippedAt })
        return OrderId.make(id)
      }).pipe(withTransaction)
  }
})
