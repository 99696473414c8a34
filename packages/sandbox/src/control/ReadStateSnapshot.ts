/**
 * Reads the state snapshot from the database in one transaction.
 *
 * @since 0.1.0
 */
import type { KeyState } from "@plaza/domain/ApiKey"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain/Ids"
import { ShippingState } from "@plaza/domain/Shipping"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { RelationRow } from "../access/Accounts.js"
import * as Accounts from "../access/Accounts.js"
import * as Callers from "../access/Callers.js"
import type { ConversationRow } from "../areas/chat/ChatHandlers.js"
import type { PostRow } from "../areas/posts/PostsHandlers.js"
import * as Posts from "../areas/posts/PostsHandlers.js"
import * as SeedData from "../seeding/SeedData.js"
import { Sql } from "../storage/Sql.js"
import type { StateSnapshot } from "./StateSnapshot.js"
import type { OrderRow, ProductRow } from "../areas/store/StoreHandlers.js"
import { shippingState } from "../areas/store/StoreHandlers.js"
import * as Stories from "../areas/stories/StoriesHandlers.js"

interface Written {
  readonly seq: number
  readonly account_id: string
  readonly created_at: number
}

/** @since 0.1.0 @category reading */
export const make: Effect.Effect<Effect.Effect<StateSnapshot>, never, Sql> = Effect.map(
  Sql,
  (sql) =>
    Effect.gen(function*() {
      const seed = yield* SeedData.storedSeed(sql)
      const accounts = yield* sql<Accounts.AccountRow>`SELECT * FROM accounts ORDER BY seq`
      const keys = yield* sql<Omit<Written, "created_at"> & {
        readonly id: string
        readonly name: string
        readonly scopes: string
        readonly state: KeyState
      }>`SELECT * FROM keys ORDER BY seq`
      const relations = yield* sql<RelationRow & { readonly from_id: string; readonly to_id: string }>`
        SELECT * FROM relations ORDER BY from_id, to_id`
      const media = yield* sql<{
        readonly id: string
        readonly account_id: string
        readonly name: string
        readonly content_type: string
        readonly size: number
        readonly sha256: string
      }>`SELECT id, account_id, name, content_type, size, sha256 FROM media ORDER BY seq`
      const posts = yield* sql<PostRow>`SELECT * FROM posts ORDER BY seq`
      const comments = yield* sql<Written & { readonly post_id: string; readonly text: string }>`SELECT * FROM comments ORDER BY seq`
      const likes = yield* sql<{ readonly post_id: string; readonly account_id: string }>`
        SELECT * FROM likes ORDER BY post_id, account_id`
      const stories = yield* sql<Written & { readonly payload: string }>`SELECT * FROM stories ORDER BY seq`
      const products = yield* sql<ProductRow>`SELECT * FROM products ORDER BY seq`
      const orders = yield* sql<OrderRow>`SELECT * FROM orders ORDER BY seq`
      const conversations = yield* sql<ConversationRow>`SELECT * FROM conversations ORDER BY seq`
      const messages = yield* sql<Written & { readonly conversation_id: string; readonly text: string }>`
        SELECT * FROM messages ORDER BY seq`
      return {
        seed,
        accounts: accounts.map(Accounts.fromRow).map((account) => ({
          ...account,
          id: ProfileId.make(account.id),
          username: Username.make(account.username)
        })),
        keys: keys.map(({ account_id, id, name, scopes, state }) => ({
          id,
          accountId: ProfileId.make(account_id),
          name,
          scopes: Callers.readScopes(scopes),
          state
        })),
        relations: relations.map((row) => ({
          from: ProfileId.make(row.from_id),
          to: ProfileId.make(row.to_id),
          ...Accounts.relationFromRow(row)
        })),
        media: media.map(({ account_id, content_type, id, name, sha256, size }) => ({
          id: MediaId.make(id),
          accountId: ProfileId.make(account_id),
          name,
          contentType: content_type,
          size,
          sha256
        })),
        posts: posts.map(Posts.fromRow),
        comments: comments.map(({ account_id, created_at, post_id, seq, text }) => ({
          id: String(seq),
          postId: PostId.make(post_id),
          authorId: ProfileId.make(account_id),
          text,
          createdAt: DateTime.unsafeMake(created_at)
        })),
        likes: likes.map(({ account_id, post_id }) => ({
          postId: PostId.make(post_id),
          accountId: ProfileId.make(account_id)
        })),
        stories: stories.map(({ account_id, created_at, payload, seq }) => ({
          id: Stories.idOf(seq),
          authorId: ProfileId.make(account_id),
          payload: Stories.readPayload(payload),
          createdAt: DateTime.unsafeMake(created_at)
        })),
        products: products.map(({ account_id, id, name, stock }) => ({
          id: ProductId.make(id),
          accountId: ProfileId.make(account_id),
          name,
          stock
        })),
        orders: orders.map((order) => ({
          id: OrderId.make(order.id),
          accountId: ProfileId.make(order.account_id),
          shipment: ShippingState.$match(shippingState(order), {
            NotShipped: () => null,
            Shipped: ({ shipment }) => shipment
          })
        })),
        conversations: conversations.map(({ account_id, id, peer_id }) => ({
          id: ConversationId.make(id),
          accountId: ProfileId.make(account_id),
          peerId: ProfileId.make(peer_id)
        })),
        messages: messages.map(({ account_id, conversation_id, created_at, seq, text }) => ({
          id: String(seq),
          conversationId: ConversationId.make(conversation_id),
          senderId: ProfileId.make(account_id),
          text,
          createdAt: DateTime.unsafeMake(created_at)
        }))
      }
    }).pipe(sql.withTransaction)
)
