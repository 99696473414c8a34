/**
 * The failures of calls beside the service's own errors. Each has a message that says what to do. The key is removed from
 * what the service echoes; `Redaction` names the encodings that it recognises.
 *
 * @since 0.1.0
 */
import type { Category } from "@plaza/domain/Category"
import type { ServiceError, UnrecognizedError } from "@plaza/domain/Errors"
import type { Cursor } from "@plaza/domain/Ids"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"

/**
 * Refused here, before anything was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidInput extends Data.TaggedError("InvalidInput")<{
  /** The part that is wrong, as `text`, `id` or `mediaIds.0`; empty when it is the whole. */
  readonly field: string
  readonly message: string
}> {}

/**
 * The request never reached the service: unknown host, connection refused, no trust in its certificate. Nothing
 * happened there.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<{
  /** Attempts that were made, this one included. */
  readonly attempts: number
  /** The system's code, such as `ECONNREFUSED`. */
  readonly reason: string
  /** What the HTTP client failed with. */
  readonly cause?: unknown
  readonly message: string
}> {}

/**
 * The connection broke after the request may have left. Only seen where sending again is harmless: a write that isn't
 * ends in {@link OutcomeUnknown}.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionLost extends Data.TaggedError("ConnectionLost")<{
  /** Attempts that were made, this one included. */
  readonly attempts: number
  readonly reason: string
  /** What the HTTP client failed with. */
  readonly cause?: unknown
  readonly message: string
}> {}

/**
 * No whole answer within the time of one attempt. Only seen where sending again is harmless.
 *
 * @since 0.1.0
 * @category errors
 */
export class AttemptTimeout extends Data.TaggedError("AttemptTimeout")<{
  /** Attempts that were made, this one included. */
  readonly attempts: number
  readonly timeout: Duration.Duration
  readonly message: string
}> {}

/**
 * Whether a write happened was looked up, and can't be told. Only seen as the cause of an {@link OutcomeUnknown}.
 *
 * @since 0.1.0
 * @category errors
 */
export class Inconclusive extends Data.TaggedError("Inconclusive")<{
  readonly message: string
}> {}

/**
 * A write that may or may not have happened. Check before doing it again.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category errors
 */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{
  /** Attempts that were made, this one included. */
  readonly attempts: number
  readonly operation: string
  /**
   * `"done"` where the service's last response suggests that it happened, but not that this call did it: an order that is
   * shipped, perhaps with another carrier and tracking number.
   */
  readonly likely?: "done"
  readonly message: string
  /** Why the outcome is unknown. */
  readonly cause: Failure | Inconclusive
}> {}

/**
 * A write to which the service responded with a 2xx, but with a body that can't be read or that is an error. Without an error in
 * it the write most likely happened. The client did not send it again after that response.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableSuccess extends Data.TaggedError("UnreadableSuccess")<{
  /** Attempts that were made, this one included. */
  readonly attempts: number
  readonly operation: string
  readonly status: number
  readonly message: string
  /** The beginning of the body. */
  readonly body: string
}> {}

/**
 * Waiting for a slot of the key's allowance would take longer than the caller's maximum wait. No request was sent after that.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category errors
 */
export class RateLimitWaitExceeded extends Data.TaggedError("RateLimitWaitExceeded")<{
  /** The earliest moment at which it makes sense to come back. */
  readonly retryAt: DateTime.Utc
  readonly message: string
}> {}

/**
 * The layer that the call goes through was released before its request was sent. A request that was in flight at that
 * moment ends in {@link ConnectionLost} instead.
 *
 * @since 0.1.0
 * @category errors
 */
export class ClientClosed extends Data.TaggedError("ClientClosed")<{
  readonly message: string
}> {}

/**
 * A list gave the same cursor twice and would never end.
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
 * The service refused a page that was asked for with a cursor, as an invalid request or as not found: the cursor is too
 * old, or its place is gone. Read the list again from its beginning.
 * Source: interface v1, "List behaviour", rule 6.
 *
 * @since 0.1.0
 * @category errors
 */
