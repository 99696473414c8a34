/**
 * Reads the state snapshot from the database in one transaction.
 *
 * @since 0.1.0
 */
import { ShippingState } from "@plaza-legacy/domain/Shipping"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import { KeysRepo } from "../access/KeysRepo.ts"
import { ChatRepo } from "../areas/chat/ChatRepo.ts"
import { MediaRepo } from "../areas/media/MediaRepo.ts"
import { toPost } from "../areas/posts/PostsHandlers.ts"
import { PostsRepo } from "../areas/posts/PostsRepo.ts"
import { shippingState } from "../areas/store/StoreHandlers.ts"
import { StoreRepo } from "../areas/store/StoreRepo.ts"
import * as Stories from "../areas/stories/StoriesRepo.ts"
import type { Repos } from "../Repos.ts"
import * as SeedData from "../seeding/SeedData.ts"
import { MetaRepo } from "../storage/MetaRepo.ts"
import { Sql } from "../storage/Sql.ts"
import type { StateSnapshot } from "./StateSnapshot.ts"

/** @since 0.1.0 @category reading */
export const make: Effect.Effect<Effect.Effect<StateSnapshot>, never, Sql | Repos> = Effect.gen(function*() {
  const { withTransaction } = yield* Sql
  const meta = yield* MetaRepo
  const accounts = yield* AccountsRepo
  const keys = yield* KeysRepo
  const media = yield* MediaRepo
  const posts = yield* PostsRepo
  const stories = yield* Stories.StoriesRepo
  const store = yield* StoreRepo
  const chat = yield* ChatRepo

  return Effect.gen(function*() {
    return {
      seed: Option.getOrThrow(yield* SeedData.storedSeed(meta)),
      accounts: yield* accounts.all(),
      keys: (yield* keys.all()).map(({ accountId, id, name, scopes, state }) => ({ id, accountId, name, scopes, state })),
      relations: yield* accounts.allRelations(),
      media: yield* media.all(),
      posts: (yield* posts.all()).map(toPost),
      comments: (yield* posts.allComments()).map(({ seq, ...comment }) => ({ id: String(seq), ...comment })),
      likes: yield* posts.allLikes(),
      stories: (yield* stories.all()).map(({ seq, ...story }) => ({ id: Stories.idOf(seq), ...story })),
      products: (yield* store.allProducts()).map(({ seq: _, ...product }) => product),
      orders: (yield* store.allOrders()).map((order) => ({
        id: order.id,
        accountId: order.accountId,
        shipment: ShippingState.$match(shippingState(order), {
          NotShipped: () => null,
          Shipped: ({ shipment }) => shipment
        })
      })),
      conversations: (yield* chat.allConversations()).map(({ seq: _, ...conversation }) => conversation),
      messages: (yield* chat.allMessages()).map(({ seq, ...message }) => ({ id: String(seq), ...message }))
    }
  }).pipe(withTransaction)
})
