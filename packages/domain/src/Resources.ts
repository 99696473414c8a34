/**
 * The resources as far as the document shows them: a field is required only where it is shown and nothing can be
 * done without it. Fields that aren't shown are ignored, so that new ones may appear at any time.
 * Knows nothing of endpoints.
 *
 * Source: interface v1, "Resources and their fields".
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ConversationId, Cursor, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "./Ids.js"

/**
 * A field that may be null or left out, which mean the same; in the type it is left out.
 * Source: interface v1, "Resources and their fields", conventions.
 *
 * @since 0.1.0
 * @category combinators
 */
export const optional = <S extends Schema.Schema.All>(
  schema: S
): Schema.optionalWith<S, { readonly exact: true; readonly nullable: true }> =>
  Schema.optionalWith(schema, { exact: true, nullable: true })

/**
 * A moment in UTC; written with milliseconds and a trailing Z.
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
 * How many of a product there are. The document says no more than "number".
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
 * A profile. The document doesn't show which of its fields are always there: GET /me answers a "JSON object describing the
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

/** @since 0.1.0 @category resources */
export const Post = Schema.Struct({
  id: PostId,
  text: optional(Schema.String),
  mediaIds: optional(Schema.Array(MediaId)),
  createdAt: optional(Timestamp).annotations({ description: "When the post was created" })
}).annotations({ identifier: "Post" })
/** @since 0.1.0 @category resources */
export interface Post extends Schema.Schema.Type<typeof Post> {}

/**
 * An uploaded file, to be named in a post.
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

/** @since 0.1.0 @category resources */
export const Product = Schema.Struct({
  id: ProductId,
  stock: optional(Stock)
}).annotations({ identifier: "Product" })
/** @since 0.1.0 @category resources */
export interface Product extends Schema.Schema.Type<typeof Product> {}

/** @since 0.1.0 @category resources */
export const Order = Schema.Struct({
  id: OrderId,
  carrier: optional(Schema.String),
  trackingNumber: optional(Schema.String)
}).annotations({ identifier: "Order" })
/** @since 0.1.0 @category resources */
export interface Order extends Schema.Schema.Type<typeof Order> {}

/** @since 0.1.0 @category resources */
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
 * What a like or a follow answers: "confirmation", with no word on its shape. Any JSON will do.
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
 * The list envelope. A `next_cursor` that is null or absent says that there are no more pages, and so does an empty string:
 * in a query an empty `cursor` can't be told from an absent one, so sending it back would read the first page again.
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
 * The schema of {@link Page}. Writes `next_cursor` always, null included.
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
