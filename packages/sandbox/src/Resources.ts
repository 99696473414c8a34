/**
 * The resources as the sandbox returns them: those of the contract, complete, with the further fields that the sandbox assumes.
 *
 * Source: interface v1, "Resources and their fields".
 */
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain/Ids"
import { Timestamp } from "@plaza/domain/Resources"
import * as Schema from "effect/Schema"

export const Profile = Schema.Struct({
  id: ProfileId,
  username: Username,
  name: Schema.String,
  hasPhoto: Schema.Boolean,
  hasCover: Schema.Boolean
}).annotate({ identifier: "Profile" })

export const Post = Schema.Struct({
  id: PostId,
  authorId: ProfileId,
  text: Schema.String,
  mediaIds: Schema.Array(MediaId),
  createdAt: Timestamp
}).annotate({ identifier: "Post" })

export const Comment = Schema.Struct({
  id: Schema.String,
  postId: PostId,
  authorId: ProfileId,
  text: Schema.String,
  createdAt: Timestamp
}).annotate({ identifier: "Comment" })

export const Media = Schema.Struct({
  mediaId: MediaId,
  fileName: Schema.String,
  contentType: Schema.String,
  /** In bytes. */
  size: Schema.Int
}).annotate({ identifier: "Media" })

export const Story = Schema.Struct({
  id: Schema.String,
  createdAt: Timestamp
}).annotate({ identifier: "Story" })

export const Product = Schema.Struct({
  id: ProductId,
  name: Schema.String,
  stock: Schema.Int
}).annotate({ identifier: "Product" })

/** An order. The document names its states; the field `state` is assumed. A shipped order has a carrier and a tracking number. */
export const Order = Schema.Struct({
  id: OrderId,
  state: Schema.Literals(["not shipped", "shipped"]),
  carrier: Schema.optionalKey(Schema.String),
  trackingNumber: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "Order" })

export const Conversation = Schema.Struct({
  id: ConversationId,
  peerId: ProfileId
}).annotate({ identifier: "Conversation" })

export const Message = Schema.Struct({
  id: Schema.String,
  conversationId: ConversationId,
  senderId: ProfileId,
  text: Schema.String,
  createdAt: Timestamp
}).annotate({ identifier: "Message" })