export class CursorRejected extends Data.TaggedError("CursorRejected")<{
  readonly operation: string
  readonly message: string
  /** The refusal. */
  readonly cause: ServiceError
}> {}

/**
 * An item of a list doesn't have the documented form. The items before it have been emitted.
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 * @category errors
 */
export class UnreadableItem extends Data.TaggedError("UnreadableItem")<{
  readonly operation: string
  /** The page that holds the item, counted from 1. */
  readonly page: number
  /** The item's position on its page, counted from 1. */
  readonly position: number
  /** The cursor that its page was read with; undefined for the first page. */
  readonly cursor: Cursor | undefined
  /** The cursor of the page after it, to continue from; null on the last page. */
  readonly nextCursor: Cursor | null
  readonly message: string
}> {}

/**
 * A setting that can't be used, from the construction of a layer.
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
 * What one attempt to send can end in, beside success.
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
 * What any call may fail with, whatever the endpoint.
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
 * Whether a value is an error that the service answered with. Narrows any union to the service's errors in it.
 *
 * @since 0.1.0
 * @category guards
 */
// By structure: loading the classes would load every schema of the domain.
export const isServiceError = (failure: unknown): failure is ServiceError =>
  Predicate.hasProperty(failure, "_tag") && Predicate.hasProperty(failure, "category") &&
  Predicate.hasProperty(failure, "status") && Predicate.hasProperty(failure, "details")

/** The category of each documented status, for the types. */
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
 * What {@link catchCategory} gives to its handler: the documented errors of the category, and `UnrecognizedError`, which
 * belongs to the category of its status.
 *
 * @since 0.1.0
 * @category models
 */
export type OfCategory<E, C extends Category> = DocumentedOf<E, C> | Extract<E, UnrecognizedError>

/**
 * Handles the service's errors of one or more categories. Other failures stay in the error type, and so does
 * `UnrecognizedError`, which may belong to any category.
 *
 * @example
 * import { Failures, Posts } from "@plaza/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Posts, ({ create }) => create({ text: "Hello" })).pipe(
 *   Failures.catchCategory(["RateLimited", "ServiceFault"], (failure) => Effect.logWarning("try later", failure.code))
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
  return Effect.catchAll(self, (failure): Effect.Effect<A2, E2 | Exclude<E, DocumentedOf<E, C>>, R2> =>
    isServiceError(failure) && categories.includes(failure.category)
      // A member of E that is a service error of the category: a documented one has the category of its status.
      ? handler(failure as OfCategory<E, C>)
      // Not a service error of the category, so not one of those that the type excludes.
      : Effect.fail(failure as Exclude<E, DocumentedOf<E, C>>))
})

/**
 * The status that a command-line program ends with. 0 and 130 stand for what isn't a failure: done, and interrupted.
 *
 * @since 0.1.0
 * @category models
 */
export type ExitCode = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

const byCategory: Readonly<Record<ServiceError["category"], ExitCode>> = {
  InvalidRequest: 2,
  Unauthenticated: 4,
  Forbidden: 4,
  NotFound: 3,
  Conflict: 5,
  TooLarge: 2,
  RateLimited: 6,
  ServiceFault: 7
}

/**
 * The exit status by which a script can tell failures apart: 2 input, 3 not found, 4 key, scope, access, profile or
 * permission, 5 conflict, 6 rate limit beyond the maximum wait, 7 service or network, 8 outcome unknown, 1 anything else.
 *
 * @since 0.1.0
 * @category reporting
 */
export const exitCode = (failure: Failure | InvalidSettings): ExitCode => {
  if (isServiceError(failure)) {
    return byCategory[failure.category]
  }
  switch (failure._tag) {
    case "InvalidInput":
    case "InvalidSettings":
      return 2
    case "ConnectionFailed":
    case "ConnectionLost":
    case "AttemptTimeout":
    case "UnreadableItem":
      return 7
    case "RateLimitWaitExceeded":
      return 6
    // It happened, but a script that took this for a fault of the network would do it again.
    case "UnreadableSuccess":
    case "OutcomeUnknown":
      return 8
    case "ClientClosed":
    case "CursorRepeated":
    case "CursorRejected":
      return 1
  }
}
