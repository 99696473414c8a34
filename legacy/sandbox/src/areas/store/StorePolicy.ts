/**
 * Finds products and orders, and decides who may act on them.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import { Forbidden, StoreBlocked } from "@plaza-legacy/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import * as Envelope from "../../http/Envelope.ts"
import { StoreRepo } from "./StoreRepo.ts"

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Effect.all([AccountsRepo, StoreRepo]), ([accounts, store]) => {
  /** Fails when the store of the owner has blocked the caller. */
  const requireNotBlocked = (callerId: string, ownerId: string): Effect.Effect<void, StoreBlocked> =>
    callerId === ownerId ? Effect.void : Effect.flatMap(
      accounts.relation(ownerId, callerId),
      ({ blocksFromStore }) => blocksFromStore ? new StoreBlocked({ message: "the store has blocked this account" }) : Effect.void
    )
  return {
    findProduct: (id: string) =>
      Effect.flatMap(store.findProduct(id), Option.match({
        onNone: () => Effect.fail(Envelope.notFound("product", id)),
        onSome: Effect.succeed
      })),
    findOrder: (id: string) =>
      Effect.flatMap(store.findOrder(id), Option.match({
        onNone: () => Effect.fail(Envelope.notFound("order", id)),
        onSome: Effect.succeed
      })),
    requireNotBlocked,
    /** Fails unless the caller is the owner. A block is reported first. */
    requireOwner: (callerId: string, ownerId: string): Effect.Effect<void, StoreBlocked | Forbidden> =>
      callerId === ownerId ? Effect.void : Effect.zipRight(
        requireNotBlocked(callerId, ownerId),
        new Forbidden({ message: "this belongs to the store of another account" })
      )
  }
})

/** @since 0.1.0 @category services */
export class StorePolicy extends Context.Tag("@plaza-legacy/sandbox/StorePolicy")<StorePolicy, Effect.Effect.Success<typeof make>>() {}
