/**
 * What a status means in general, for code that doesn't care about the exact code of an error, and for codes that the
 * document doesn't list.
 *
 * Source: interface v1, "Errors", "A client treats an unknown code by the general meaning of its HTTP status".
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** @since 0.1.0 @category models */
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
 * The category of a status that isn't a success. A status below 500 without one of its own says that the request has
 * to be changed (a redirect, too: the base address is wrong).
 *
 * @since 0.1.0
 * @category models
 */
export const categoryOf = (status: number): Category =>
  byStatus[status] ?? (status >= 500 ? "ServiceFault" : "InvalidRequest")
