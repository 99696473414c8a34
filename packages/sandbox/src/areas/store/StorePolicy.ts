/**
 * Finds products and orders, and decides who may act on them.
 *
 * Source: interface v1, "Endpoints".
 */
import type { NotFound } from "@plaza/domain/Errors"
import { Forbidden, StoreBlocked } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import { notFound } from "../../Validation.ts"
import type { Order, Product } from "./StoreRepo.ts"
import { StoreRepo } from "./StoreRepo.ts"

export class StorePolicy extends Context.Service<StorePolicy>()("@plaza/sandbox/StorePolicy", {
  make: Effect.gen(function*() {
    const accounts = yield* AccountsRepo
    const store = yield* StoreRepo
    const orNotFound = <A>(found: A | undefined, resource: string, id: string): Effect.Effect<A, NotFound> =>
      found === undefined ? Effect.fail(notFound(resource, id)) : Effect.succeed(found)
    /** Fails when the store of the owner has blocked the caller. */
    const requireNotBlocked = (callerId: string, ownerId: string): Effect.Effect<void, StoreBlocked> =>
      callerId !== ownerId && accounts.relation(ownerId, callerId).blocksFromStore
        ? Effect.fail(new StoreBlocked({ message: "the store has blocked this account" }))
        : Effect.void
    return {
      findProduct: (id: string): Effect.Effect<Product, NotFound> => orNotFound(store.findProduct(id), "product", id),
      findOrder: (id: string): Effect.Effect<Order, NotFound> => orNotFound(store.findOrder(id), "order", id),
      requireNotBlocked,
      /** Fails unless the caller is the owner. A block is reported first. */
      requireOwner: (callerId: string, ownerId: string): Effect.Effect<void, StoreBlocked | Forbidden> =>
        callerId === ownerId
          ? Effect.void
          : Effect.andThen(
            requireNotBlocked(callerId, ownerId),
            Effect.fail(new Forbidden({ message: "this belongs to the store of another account" }))
          )
    }
  })
}) {
  static readonly layer = Layer.effect(StorePolicy, StorePolicy.make)
}
