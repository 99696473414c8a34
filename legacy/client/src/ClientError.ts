/**
 * The failures of calls in addition to the service's errors. Messages, bodies and causes don't contain the key; `Redaction` lists
 * the encodings that it recognises.
 *
 * @since 0.1.0
 */
import type { Category } from "@plaza-legacy/domain/Category"
import type { ServiceError, UnrecognizedError } from "@plaza-legacy/domain/Errors"
import type { Cursor } from "@plaza-legacy/domain/Ids"
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"

/**
 * An invalid argument. The client sent no request. Exception: an upload whose source changed between attempts.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidInput extends Data.TaggedError("InvalidInput")<{
  /** The invalid part, such as `text`, `id` or `mediaIds.0`; empty for the whole input. */
  readonly field: string
  readonly message: string
}> {}

/**
 * The client had no connection for the request: unknown host, refused connection, untrusted certificate. The service did nothing.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<{
  /** The number of attempts of the call. */
  readonly attempts: number
  /** The system's code, such as `ECONNREFUSED`. */
  readonly reason: string
  /** The redacted error of the HTTP client. */
  readonly cause?: unknown
  readonly message: string
}> {}

/**
 * The connection broke after the client may have sent the request. Only reads and repeatable writes fail with it; other writes
 * fail with {@link OutcomeUnknown}.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionLost extends Data.TaggedError("ConnectionLost")<{
  /** The number of attempts of the call. */
  readonly attempts: number
  /** The system's code, such as `ECONNRESET`; `CLOSED` if the client's layer was released. */
  readonly reason: string
  /** The redacted error of the HTTP client. */
  readonly cause?: unknown
  readonly message: string
}> {}

/**
 * No complete response within the timeout of an attempt. Only reads and repeatable writes fail with it; other writes fail with
 * {@link OutcomeUnknown}.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category errors
 */
export class AttemptTimeout extends Data.TaggedError("AttemptTimeout")<{
  /** The number of attempts of the call. */
  readonly attempts: number
  readonly timeout: Duration.Duration
  readonly message: string
}> {}

/**
 * The account's posts don't show whether a post was created. Only the cause of an {@link OutcomeUnknown}.
 *
 * @since 0.1.0
 * @category errors
 */
export class Inconclusive extends Data.TaggedError("Inconclusive")<{
  readonly message: string
}> {}

/**
 * The service may or may not have carried out a write. Check the result before you repeat it.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category errors
 */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{
  /** The number of attempts of the call. */
  readonly attempts: number
  readonly operation: string
  /**
   * `"done"` if the last response shows that the write happened, but perhaps not by this call: an order is shipped, perhaps with
   * another carrier and tracking number.
   */
  readonly likely?: "done"
  readonly message: string
  /** Why the outcome is unknown. */
  readonly cause: Failure | Inconclusive
}> {}

/**
 * A write with a 2xx response whose body can't be decoded or is an error envelope. Unless the body is an error, the write most
 * likely happened. The client doesn't repeat it after such a response.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableSuccess extends Data.TaggedError("UnreadableSuccess")<{
  /** The number of attempts of the call. */
  readonly attempts: number
  readonly operation: string
  readonly status: number
  readonly message: string
  /** The beginning of the body. */
  readonly body: string
}> {}

/**
 * The wait for a slot of the key's allowance would be longer than the call's maximum wait. The client sends no further request
 * for the call.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category errors
 */
export class RateLimitWaitExceeded extends Data.TaggedError("RateLimitWaitExceeded")<{
  /** The earliest time of a useful retry. */
  readonly retryAt: DateTime.Utc
  readonly message: string
}> {}

/**
 * The layer of the client was released before the client sent the request. A request in flight at that moment fails with
 * {@link ConnectionLost} or {@link OutcomeUnknown} instead.
 *
 * @since 0.1.0
 * @category errors
 */
export class ClientClosed extends Data.TaggedError("ClientClosed")<{
  readonly message: string
}> {}

