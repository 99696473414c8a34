/**
 * Handlers of the reads of the store area, which the document names but does not show. A product is visible to every account
 * that its owner is available to and that the store has not blocked; an order only to its owner.
 *
 * @since 0.1.0
 */
import { ProfileId } from "@plaza-legacy/domain/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AccountPolicy } from "../../access/AccountPolicy.ts"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import { AssumedStoreGroup } from "../../AssumedApi.ts"
import * as Endpoints from "../../http/Endpoints.ts"
import { CurrentCaller } from "../../http/RequiresAdmission.ts"
import { servedInterface } from "../../http/ServedApi.ts"
import { newest, Pagination } from "../../storage/Pagination.ts"
import * as Store from "./StoreHandlers.ts"
import { StorePolicy } from "./StorePolicy.ts"
import { StoreRepo } from "./StoreRepo.ts"

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedInterface, AssumedStoreGroup, (handlers) =>
  Effect.gen(function*() {
    const repo = yield* StoreRepo
    const policy = yield* StorePolicy
    const accounts = yield* AccountsRepo
    const { requireAvailable } = yield* AccountPolicy
    const { readPage } = yield* Pagination

    return handlers
      .handle("getStore",
        () => Effect.map(CurrentCaller, ({ account, accountId }) => ({ ownerId: ProfileId.make(accountId), name: account.name })))
      .handle("listProducts", ({ urlParams }) =>
        Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
            name: "products",
            accountId,
            findOlder: ([seq = newest], limit) => repo.findOlderProducts(accountId, seq, limit),
            positionOf: ({ seq }) => [seq],
            toItem: Store.toProduct
          }, urlParams)))
      .handle("getProduct", ({ path }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const product = yield* policy.findProduct(path.id)
          // A product always has an owner.
          const owner = Option.getOrThrow(yield* accounts.find(product.accountId))
          yield* requireAvailable(caller.accountId, owner)
          yield* policy.requireNotBlocked(caller.accountId, product.accountId)
          return Store.toProduct(product)
        }))
      .handle("listOrders", ({ urlParams }) =>
        Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
            name: "orders",
            accountId,
            findOlder: ([seq = newest], limit) => repo.findOlderOrders(accountId, seq, limit),
            positionOf: ({ seq }) => [seq],
            toItem: Store.toOrder
          }, urlParams)))
      .handle("getOrder", ({ path }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const order = yield* policy.findOrder(path.id)
          yield* policy.requireOwner(caller.accountId, order.accountId)
          return Store.toOrder(order)
        }))
  }))
