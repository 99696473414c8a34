/**
 * Schemas of the resources, as far as the document shows them. A field is required only where the document shows that it is
 * always present. Unknown fields are ignored, because new ones may appear at any time.
 *
 * Source: interface v1, "Resources and their fields".
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Transformation from "effect/SchemaTransformation"
import { ConversationId, Cursor, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "./Ids.ts"

/**
 * An optional field of a resource or a request. Null, `undefined` and absent mean the same: all decode to absent, and none is
 * encoded.
 * Source: interface v1, "Resources and their fields", conventions.
 *
 * @since 0.1.0
 * @category combinators
 */
export const optional = <S extends Schema.Constraint>(schema: S) =>
  Schema.optional(Schema.NullOr(schema)).pipe(Schema.decodeTo(
    Schema.optional(Schema.toType(schema)),
    Transformation.transformOptional<S["Type"] | undefined, S["Type"] | null | undefined>({
      decode: Option.filter(Predicate.isNotNullish),
      encode: Option.filter(Predicate.isNotUndefined)
    })
  ))

/**
 * An instant as `DateTime.Utc`, encoded as ISO 8601 with milliseconds and a trailing Z. Decodes any ISO 8601 text.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Timestamp = Schema.String.annotate({
  identifier: "Timestamp",
  format: "date-time",
  description: "ISO 8601 in UTC with milliseconds and a trailing Z"
}).pipe(Schema.decodeTo(Schema.DateTimeUtc, Transformation.dateTimeUtcFromString))

/**
 * The stock of a product. The document calls it a "number" and states no bounds.
 * Source: interface v1, "Resources and their fields".
 *
 * @since 0.1.0
 * @category schemas
 */
export const Stock = Schema.Finite.annotate({ identifier: "Stock" })

/**
 * A profile. The document doesn't show which fields are always present: `GET /me` returns a "JSON object describing the
 * account".
 *
 * @since 0.1.0
 * @category resources
 */
export const Profile = Schema.Struct({
  id: optional(ProfileId),
  username: optional(Username)
}).annotate({ identifier: "Profile" })
/** @since 0.1.0 @category resources */
export interface Profile extends Schema.Struct.Type<typeof Profile.fields> {}

/**
 * A post of the account.
 *
 * @since 0.1.0
 * @category resources
 */
export const Post = Schema.Struct({
  id: PostId,
  text: optional(Schema.String),
  mediaIds: optional(Schema.Array(MediaId)),
  createdAt: optional(Timestamp).pipe(Schema.annotateEncoded({ description: "When the post was created" }))
}).annotate({ identifier: "Post" })
/** @since 0.1.0 @category resources */
export interface Post extends Schema.Struct.Type<typeof Post.fields> {}

/**
 * An uploaded file. A post refers to it by `mediaId`.
 *
 * @since 0.1.0
 * @category resources
 */
export const Media = Schema.Struct({
  mediaId: MediaId
}).annotate({ identifier: "Media" })
/** @since 0.1.0 @category resources */
export interface Media extends Schema.Struct.Type<typeof Media.fields> {}

/**
 * A comment. The document shows no id for it.
 *
 * @since 0.1.0
 * @category resources
 */
export const Comment = Schema.Struct({
  text: optional(Schema.String)
}).annotate({ identifier: "Comment" })
/** @since 0.1.0 @category resources */
export interface Comment extends Schema.Struct.Type<typeof Comment.fields> {}

/**
 * A product of the account's store.
 *
 * @since 0.1.0
 * @category resources
 */
export const Product = Schema.Struct({
  id: ProductId,
  stock: optional(Stock)
}).annotate({ identifier: "Product" })
/** @since 0.1.0 @category resources */
export interface Product extends Schema.Struct.Type<typeof Product.fields> {}

/**
 * An order. A shipped order has a `carrier` and a `trackingNumber`.
 *
 * @since 0.1.0
 * @category resources
 */
export const Order = Schema.Struct({
  id: OrderId,
  carrier: optional(Schema.String),
  trackingNumber: optional(Schema.String)
}).annotate({ identifier: "Order" })
/** @since 0.1.0 @category resources */
export interface Order extends Schema.Struct.Type<typeof Order.fields> {}

/**
 * A conversation of the account.
 *
 * @since 0.1.0
 * @category resources
 */
export const Conversation = Schema.Struct({
  id: ConversationId
}).annotate({ identifier: "Conversation" })
/** @since 0.1.0 @category resources */
export interface Conversation extends Schema.Struct.Type<typeof Conversation.fields> {}

/**
 * A chat message. The document shows no id for it.
 *
 * @since 0.1.0
 * @category resources
 */
export const Message = Schema.Struct({
  text: optional(Schema.String)
}).annotate({ identifier: "Message" })
/** @since 0.1.0 @category resources */
export interface Message extends Schema.Struct.Type<typeof Message.fields> {}

/**
 * The response to a like or a follow. The document calls it a "confirmation" and doesn't show its shape, so any JSON is valid.
 *
 * @since 0.1.0
 * @category resources
 */
// As `Any`, because `HttpApi` replaces an `Unknown` by a schema of JSON values, which is recursive.
export const Confirmation: Schema.Codec<unknown> = Schema.Any.annotate({
  identifier: "Confirmation",
  description: "Confirms the action; its shape is not documented"
})

/**
 * One page of a list. `nextCursor` is null on the last page. Null, absent and `""` decode to null, because an empty `cursor`
 * requests the first page again.
 * Source: interface v1, "List behaviour", rules 4 and 5.
 *
 * @since 0.1.0
 * @category resources
 */
export interface Page<out A> {
  readonly data: ReadonlyArray<A>
  readonly nextCursor: Cursor | null
}

/**
 * The schema of a {@link Page} of items. It always encodes `next_cursor`, null included.
 *
 * @since 0.1.0
 * @category resources
 */
export const Page = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({
    data: Schema.Array(item),
    next_cursor: Schema.optional(Schema.NullOr(Schema.String))
  }).pipe(Schema.decodeTo(
    Schema.Struct({
      // The encoded side decodes and encodes the items. Checking their types here too takes a quarter of the time of a page.
      data: Schema.declare((data): data is ReadonlyArray<S["Type"]> => Array.isArray(data)),
      nextCursor: Schema.NullOr(Cursor.check(Schema.isNonEmpty()))
    }),
    Transformation.transform({
      decode: ({ data, next_cursor }) => ({ data, nextCursor: next_cursor || null }),
      encode: ({ data, nextCursor }) => ({ data, next_cursor: nextCursor })
    })
  ))
