/**
 * What is sent: bodies and queries, as far as the document shows them. Knows nothing of paths and methods.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Cursor, MediaId } from "./Ids.js"
import { maxPageSize, minPageSize } from "./Limits.js"
import { Stock } from "./Resources.js"

const pageSizeJson = { type: "integer", minimum: minPageSize, maximum: maxPageSize }

const pageSizeProblem = () => `must be a whole number from ${minPageSize} to ${maxPageSize}`

/**
 * Items a page is asked to hold, 1 to 100.
 *
 * @since 0.1.0
 * @category requests
 */
export const PageSize = Schema.Number.pipe(
  Schema.filter((size) => Number.isInteger(size) && size >= minPageSize && size <= maxPageSize, {
    jsonSchema: pageSizeJson,
    message: pageSizeProblem
  })
)

// A number's text may have a sign, spaces, an exponent or a base; an integer in a query is digits.
const Digits = Schema.String.pipe(Schema.pattern(/^\d+$/, { message: pageSizeProblem }))

const PageSizeFromString = Digits.pipe(
  Schema.compose(Schema.NumberFromString),
  Schema.compose(PageSize)
).annotations({ jsonSchema: pageSizeJson })

/**
 * A field that a caller may leave out, as absent or as `undefined`; neither is sent. A null in a received body counts as
 * left out as well.
 *
 * @since 0.1.0
 * @category combinators
 */
export const omittable = <S extends Schema.Schema.All>(
  schema: S
): Schema.optionalWith<S, { readonly nullable: true }> => Schema.optionalWith(schema, { nullable: true })

/**
 * The query of every list. Both parts are optional; the document doesn't show the default page size.
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 * @category requests
 */
export const PageQuery = Schema.Struct({
  limit: Schema.optional(PageSizeFromString),
  cursor: Schema.optional(Cursor)
})
/** @since 0.1.0 @category requests */
export interface PageQuery extends Schema.Schema.Type<typeof PageQuery> {}

/**
 * A post to create. The document doesn't say which of its fields are required.
 * Source: interface v1, "Endpoints", POST /posts and gaps.
 *
 * @since 0.1.0
 * @category requests
 */
export const NewPost = Schema.Struct({
  text: omittable(Schema.String),
  mediaIds: omittable(Schema.Array(MediaId))
}).annotations({ identifier: "NewPost" })
/** @since 0.1.0 @category requests */
export interface NewPost extends Schema.Schema.Type<typeof NewPost> {}

/** @since 0.1.0 @category requests */
export const NewComment = Schema.Struct({ text: Schema.String }).annotations({ identifier: "NewComment" })
/** @since 0.1.0 @category requests */
export interface NewComment extends Schema.Schema.Type<typeof NewComment> {}

/** @since 0.1.0 @category requests */
export const NewMessage = Schema.Struct({ text: Schema.String }).annotations({ identifier: "NewMessage" })
/** @since 0.1.0 @category requests */
export interface NewMessage extends Schema.Schema.Type<typeof NewMessage> {}

/** @since 0.1.0 @category requests */
export const StockUpdate = Schema.Struct({ stock: Stock }).annotations({ identifier: "StockUpdate" })
/** @since 0.1.0 @category requests */
export interface StockUpdate extends Schema.Schema.Type<typeof StockUpdate> {}

/** @since 0.1.0 @category requests */
export const NewShipment = Schema.Struct({
  carrier: Schema.String,
  trackingNumber: Schema.String
}).annotations({ identifier: "NewShipment" })
/** @since 0.1.0 @category requests */
export interface NewShipment extends Schema.Schema.Type<typeof NewShipment> {}

/**
 * The payload of a story. The document names the endpoint and shows nothing of what it takes, so any JSON object is
 * passed on as it is.
 * Source: interface v1, "Endpoints", gaps.
 *
 * @since 0.1.0
 * @category requests
 */
export const NewStory = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "NewStory"
})
/** @since 0.1.0 @category requests */
export type NewStory = typeof NewStory.Type

/**
 * The form of an upload: one file part named `file`, with a file name and a content type. How it is written and read
 * is up to the two sides, which both stream it.
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 * @category requests
 */
export const MediaUpload = Schema.Struct({
  file: Schema.Unknown.annotations({ jsonSchema: { type: "string", format: "binary" } })
})
