/**
 * The whole state of a sandbox as a value, and its schema. Keys are without their values, files without their bytes.
 *
 * @since 0.1.0
 */
import { KeyState } from "@plaza-legacy/domain/ApiKey"
import { AccessState } from "@plaza-legacy/domain/DeveloperAccess"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza-legacy/domain/Ids"
import { Timestamp } from "@plaza-legacy/domain/Resources"
import * as Schema from "effect/Schema"
import { Availability } from "../access/Availability.ts"

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
    size: Schema.NonNegativeInt,
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
}).annotations({ identifier: "StateSnapshot" })
/** @since 0.1.0 @category models */
export interface StateSnapshot extends Schema.Schema.Type<typeof StateSnapshot> {}
