/**
 * Schemas of the resources, as far as the document shows them. A field is required only where the document shows that it is
 * always present. Unknown fields are ignored, because new ones may appear at any time.
 *
 * Source: interface v1, "Resources and their fields".
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ConversationId, Cursor, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "./Ids.ts"

/**
 * An optional field of a resource. Null and absent mean the same; both decode to absent.
 * Source: interface v1, "Resources and their fields", conventions.
 *
 * @since 0.1.0
 * @category combinators
 */
export const optional = <S extends Schema.Schema.All>(
  schema: S
): Schema.optionalWith<S, { readonly exact: true; readonly nullable: true }> => Schema.optionalWith(schema, { exact: true, nullable: true })

/**
 * An instant as `DateTime.Utc`, encoded as ISO 8601 with milliseconds and a trailing Z.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Timestamp = Schema.DateTimeUtc.annotations({
  identifier: "Timestamp",
  jsonSchema: {
    type: "string",
    format: "date-time",
    description: "ISO 8601 in UTC with milliseconds and a trailing Z"
  }
})

/**
 * The stock of a product. The document calls it a "number" and states no bounds.
 * Source: interface v1, "Resources and their fields".
 *
 * @since 0.1.0
 * @category schemas
 */
export const Stock = Schema.Finite.annotations({
  identifier: "Stock",
  jsonSchema: { type: "number" }
})

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
}).annotations({ identifier: "Profile" })
/** @since 0.1.0 @category resources */
export interface Profile extends Schema.Schema.Type<typeof Profile> {}

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
  createdAt: optional(Timestamp).annotations({ description: "When the post was created" })
}).annotations({ identifier: "Post" })
/** @since 0.1.0 @category resources */
export interface Post extends Schema.Schema.Type<typeof Post> {}

/**
 * An uploaded file. A post refers to it by `mediaId`.
 *
 * @since 0.1.0
 * @category resources
 */
export const Media = Schema.Struct({
  mediaId: MediaId
}).annotations({ identifier: "Media" })
/** @since 0.1.0 @category resources */
export interface Media extends Schema.Schema.Type<typeof Media> {}

/**
 * A comment. The document shows no id for it.
 *
 * @since 0.1.0
 * @category resources
 */
export const Comment = Schema.Struct({
  text: optional(Schema.String)
}).annotations({ identifier: "Comment" })
/** @since 0.1.0 @category resources */
export interface Comment extends Schema.Schema.Type<typeof Comment> {}

/**
 * A product of the account's store.
 *
 * @since 0.1.0
 * @category resources
 */
export const Product = Schema.Struct({
  id: ProductId,
  stock: optional(Stock)
}).annotations({ identifier: "Product" })
/** @since 0.1.0 @category resources */
export interface Product extends Schema.Schema.Type<typeof Product> {}

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
}).annotations({ identifier: "Order" })
/** @since 0.1.0 @category resources */
export interface Order extends Schema.Schema.Type<typeof Order> {}

/**
 * A conversation of the account.
 *
 * @since 0.1.0
 * @category resources
 */
export const Conversation = Schema.Struct({
  id: ConversationId
}).annotations({ identifier: "Conversation" })
/** @since 0.1.0 @category resources */
export interface Conversation extends Schema.Schema.Type<typeof Conversation> {}

/**
 * A chat message. The document shows no id for it.
 *
 * @since 0.1.0
 * @category resources
 */
export const Message = Schema.Struct({
  text: optional(Schema.String)
}).annotations({ identifier: "Message" })
/** @since 0.1.0 @category resources */
export interface Message extends Schema.Schema.Type<typeof Message> {}

/**
 * The response to a like or a follow. The document calls it a "confirmation" and doesn't show its shape, so any JSON is valid.
 *
 * @since 0.1.0
 * @category resources
 */
export const Confirmation = Schema.Unknown.annotations({
  identifier: "Confirmation",
  description: "Confirms the action; its shape is not documented",
  jsonSchema: {}
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

const NextCursor = Schema.NullOr(Cursor.pipe(Schema.minLength(1)))

/**
 * The schema of a {@link Page} of items. It always encodes `next_cursor`, null included.
 *
 * @since 0.1.0
 * @category resources
 */
export const Page = <A, I, R>(item: Schema.Schema<A, I, R>) =>
  Schema.Struct({
    data: Schema.Array(item),
    nextCursor: Schema.optionalToRequired(Schema.NullOr(Schema.String), NextCursor, {
      decode: Option.match({ onNone: () => null, onSome: (cursor) => cursor === "" ? null : cursor }),
      encode: Option.some
    }).pipe(Schema.fromKey("next_cursor"))
  })
