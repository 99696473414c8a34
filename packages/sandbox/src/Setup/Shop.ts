/**
 * Setting up a store: products and orders. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import { OrderId, ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import type { Accounts } from "../Accounts.js"
import { Assumed } from "../Assumptions.js"
import * as Database from "../Database.js"
import { checkStock, checkText } from "../Fields.js"
import * as Seed from "../Seed.js"
import type { SetupCalls } from "../Setup.js"
import * as Parts from "./Parts.js"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Pick<SetupCalls, "setProduct" | "setOrder">,
  never,
  SqlClient.SqlClient | Accounts | Assumed
> = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { maxStock } = yield* Assumed
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
      }).pipe(sql.withTransaction, Database.orDefect),

    setOrder: ({ accountId = Seed.shopId, id }) =>
      Effect.gen(function*() {
        yield* checkText("id", id, Parts.maxIdLength)
        yield* known(accountId)
        yield* sql`INSERT INTO orders ${sql.insert({ id, account_id: accountId })}
          ON CONFLICT (id) DO UPDATE SET
            account_id = excluded.account_id, carrier = NULL, tracking_number = NULL, shipped_at = NULL`
        return OrderId.make(id)
      }).pipe(sql.withTransaction, Database.orDefect)
  }
})