/**
 * A list returned the same cursor twice, so it might never end. The stream has emitted the items up to that cursor.
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 * @category errors
 */
export class CursorRepeated extends Data.TaggedError("CursorRepeated")<{
  readonly operation: string
  readonly message: string
}> {}

/**
 * The service rejected a cursor as an invalid request or as not found, most likely because it expired. Read the list again from
 * its beginning.
 * Source: interface v1, "List behaviour", rule 6.
 *
 * @since 0.1.0
 * @category errors
 */
export class CursorRejected extends Data.TaggedError("CursorRejected")<{
  readonly operation: string
  readonly message: string
  /** The error of the service. */
  readonly cause: ServiceError
}> {}

/**
 * An item of a list can't be decoded. The stream has emitted the items before it.
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableItem extends Data.TaggedError("UnreadableItem")<{
  readonly operation: string
  /** The number of the item's page, from 1. */
  readonly page: number
  /** The item's position on its page, from 1. */
  readonly position: number
  /** The cursor of the item's page; undefined for the first page. */
  readonly cursor: Cursor | undefined
  /** The cursor of the next page, to continue from; null on the last page. */
  readonly nextCursor: Cursor | null
  readonly message: string
}> {}

/**
 * An invalid setting, when a layer is built.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidSettings extends Data.TaggedError("InvalidSettings")<{
  /** The option's name, such as `baseUrl`. */
  readonly setting: string
  readonly message: string
}> {}

/**
 * The failures of one attempt.
 *
 * @since 0.1.0
 * @category models
 */
export type AttemptFailure =
  | ServiceError
  | ConnectionFailed
  | ConnectionLost
  | AttemptTimeout
  | UnreadableSuccess
  | RateLimitWaitExceeded
  | ClientClosed

/**
 * The failures of any call, whatever the endpoint.
 *
 * @since 0.1.0
 * @category models
 */
export type CallFailure =
  | InvalidInput
  | ConnectionFailed
  | ConnectionLost
  | AttemptTimeout
  | UnreadableSuccess
  | RateLimitWaitExceeded
  | ClientClosed

/**
 * Every failure of a call or a list.
 *
 * @since 0.1.0
 * @category models
 */
export type Failure = ServiceError | CallFailure | OutcomeUnknown | CursorRepeated | CursorRejected | UnreadableItem

/**
 * Whether a value is an error of the service. Narrows a union to the service's errors in it.
 *
 * @example
 * import { ClientError, Profiles } from "@plaza-legacy/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Profiles, ({ me }) => me).pipe(
 *   Effect.tapError((failure) =>
 *     ClientError.isServiceError(failure) ? Effect.logError(failure.code, failure.requestId) : Effect.void)
 * )
 *
 * @since 0.1.0
 * @category guards
 */
// Compares the structure, because importing the classes would load every schema of the domain.
export const isServiceError = (failure: unknown): failure is ServiceError =>
  Predicate.hasProperty(failure, "_tag") && Predicate.hasProperty(failure, "category") &&
  Predicate.hasProperty(failure, "status") && Predicate.hasProperty(failure, "details")

/**
 * Returns the category of any failure: that of the status for an error of the service, whatever its code, and the corresponding one for
 * a failure of the client. For an `OutcomeUnknown` it is the category of its cause.
 *
 * The category says why a call failed. Ask first whether it may have happened all the same: `FailureScope.mayHaveHappened`.
 * Source: interface v1, "Errors", "A client treats an unknown code by the general meaning of its HTTP status".
 *
 * @example
 * import { ClientError, FailureScope, Store } from "@plaza-legacy/client"
 * import { ProductId } from "@plaza-legacy/domain"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("cap-red-l"), 12)).pipe(
 *   Effect.mapError((failure) => FailureScope.mayHaveHappened(failure) ? "unknown" : ClientError.categoryOf(failure))
 * )
 *
 * @since 0.1.0
 * @category classification
 */
