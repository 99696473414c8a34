/**
 * Everything a call can fail with beside the service's own errors, and how a program tells of it: each failure says in
 * one sentence what to do, and none ever holds the key. Knows nothing of how failures come about.
 *
 * @since 0.1.0
 */
import type { ServiceError } from "@plaza/domain/Errors"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Data from "effect/Data"

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
 * A write that may or may not have happened. It has not been sent again.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category errors
 */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{
  /** Attempts that were made, this one included. */
  readonly attempts: number
  readonly operation: string
  readonly message: string
  /** Why the outcome isn't known. */
  readonly cause: Failure | Inconclusive
}> {}

/**
 * The service did what was asked (it answered with a 2xx), but the answer can't be read. Never sent again.
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
  /** The beginning of what came. */
  readonly body: string
}> {}

/**
 * Waiting for a slot of the key's allowance would take longer than the caller's patience. Nothing was sent.
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
 * The service took a list's first page and then refused the cursor that it had given itself: too old, or its place is
 * gone. The list has to be read again from its beginning.
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

/**
 * Every failure of a call or a list.
 *
 * @since 0.1.0
 * @category models
 */
export type Failure = ServiceError | CallFailure | OutcomeUnknown | CursorRepeated | CursorRejected

/**
 * Whether the failure is an answer of the service.
 *
 * @since 0.1.0
 * @category guards
 */
export const isServiceError = (failure: Failure | InvalidSettings): failure is ServiceError => "category" in failure

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
 * permission, 5 conflict, 6 rate limit beyond patience, 7 service or network, 8 outcome unknown, 1 anything else.
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
      return 7
    case "RateLimitWaitExceeded":
      return 6
    // It happened, but a script that took this for a fault of the network would do it again.
    case "UnreadableSuccess":
    case "OutcomeUnknown":
      return 8
    case "CursorRepeated":
    case "CursorRejected":
      return 1
  }
}
