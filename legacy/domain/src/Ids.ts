/**
 * Ids as branded strings. They are opaque and never numbers: "007" stays "007". `PathSegment` encodes an id for a path.
 *
 * Source: interface v1, "Resources and their fields", conventions.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The id of a profile.
 *
 * @since 0.1.0
 * @category ids
 */
export const ProfileId = Schema.String.pipe(Schema.brand("ProfileId"))
/** @since 0.1.0 @category ids */
export type ProfileId = typeof ProfileId.Type

/**
 * The username of a profile: the parameter of `GET /users/by-username/{username}`.
 *
 * @since 0.1.0
 * @category ids
 */
export const Username = Schema.String.pipe(Schema.brand("Username"))
/** @since 0.1.0 @category ids */
export type Username = typeof Username.Type

/**
 * The id of a post.
 *
 * @since 0.1.0
 * @category ids
 */
export const PostId = Schema.String.pipe(Schema.brand("PostId"))
/** @since 0.1.0 @category ids */
export type PostId = typeof PostId.Type

/**
 * The id of an uploaded file, for `mediaIds` of a post.
 *
 * @since 0.1.0
 * @category ids
 */
export const MediaId = Schema.String.pipe(Schema.brand("MediaId"))
/** @since 0.1.0 @category ids */
export type MediaId = typeof MediaId.Type

/**
 * The id of a product.
 *
 * @since 0.1.0
 * @category ids
 */
export const ProductId = Schema.String.pipe(Schema.brand("ProductId"))
/** @since 0.1.0 @category ids */
export type ProductId = typeof ProductId.Type

/**
 * The id of an order.
 *
 * @since 0.1.0
 * @category ids
 */
export const OrderId = Schema.String.pipe(Schema.brand("OrderId"))
/** @since 0.1.0 @category ids */
export type OrderId = typeof OrderId.Type

/**
 * The id of a conversation.
 *
 * @since 0.1.0
 * @category ids
 */
export const ConversationId = Schema.String.pipe(Schema.brand("ConversationId"))
/** @since 0.1.0 @category ids */
export type ConversationId = typeof ConversationId.Type

/**
 * The `next_cursor` of a page. Opaque: do not build or change one. It may expire, so a stored cursor can be rejected.
 * Source: interface v1, "List behaviour", rules 3 and 6.
 *
 * @since 0.1.0
 * @category ids
 */
export const Cursor = Schema.String.pipe(Schema.brand("Cursor"))
/** @since 0.1.0 @category ids */
export type Cursor = typeof Cursor.Type
