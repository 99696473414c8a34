/**
 * The failures of calls in addition to the service's errors. Messages, bodies and causes don't contain the key; `Redaction` lists
 * the encodings that it recognises.
 *
 * @since 0.1.0
 */
import type { Category, ServiceError, UnrecognizedError } from "@plaza/domain/Errors"
import { Cursor } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/**
 * Whether a value is an error of the service. Narrows a union to the service's errors in it.
 *
 * @example
 * import { ClientError, Profiles } from "@plaza/client"
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

// Compares the tag alone, because a failure is made by this package.
const isFailure = (value: unknown): value is Failure | Inconclusive => Predicate.hasProperty(value, "_tag") && value instanceof Error

/**
 * An invalid argument. The client sent no request. Exception: an upload whose source changed between attempts.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  /** The invalid part, such as `text`, `id` or `mediaIds.0`; empty for the whole input. */
  field: Schema.String,
  message: Schema.String
}) {}

/**
 * The client had no connection for the request: unknown host, refused connection, untrusted certificate. The service did nothing.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionFailed extends Schema.TaggedError<ConnectionFailed>()("ConnectionFailed", {
  /** The number of attempts of the call. */
  attempts: Schema.Number,
  /** The system's code, such as `ECONNREFUSED`. */
  reason: Schema.String,
  /** The redacted error of the HTTP client. */
  cause: Schema.optionalKey(Schema.Unknown),
  message: Schema.String
}) {}

/**
 * The connection broke after the client may have sent the request. Only reads and repeatable writes fail with it; other writes
 * fail with {@link OutcomeUnknown}.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  /** The number of attempts of the call. */
  attempts: Schema.Number,
  /** The system's code, such as `ECONNRESET`; `CLOSED` if the client's layer was released. */
  reason: Schema.String,
  /** The redacted error of the HTTP client. */
  cause: Schema.optionalKey(Schema.Unknown),
  message: Schema.String
}) {}

/**
 * No complete response within the timeout of an attempt. Only reads and repeatable writes fail with it; other writes fail with
 * {@link OutcomeUnknown}.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category errors
 */
export class AttemptTimeout extends Schema.TaggedError<AttemptTimeout>()("AttemptTimeout", {
  /** The number of attempts of the call. */
  attempts: Schema.Number,
  timeout: Schema.Duration,
  message: Schema.String
}) {}

/**
 * The account's posts don't show whether a post was created. Only the cause of an {@link OutcomeUnknown}.
 *
 * @since 0.1.0
 * @category errors
 */
export class Inconclusive extends Schema.TaggedError<Inconclusive>()("Inconclusive", {
  message: Schema.String
}) {}

/**
 * The service may or may not have carried out a write. Check the result before you repeat it.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category errors
 */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  /** The number of attempts of the call. */
  attempts: Schema.Number,
  operation: Schema.String,
  /**
   * `"done"` if the last response shows that the write happened, but perhaps not by this call: an order is shipped, perhaps with
   * another carrier and tracking number.
   */
  likely: Schema.optionalKey(Schema.Literal("done")),
  message: Schema.String,
  /** Why the outcome is unknown. */
  cause: Schema.declare(isFailure)
}) {}

/**
 * A write with a 2xx response whose body can't be decoded or is an error envelope. Unless the body is an error, the write most
 * likely happened. The client doesn't repeat it after such a response.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableSuccess extends Schema.TaggedError<UnreadableSuccess>()("UnreadableSuccess", {
  /** The number of attempts of the call. */
  attempts: Schema.Number,
  operation: Schema.String,
  status: Schema.Number,
  message: Schema.String,
  /** The beginning of the body. */
  body: Schema.String
}) {}

/**
 * The wait for a slot of the key's allowance would be longer than the call's maximum wait. The client sends no further request
 * for the call.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category errors
 */
export class RateLimitWaitExceeded extends Schema.TaggedError<RateLimitWaitExceeded>()("RateLimitWaitExceeded", {
  /** The earliest time of a useful retry. */
  retryAt: Schema.DateTimeUtc,
  message: Schema.String
}) {}

/**
 * The layer of the client was released before the client sent the request. A request in flight at that moment fails with
 * {@link ConnectionLost} or {@link OutcomeUnknown} instead.
 *
 * @since 0.1.0
 * @category errors
 */
export class ClientClosed extends Schema.TaggedError<ClientClosed>()("ClientClosed", {
  message: Schema.String
}) {}

/**
 * A list returned the same cursor twice, so it might never end. The stream has emitted the items up to that cursor.
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 * @category errors
 */
export class CursorRepeated extends Schema.TaggedError<CursorRepeated>()("CursorRepeated", {
  operation: Schema.String,
  message: Schema.String
}) {}

/**
 * The service rejected a cursor as an invalid request or as not found, most likely because it expired. Read the list again from
 * its beginning.
 * Source: interface v1, "List behaviour", rule 6.
 *
 * @since 0.1.0
 * @category errors
 */
export class CursorRejected extends Schema.TaggedError<CursorRejected>()("CursorRejected", {
  operation: Schema.String,
  message: Schema.String,
  /** The error of the service. */
  cause: Schema.declare(isServiceError)
}) {}

/**
 * An item of a list can't be decoded. The stream has emitted the items before it.
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableItem extends Schema.TaggedError<UnreadableItem>()("UnreadableItem", {
  operation: Schema.String,
  /** The number of the item's page, from 1. */
  page: Schema.Number,
  /** The item's position on its page, from 1. */
  position: Schema.Number,
  /** The cursor of the item's page; undefined for the first page. */
  cursor: Schema.UndefinedOr(Cursor),
  /** The cursor of the next page, to continue from; null on the last page. */
  nextCursor: Schema.NullOr(Cursor),
  message: Schema.String
}) {}

/**
 * An invalid setting, when a layer is built.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidSettings extends Schema.TaggedError<InvalidSettings>()("InvalidSettings", {
  /** The option's name, such as `baseUrl`. */
  setting: Schema.String,
  message: Schema.String
}) {}

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
 * Returns the category of any failure: that of the status for an error of the service, whatever its code, and the corresponding one for
 * a failure of the client. For an `OutcomeUnknown` it is the category of its cause.
 *
 * The category says why a call failed. Ask first whether it may have happened all the same: `FailureScope.mayHaveHappened`.
 * Source: interface v1, "Errors", "A client treats an unknown code by the general meaning of its HTTP status".
 *
 * @example
 * import { ClientError, FailureScope, Store } from "@plaza/client"
 * import { ProductId } from "@plaza/domain"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("no-such-product"), 12)).pipe(
 *   Effect.mapError((failure) => FailureScope.mayHaveHappened(failure) ? "unknown" : ClientError.categoryOf(failure)),
 *   Effect.flip
 * )
 * // => "NotFound"
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
 * import { ClientError, Posts } from "@plaza/client"
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
  return self.pipe(Effect.catch(
    (failure): Effect.Effect<A2, E2 | Exclude<E, DocumentedOf<E, C>>, R2> =>
      isServiceError(failure) && categories.includes(failure.category)
        // True because a service error with this category is a documented error of the category or an UnrecognizedError.
        ? handler(failure as OfCategory<E, C>)
        // True because the type excludes only documented errors of the category, and those are handled above.
        : Effect.fail(failure as Exclude<E, DocumentedOf<E, C>>)
  ))
})
