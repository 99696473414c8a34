/**
 * Reading the store, its products and its orders, which the document names without showing. A product can be seen by
 * whoever reaches its owner and is let into the store; an order by its store alone. Knows nothing of keys or limits.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { ProfileId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Accounts } from "../../access/Accounts.js"
import * as Lists from "../../storage/Lists.js"
import { Sql } from "../../storage/Sql.js"
import * as Store from "./StoreHandlers.js"
import { CurrentCaller, toItsEnd } from "../../http/RequiresAdmission.js"
import { ServedAssumedApi } from "../../http/ServedApi.js"

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedAssumedApi, "store", (handlers) =>
  Effect.gen(function*() {
    const sql = yield* Sql
    const accounts = yield* Accounts
    const readPage = yield* Lists.makeReadPage
    const parts = yield* Store.makeParts
    const account = (id: string) => Effect.map(accounts.find(id), Option.getOrThrow)

    return handlers
      .handle("getStore", () =>   Effect.flatMap(CurrentCaller, (caller) =>
          Effect.succeed({ ownerId: ProfileId.make(caller.accountId), name: caller.account.name })), toItsEnd)
      .handle("listProducts", ({ urlParams }) =>   Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
          name: "products",
          accountId,
          older: ([seq = Lists.newest], most) =>
            sql.list<Store.ProductRow>`SELECT * FROM products WHERE account_id = ${accountId} AND seq < ${seq}
              ORDER BY seq DESC LIMIT ${most}`,
          placeOf: ({ seq }) => [seq],
          item: Store.productFromRow
        }, urlParams)), toItsEnd)
      .handle("getProduct", ({ path }) =>
          Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const product = yield* parts.product(path.id)
          yield* accounts.reach(caller.accountId, yield* account(product.account_id))
          yield* parts.letIn(caller.accountId, product.account_id)
          return Store.productFromRow(product)
        }), toItsEnd)
      .handle("listOrders", ({ urlParams }) =>   Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
          name: "orders",
          accountId,
          older: ([seq = Lists.newest], most) =>
            sql.list<Store.OrderRow>`SELECT * FROM orders WHERE account_id = ${accountId} AND seq < ${seq}
              ORDER BY seq DESC LIMIT ${most}`,
          placeOf: ({ seq }) => [seq],
          item: Store.orderFromRow
        }, urlParams)), toItsEnd)
      .handle("getOrder", ({ path }) =>
          Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const order = yield* parts.order(path.id)
          yield* parts.mayAct(caller.accountId, order.account_id)
          return Store.orderFromRow(order)
        }), toItsEnd)
  }))
