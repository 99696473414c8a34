/**
 * Everything a sandbox holds, as a value and on the wire. Knows nothing of how it is kept. Keys stand without their
 * values, files without their bytes.
 *
 * @since 0.1.0
 */
import { KeyState } from "@plaza/domain/ApiKey"
import { AccessState } from "@plaza/domain/DeveloperAccess"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain/Ids"
import { Timestamp } from "@plaza/domain/Resources"
import * as Schema from "effect/Schema"

/**
 * Whether an account can be reached. What makes a user unavailable is the document's ("blocked, private or suspended");
 * that a private account stays visible to those who follow it already is assumed.
 *
 * @since 0.1.0
 * @category models
 */
export const Availability = Schema.Literal("available", "private", "suspended")
/** @since 0.1.0 @category models */
export type Availability = typeof Availability.Type

/** @since 0.1.0 @category models */
export const AccountState = Schema.Struct({
  id: ProfileId,
  username: Username,
  name: Schema.String,
  photo: Schema.Boolean,
  cover: Schema.Boolean,
  access: AccessState,
  availability: Availability
}).annotations({ identifier: "AccountState" })

/** @since 0.1.0 @category models */
export const State = Schema.Struct({
  /** What the sandbox was seeded with. */
  seed: Schema.Int,
  accounts: Schema.Array(AccountState),
  keys: Schema.Array(Schema.Struct({
    id: Schema.String,
    accountId: ProfileId,
    name: Schema.String,
    scopes: Schema.Array(Schema.String),
    state: KeyState
  })),
  /** What one account does to another. Those who do nothing to each other don't stand here. */
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
    size: Schema.NonNegativeInt,
    /** Of the bytes, in hexadecimal. */
    sha256: Schema.String
  })),
  /** In the order in which they were created. */
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
    /** Whose store it is in. */
    accountId: ProfileId,
    name: Schema.String,
    stock: Schema.Int
  })),
  orders: Schema.Array(Schema.Struct({
    id: OrderId,
    /** Whose store it is in. */
    accountId: ProfileId,
    /** Null until it is shipped. */
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
}).annotations({ identifier: "State" })
/** @since 0.1.0 @category models */
export interface State extends Schema.Schema.Type<typeof State> {}
