/**
 * Schemas of request bodies and queries, as far as the document shows them.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Cursor, MediaId } from "./Ids.ts"
import { maxPageSize, minPageSize } from "./Limits.ts"
import { Stock } from "./Resources.ts"

const pageSizeJson = { type: "integer", minimum: minPageSize, maximum: maxPageSize }

const pageSizeProblem = () => `must be a whole number from ${minPageSize} to ${maxPageSize}`

/**
 * The `limit` of a list: items of a page, 1 to 100.
 * Source: interface v1, "Limits".
 */
const PageSize = Schema.Number.pipe(
  Schema.filter((size) => Number.isInteger(size) && size >= minPageSize && size <= maxPageSize, {
    jsonSchema: pageSizeJson,
    message: pageSizeProblem
  })
)

// `NumberFromString` also accepts signs, spaces, exponents and other bases. An integer in a query has digits only.
const Digits = Schema.String.pipe(Schema.pattern(/^\d+$/, { message: pageSizeProblem }))

const PageSizeFromString = Digits.pipe(
  Schema.compose(Schema.NumberFromString),
  Schema.compose(PageSize)
).annotations({ jsonSchema: pageSizeJson })

/**
 * An optional field of a request. Absent and `undefined` mean the same and are not encoded. A null in a received body
 * decodes as absent.
 */
const omittable = <S extends Schema.Schema.All>(
  schema: S
): Schema.optionalWith<S, { readonly nullable: true }> => Schema.optionalWith(schema, { nullable: true })

/**
 * The query of every list. Both parameters are optional; the document doesn't show the default page size.
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
 * The body of `POST /posts`. The document doesn't say which fields are required.
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

/**
 * The body of `POST /posts/{id}/comments`.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category requests
 */
export const NewComment = Schema.Struct({ text: Schema.String }).annotations({ identifier: "NewComment" })
/** @since 0.1.0 @category requests */
export interface NewComment extends Schema.Schema.Type<typeof NewComment> {}

/**
 * The body of `POST /conversations/{id}/messages`.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category requests
 */
export const NewMessage = Schema.Struct({ text: Schema.String }).annotations({ identifier: "NewMessage" })
/** @since 0.1.0 @category requests */
export interface NewMessage extends Schema.Schema.Type<typeof NewMessage> {}

/**
 * The body of `PATCH /store/products/{id}/stock`.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category requests
 */
export const StockUpdate = Schema.Struct({ stock: Stock }).annotations({ identifier: "StockUpdate" })
/** @since 0.1.0 @category requests */
export interface StockUpdate extends Schema.Schema.Type<typeof StockUpdate> {}

/**
 * The body of `POST /store/orders/{id}/ship`.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category requests
 */
export const NewShipment = Schema.Struct({
  carrier: Schema.String,
  trackingNumber: Schema.String
}).annotations({ identifier: "NewShipment" })
/** @since 0.1.0 @category requests */
export interface NewShipment extends Schema.Schema.Type<typeof NewShipment> {}

/**
 * The body of `POST /stories`. The document names the endpoint but doesn't show its payload, so any JSON object is sent
 * unchanged.
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
 * The multipart body of an upload: one part named `file`, with a file name and a content type. The client and the sandbox
 * stream the file.
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 * @category requests
 */
export const MediaUpload = Schema.Struct({
  file: Schema.Unknown.annotations({ jsonSchema: { type: "string", format: "binary" } })
})
