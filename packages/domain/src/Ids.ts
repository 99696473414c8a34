/**
 * Names of things as the service gives them: branded strings, opaque, never numbers ("007" stays "007").
 * Knows nothing of the resources they name nor of how they travel; see `PathSegment` for that.
 *
 * Source: interface v1, "Resources and their fields", conventions.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** @since 0.1.0 @category ids */
export const ProfileId = Schema.String.pipe(Schema.brand("ProfileId"))
/** @since 0.1.0 @category ids */
export type ProfileId = typeof ProfileId.Type

/**
 * The name a profile is addressed by in a path.
 *
 * @since 0.1.0
 * @category ids
 */
export const Username = Schema.String.pipe(Schema.brand("Username"))
/** @since 0.1.0 @category ids */
export type Username = typeof Username.Type

/** @since 0.1.0 @category ids */
export const PostId = Schema.String.pipe(Schema.brand("PostId"))
/** @since 0.1.0 @category ids */
export type PostId = typeof PostId.Type

/** @since 0.1.0 @category ids */
export const MediaId = Schema.String.pipe(Schema.brand("MediaId"))
/** @since 0.1.0 @category ids */
export type MediaId = typeof MediaId.Type

/** @since 0.1.0 @category ids */
export const ProductId = Schema.String.pipe(Schema.brand("ProductId"))
/** @since 0.1.0 @category ids */
export type ProductId = typeof ProductId.Type

/** @since 0.1.0 @category ids */
export const OrderId = Schema.String.pipe(Schema.brand("OrderId"))
/** @since 0.1.0 @category ids */
export type OrderId = typeof OrderId.Type

/** @since 0.1.0 @category ids */
export const ConversationId = Schema.String.pipe(Schema.brand("ConversationId"))
/** @since 0.1.0 @category ids */
export type ConversationId = typeof ConversationId.Type

/**
 * The `next_cursor` of a page: opaque, not built, altered or kept for long.
 * Source: interface v1, "List behaviour", rules 3 and 6.
 *
 * @since 0.1.0
 * @category ids
 */
export const Cursor = Schema.String.pipe(Schema.brand("Cursor"))
/** @since 0.1.0 @category ids */
export type Cursor = typeof Cursor.Type
