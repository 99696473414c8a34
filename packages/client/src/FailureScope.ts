/**
 * Which other calls a failure affects, for programs that send many items and decide after each failure whether to continue.
 *
 * Source: interface v1, "Errors", "Retry rules" and "Limits".
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Failure, type Inconclusive, isServiceError } from "./ClientError.js"
import { isOpenStatus } from "./internal/delivery/Delivery.js"

/**
 * - `Item`: the item itself is wrong or unknown; other items are not affected.
 * - `Refusal`: the key, the account, the store or the item. Only other items show which: one that is accepted, or several that
 *   are refused with the same code.
 * - `Service`: a fault of the service or of the network. Failures of several items in a row show that it affects all items.
 * - `RateLimit`: no request is accepted for some time.
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

/** The failure of the last attempt. */
const causeOf = (failure: Failure | Inconclusive): Failure | Inconclusive => failure._tag === "OutcomeUnknown" ? failure.cause : failure

/**
 * The scope of a failure.
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
      if (cause.category === "RateLimited") return rateLimit
      // A 408 is a request that did not arrive in time.
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

// Also with a status or an endpoint for which the contract does not list them.
const accountCodes: ReadonlySet<string | undefined> = new Set(["INVALID_API_KEY", "DEVELOPER_ACCESS_REVOKED", "PROFILE_INCOMPLETE"])

/**
 * Whether a response to any operation, such as `GET /me`, shows that the service refuses the account as a whole. A missing scope
 * does not, because another operation may need another scope.
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
 * Whether the service may have carried out the call, now or later.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category predicates
 */
export const mayHaveHappened = (failure: Failure): boolean =>
  isServiceError(failure)
    ? failure.category === "ServiceFault" || isOpenStatus(failure.status)
    : failure._tag === "OutcomeUnknown" || failure._tag === "ConnectionLost" || failure._tag === "AttemptTimeout" ||
      failure._tag === "UnreadableSuccess"

// For a 429 without Retry-After: the shortest documented period.
const defaultWait = Duration.minutes(1)

/**
 * How long to wait after a failure of scope `RateLimit`: the `Retry-After`, the rest of a known wait, or a minute.
 *
 * @since 0.1.0
 * @category accessors
 */
export const waitOf = (failure: Failure | Inconclusive): Effect.Effect<Duration.Duration> => {
  const cause = causeOf(failure)
  if (cause._tag === "RateLimitWaitExceeded") {
    return Effect.map(DateTime.now, (now) => Duration.millis(Math.max(0, DateTime.distance(now, cause.retryAt))))
  }
  return Effect.succeed("retryAfter" in cause && cause.retryAfter !== undefined ? cause.retryAfter : defaultWait)
}
