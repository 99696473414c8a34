/**
 * Schemas of request bodies and queries, as far as the document shows them.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Transformation from "effect/SchemaTransformation"
import { Cursor, MediaId } from "./Ids.ts"
import { maxPageSize, minPageSize } from "./Limits.ts"
import { optional, Stock } from "./Resources.ts"

const pageSizeProblem = `must be a whole number from ${minPageSize} to ${maxPageSize}`

/** The `limit` of a list. An integer in a query has digits only, without a sign, spaces, an exponent or another base. */
const PageSize = Schema.String.check(Schema.isPattern(/^\d+$/, { message: pageSizeProblem })).pipe(
  Schema.decodeTo(
    Schema.Number.check(
      Schema.isInt({ message: pageSizeProblem }),
      Schema.isBetween({ minimum: minPageSize, maximum: maxPageSize }, { message: pageSizeProblem })
    ),
    Transformation.numberFromString
  )
)

/** An optional text of a query. Absent and `undefined` mean the same, and neither is encoded. */
const inQuery = <S extends Schema.Constraint>(schema: S) =>
  Schema.optional(schema).pipe(Schema.decodeTo(
    Schema.optional(Schema.toType(schema)),
    Transformation.transformOptional<S["Type"] | undefined, S["Type"] | undefined>({
      decode: Option.filter(Predicate.isNotUndefined),
      encode: Option.filter(Predicate.isNotUndefined)
    })
  ))

/**
 * The query of every list. Both parameters are optional; the document doesn't show the default page size.
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 * @category requests
 */
export const PageQuery = Schema.Struct({
  limit: inQuery(PageSize),
  cursor: inQuery(Cursor)
})
/** @since 0.1.0 @category requests */
export interface PageQuery extends Schema.Struct.Type<typeof PageQuery.fields> {}

/**
 * The body of `POST /posts`. The document doesn't say which fields are required.
 * Source: interface v1, "Endpoints", POST /posts and gaps.
 *
 * @since 0.1.0
 * @category requests
 */
export const NewPost = Schema.Struct({
  text: optional(Schema.String),
  mediaIds: optional(Schema.Array(MediaId))
}).annotate({ identifier: "NewPost" })
/** @since 0.1.0 @category requests */
export interface NewPost extends Schema.Struct.Type<typeof NewPost.fields> {}

/**
 * The body of `POST /posts/{id}/comments`.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category requests
 */
export const NewComment = Schema.Struct({ text: Schema.String }).annotate({ identifier: "NewComment" })
/** @since 0.1.0 @category requests */
export interface NewComment extends Schema.Struct.Type<typeof NewComment.fields> {}

/**
 * The body of `POST /conversations/{id}/messages`.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category requests
 */
export const NewMessage = Schema.Struct({ text: Schema.String }).annotate({ identifier: "NewMessage" })
/** @since 0.1.0 @category requests */
export interface NewMessage extends Schema.Struct.Type<typeof NewMessage.fields> {}

/**
 * The body of `PATCH /store/products/{id}/stock`.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category requests
 */
export const StockUpdate = Schema.Struct({ stock: Stock }).annotate({ identifier: "StockUpdate" })
/** @since 0.1.0 @category requests */
export interface StockUpdate extends Schema.Struct.Type<typeof StockUpdate.fields> {}

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
}).annotate({ identifier: "NewShipment" })
/** @since 0.1.0 @category requests */
export interface NewShipment extends Schema.Struct.Type<typeof NewShipment.fields> {}

/**
 * The body of `POST /stories`. The document names the endpoint but doesn't show its payload, so any JSON object is sent
 * unchanged.
 * Source: interface v1, "Endpoints", gaps.
 *
 * @since 0.1.0
 * @category requests
 */
export const NewStory = Schema.Record(Schema.String, Schema.Unknown).annotate({
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
  file: Schema.String.annotate({ format: "binary" })
})
