/**
 * Classifies a failure by the other calls that it affects, for programs that send many items and decide after each failure whether to
 * continue.
 *
 * Source: interface v1, "Errors", "Retry rules" and "Limits".
 *
 * @since 0.1.0
 */
import { longestWait } from "@plaza/domain/ErrorResponse"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import { type Failure, type Inconclusive, isServiceError } from "./ClientError.ts"
import * as MayHaveHappened from "./internal/delivery/MayHaveHappened.ts"

/**
 * The scope of a failure:
 *
 * - `Item`: the item is invalid or unknown. The failure doesn't affect other items.
 * - `Refusal`: the service refuses the key, the account, the store or the item. The results of other items show which. `code` is
 *   the error code, or the status if the response had no code.
 * - `Service`: a fault of the service or the network. It affects all items if several items in a row fail with it.
 * - `RateLimit`: the service accepts no request for some time; see {@link waitOf}.
 *
 * @since 0.1.0
 * @category models
 */
export type FailureScope =
  | { readonly _tag: "Item" }
  | { readonly _tag: "Refusal"; readonly code: string }
  | { readonly _tag: "Service" }
  | { readonly _tag: "RateLimit" }

const item: FailureScope = { _tag: "Item" }
const service: FailureScope = { _tag: "Service" }
const rateLimit: FailureScope = { _tag: "RateLimit" }

/** The failure of the last attempt of a call with an unknown outcome. */
const causeOf = (failure: Failure | Inconclusive): Failure | Inconclusive => failure._tag === "OutcomeUnknown" ? failure.cause : failure

/**
 * Returns the scope of a failure. For an `OutcomeUnknown` it is the scope of its cause.
 *
 * @example
 * import { FailureScope, Store } from "@plaza/client"
 * import { ProductId } from "@plaza/domain"
 * import { Effect } from "effect"
 *
 * // Skips an item that the service refuses, and fails on any other failure.
 * const program = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("no-such-product"), 12)).pipe(
 *   Effect.catch((failure) =>
 *     FailureScope.of(failure)._tag === "Item" ? Effect.logWarning("item.skipped", failure) : Effect.fail(failure))
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (failure: Failure | Inconclusive): FailureScope => {
  const cause = causeOf(failure)
  switch (cause._tag) {
    case "NotFound":
    case "ValidationError":
    case "InvalidInput":
    case "CursorRejected":
    case "CursorRepeated":
    case "UnreadableItem":
      return item
    case "RateLimited":
    case "RateLimitWaitExceeded":
      return rateLimit
    case "ConnectionFailed":
    case "ConnectionLost":
    case "AttemptTimeout":
    case "UnreadableSuccess":
    case "ClientClosed":
    case "Inconclusive":
    case "OutcomeUnknown":
    case "InternalError":
      return service
    case "UnrecognizedError":
      if (cause.category === "RateLimited") {
        return rateLimit
      }
      // Status 408: the request did not arrive in time.
      return cause.category === "ServiceFault" || cause.status === 408
        ? service
        : { _tag: "Refusal", code: cause.code ?? String(cause.status) }
    case "InvalidJson":
    case "InvalidApiKey":
    case "InsufficientScope":
    case "DeveloperAccessRevoked":
    case "ProfileIncomplete":
    case "ChatNotAllowed":
    case "ChatBlocked":
    case "StoreBlocked":
    case "UserUnavailable":
    case "Forbidden":
    case "Conflict":
    case "PayloadTooLarge":
      return { _tag: "Refusal", code: cause.code }
  }
}

// These codes count with any status and at any endpoint, even where the contract doesn't list them.
const accountCodes: ReadonlySet<string | undefined> = new Set(["INVALID_API_KEY", "DEVELOPER_ACCESS_REVOKED", "PROFILE_INCOMPLETE"])

/**
 * Whether a failure shows that the service refuses every call of the account: status 401, or one of the codes `INVALID_API_KEY`,
 * `DEVELOPER_ACCESS_REVOKED` and `PROFILE_INCOMPLETE`. A missing scope doesn't, because other operations may require other scopes.
 * Source: interface v1, "Authentication".
 *
 * @since 0.1.0
 * @category predicates
 */
export const isAccountRefusal = (failure: Failure | Inconclusive): boolean => {
  const cause = causeOf(failure)
  return isServiceError(cause) && (cause.category === "Unauthenticated" || accountCodes.has(cause.code))
}

/**
 * Whether the service may have carried out a failed write, or may still carry it out. It is true after
 *
 * - an ambiguous failure: a 5xx, a redirect, a 408, a lost connection, a timeout, a success that can't be read;
 * - a 4xx, also a 429, without the error envelope of the document, which a proxy sent: it may have passed the request on;
 * - any failure, also a definite refusal or a rate limit, if an earlier attempt of the call failed in one of these ways;
 * - an unknown outcome.
 *
 * It is false if the client sent nothing, if the service refused every attempt, and for a read, which changes nothing. A failure that
 * a program creates itself counts as that of a write with one attempt.
 * Source: interface v1, "Errors" and "Retry rules".
 *
 * @since 0.1.0
 * @category predicates
 */
export const mayHaveHappened: (failure: Failure | PlatformError) => boolean = MayHaveHappened.of

// For a 429 without `Retry-After`. A minute is the documented window of the rate limit.
const defaultWait = Duration.minutes(1)

const bounded = Duration.clamp({ minimum: Duration.zero, maximum: longestWait })

/**
 * Returns how long to wait after a failure of scope `RateLimit`: the `Retry-After`, the time until the `retryAt` of a
 * `RateLimitWaitExceeded`, or else one minute. Never longer than a day.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category accessors
 */
export const waitOf = (failure: Failure | Inconclusive): Effect.Effect<Duration.Duration> => {
  const cause = causeOf(failure)
  if (cause._tag === "RateLimitWaitExceeded") {
    return Effect.map(DateTime.now, (now) => bounded(DateTime.distance(now, cause.retryAt)))
  }
  return Effect.succeed(bounded("retryAfter" in cause && cause.retryAfter !== undefined ? cause.retryAfter : defaultWait))
}
