/**
 * Groups errors by HTTP status, also errors whose code the document doesn't list.
 *
 * Source: interface v1, "Errors", "A client treats an unknown code by the general meaning of its HTTP status".
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The category of an error.
 *
 * @since 0.1.0
 * @category models
 */
export const Category = Schema.Literal(
  "InvalidRequest",
  "Unauthenticated",
  "Forbidden",
  "NotFound",
  "Conflict",
  "TooLarge",
  "RateLimited",
  "ServiceFault"
)
/** @since 0.1.0 @category models */
export type Category = typeof Category.Type

const byStatus: Readonly<Record<number, Category>> = {
  401: "Unauthenticated",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  413: "TooLarge",
  429: "RateLimited"
}

/**
 * Returns the category of a status that isn't a success. An undocumented status below 500 is `InvalidRequest`. That includes
 * redirects, which show that the base URL is wrong.
 *
 * @since 0.1.0
 * @category models
 */
export const categoryOf = (status: number): Category => byStatus[status] ?? (status >= 500 ? "ServiceFault" : "InvalidRequest")