export const categoryOf = (failure: Failure | Inconclusive): Category => {
  if (isServiceError(failure)) {
    return failure.category
  }
  switch (failure._tag) {
    case "InvalidInput":
    case "CursorRejected":
      return "InvalidRequest"
    case "RateLimitWaitExceeded":
      return "RateLimited"
    case "ConnectionFailed":
    case "ConnectionLost":
    case "AttemptTimeout":
    case "UnreadableSuccess":
    case "ClientClosed":
    case "CursorRepeated":
    case "UnreadableItem":
    case "Inconclusive":
      return "ServiceFault"
    case "OutcomeUnknown":
      return categoryOf(failure.cause)
  }
}

/** The category of each documented status. */
interface CategoryOfStatus {
  readonly 400: "InvalidRequest"
  readonly 401: "Unauthenticated"
  readonly 403: "Forbidden"
  readonly 404: "NotFound"
  readonly 409: "Conflict"
  readonly 413: "TooLarge"
  readonly 429: "RateLimited"
  readonly 500: "ServiceFault"
}

/**
 * The documented errors of a union that belong to a category.
 *
 * @since 0.1.0
 * @category models
 */
export type DocumentedOf<E, C extends Category> = E extends
  { readonly category: Category; readonly status: infer Status extends keyof CategoryOfStatus }
  ? CategoryOfStatus[Status] extends C ? E : never
  : never

/**
 * The errors that {@link catchCategory} handles: the documented errors of the category, and `UnrecognizedError`, which has the
 * category of its status.
 *
 * @since 0.1.0
 * @category models
 */
export type OfCategory<E, C extends Category> = DocumentedOf<E, C> | Extract<E, UnrecognizedError>

/**
 * Handles the service's errors of one or more categories. Other failures stay in the error type. `UnrecognizedError` stays too,
 * because it may have any category. A refusal can follow an attempt that was carried out, so handle
 * `FailureScope.mayHaveHappened` before it.
 * Source: interface v1, "Errors".
 *
 * @example
 * import { ClientError, Posts } from "@plaza-legacy/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Posts, ({ create }) => create({ text: "Hello" })).pipe(
 *   ClientError.catchCategory(["RateLimited", "ServiceFault"], (failure) => Effect.logWarning("posts.create_failed", failure.code))
 * )
 *
 * @since 0.1.0
 * @category handling
 */
export const catchCategory: {
  <E, const C extends Category, A2, E2, R2>(
    category: C | ReadonlyArray<C>,
    handler: (failure: OfCategory<E, C>) => Effect.Effect<A2, E2, R2>
  ): <A, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A | A2, E2 | Exclude<E, DocumentedOf<E, C>>, R | R2>
  <A, E, R, const C extends Category, A2, E2, R2>(
    self: Effect.Effect<A, E, R>,
    category: C | ReadonlyArray<C>,
    handler: (failure: OfCategory<E, C>) => Effect.Effect<A2, E2, R2>
  ): Effect.Effect<A | A2, E2 | Exclude<E, DocumentedOf<E, C>>, R | R2>
} = dual(3, <A, E, R, C extends Category, A2, E2, R2>(
  self: Effect.Effect<A, E, R>,
  category: C | ReadonlyArray<C>,
  handler: (failure: OfCategory<E, C>) => Effect.Effect<A2, E2, R2>
): Effect.Effect<A | A2, E2 | Exclude<E, DocumentedOf<E, C>>, R | R2> => {
  const categories: ReadonlyArray<Category> = typeof category === "string" ? [category] : category
  return Effect.catchAll(self,
    (failure): Effect.Effect<A2, E2 | Exclude<E, DocumentedOf<E, C>>, R2> =>
      isServiceError(failure) && categories.includes(failure.category)
        // True because a service error with this category is a documented error of the category or an UnrecognizedError.
        ? handler(failure as OfCategory<E, C>)
        // True because the type excludes only documented errors of the category, and those are handled above.
        : Effect.fail(failure as Exclude<E, DocumentedOf<E, C>>))
})
