/**
 * The whole state of a sandbox as a value, its schema and its reader. Keys are without their values, files without their bytes.
 *
 * @since 0.1.0
 */
import { KeyState } from "@plaza/domain/ApiKey"
import { AccessState } from "@plaza/domain/DeveloperAccess"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain/Ids"
import { Timestamp } from "@plaza/domain/Resources"
import { ShippingState } from "@plaza/domain/Shipping"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AccountsRepo, Availability } from "../access/AccountsRepo.ts"
import { KeysRepo } from "../access/KeysRepo.ts"
import { ChatRepo } from "../areas/chat/ChatRepo.ts"
import { MediaRepo } from "../areas/media/MediaRepo.ts"
import { toPost } from "../areas/posts/PostsHandlers.ts"
import { PostsRepo } from "../areas/posts/PostsRepo.ts"
import { shippingState } from "../areas/store/StoreHandlers.ts"
import { StoreRepo } from "../areas/store/StoreRepo.ts"
import * as Stories from "../areas/stories/StoriesRepo.ts"
import { nonNegativeInt } from "../Validation.ts"

/** @since 0.1.0 @category models */
export const AccountState = Schema.Struct({
  id: ProfileId,
  username: Username,
  name: Schema.String,
  photo: Schema.Boolean,
  cover: Schema.Boolean,
  access: AccessState,
  availability: Availability
}).annotate({ identifier: "AccountState" })

/** @since 0.1.0 @category models */
export const StateSnapshot = Schema.Struct({
  /** The seed of the sandbox. */
  seed: Schema.Int,
  accounts: Schema.Array(AccountState),
  keys: Schema.Array(Schema.Struct({
    id: Schema.String,
    accountId: ProfileId,
    name: Schema.String,
    scopes: Schema.Array(Schema.String),
    state: KeyState
  })),
  /** The relation of one account to another. Accounts without any relation are not listed. */
  relations: Schema.Array(Schema.Struct({
    from: ProfileId,
    to: ProfileId,
    follows: Schema.Boolean,
    blocks: Schema.Boolean,
    hasWritten: Schema.Boolean,
    blocksFromStore: Schema.Boolean
  })),
  media: Schema.Array(Schema.Struct({
    id: MediaId,
    accountId: ProfileId,
    name: Schema.String,
    contentType: Schema.String,
    /** In bytes. */
    size: nonNegativeInt,
    /** The SHA-256 of the bytes, in hexadecimal. */
    sha256: Schema.String
  })),
  /** In order of creation. */
  posts: Schema.Array(Schema.Struct({
    id: PostId,
    authorId: ProfileId,
    text: Schema.String,
    mediaIds: Schema.Array(MediaId),
    createdAt: Timestamp
  })),
  comments: Schema.Array(Schema.Struct({
    id: Schema.String,
    postId: PostId,
    authorId: ProfileId,
    text: Schema.String,
    createdAt: Timestamp
  })),
  likes: Schema.Array(Schema.Struct({ postId: PostId, accountId: ProfileId })),
  stories: Schema.Array(Schema.Struct({
    id: Schema.String,
    authorId: ProfileId,
    payload: Schema.Unknown,
    createdAt: Timestamp
  })),
  products: Schema.Array(Schema.Struct({
    id: ProductId,
    /** The owner of the store. */
    accountId: ProfileId,
    name: Schema.String,
    stock: Schema.Int
  })),
  orders: Schema.Array(Schema.Struct({
    id: OrderId,
    /** The owner of the store. */
    accountId: ProfileId,
    /** Null until the order is shipped. */
    shipment: Schema.NullOr(Schema.Struct({ carrier: Schema.String, trackingNumber: Schema.String }))
  })),
  conversations: Schema.Array(Schema.Struct({ id: ConversationId, accountId: ProfileId, peerId: ProfileId })),
  messages: Schema.Array(Schema.Struct({
    id: Schema.String,
    conversationId: ConversationId,
    senderId: ProfileId,
    text: Schema.String,
    createdAt: Timestamp
  }))
}).annotate({ identifier: "StateSnapshot" })
/** @since 0.1.0 @category models */
export interface StateSnapshot extends Schema.Struct.Type<typeof StateSnapshot.fields> {}

/**
 * Reads the state of a sandbox with a seed.
 *
 * @since 0.1.0
 * @category reading
 */
export const makeReader = Effect.gen(function*() {
  const accounts = yield* AccountsRepo
  const keys = yield* KeysRepo
  const media = yield* MediaRepo
  const posts = yield* PostsRepo
  const stories = yield* Stories.StoriesRepo
  const store = yield* StoreRepo
  const chat = yield* ChatRepo

  return (seed: number): StateSnapshot => ({
    seed,
    accounts: accounts.all(),
    keys: keys.all().map(({ accountId, id, name, scopes, state }) => ({ id, accountId, name, scopes, state })),
    relations: accounts.allRelations(),
    media: media.all(),
    posts: posts.all().map(toPost),
    comments: posts.allComments().map(({ seq, ...comment }) => ({ id: String(seq), ...comment })),
    likes: posts.allLikes(),
    stories: stories.all().map(({ seq, ...story }) => ({ id: Stories.idOf(seq), ...story })),
    products: store.allProducts().map(({ seq: _, ...product }) => product),
    orders: store.allOrders().map((order) => ({
      id: order.id,
      accountId: order.accountId,
      shipment: ShippingState.$match(shippingState(order), {
        NotShipped: () => null,
        Shipped: ({ shipment }) => shipment
      })
    })),
    conversations: chat.allConversations().map(({ seq: _, ...conversation }) => conversation),
    messages: chat.allMessages().map(({ seq, ...message }) => ({ id: String(seq), ...message }))
  })
})
