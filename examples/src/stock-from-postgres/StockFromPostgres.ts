/**
 * Sends the stock of a shop's table in Postgres once. Repeat it as often as you like: a stock that is sent twice changes nothing.
 * It sends every row. `plaza-stock-sync` sends only what changes, sold-out products first, and runs as a service.
 */
import { ClientError, FailureScope, Store } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Row = Schema.Struct({ sku: ProductId, quantity: Schema.Int })

/** The query of your shop. Casts and bounds belong here: Postgres returns a `numeric` as text. Sold-out products come first. */
const readStock = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const findAll = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Row,
    execute: () =>
      sql`SELECT sku, greatest(on_hand - reserved, 0)::int AS quantity
          FROM inventory WHERE is_published ORDER BY on_hand > reserved, sku`
  })
  return yield* findAll()
})

/** By the category, because the service may have codes that are newer than this program. */
const isAboutProduct = (failure: ClientError.Failure) =>
  !FailureScope.mayHaveHappened(failure) && ["NotFound", "InvalidRequest"].includes(ClientError.categoryOf(failure))

/** Sends every row. Returns the products that the service refuses; any other failure ends the run. */
export const sendStock = Effect.gen(function*() {
  const { setStock } = yield* Store
  const rows = yield* readStock
  const refused = yield* Effect.forEach(rows, ({ quantity, sku }) =>
    setStock(sku, quantity).pipe(
      Effect.as([]),
      Effect.catchIf(isAboutProduct, (failure) => Effect.succeed([{ sku, reason: failure.message }]))
    ), { concurrency: 4 })
  return { sent: rows.length, refused: refused.flat() }
})
