/**
 * Whether the service may have carried out a failed call. The delivery records it on the failure, because the failure of the last
 * attempt alone doesn't show what became of the attempts before it. `FailureScope.mayHaveHappened` reads it.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import type { PlatformError } from "effect/PlatformError"
import type { Failure, Inconclusive } from "../../ClientError.ts"
import { isServiceError } from "../../ClientError.ts"

// Beside the failures, because a property would be a part of their equality.
const recorded = new WeakMap<object, boolean>()

/**
 * Whether the service may have carried out a request that ended with this undocumented status below 500.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isAmbiguousStatus = (status: number): boolean => (status >= 300 && status < 400) || status === 408

/** What a failure shows by itself, as the failure of the only attempt of a write. */
const byItself = (failure: Failure | Inconclusive | PlatformError): boolean =>
  isServiceError(failure)
    // A response without a code isn't an error envelope, so it comes from a proxy.
    ? failure.category === "ServiceFault" || isAmbiguousStatus(failure.status) || failure.code === undefined
    : failure._tag === "OutcomeUnknown" || failure._tag === "ConnectionLost" || failure._tag === "AttemptTimeout" ||
      failure._tag === "UnreadableSuccess"

/**
 * Whether the service may have carried out the call that ended with this failure.
 *
 * @since 0.1.0
 * @category predicates
 */
export const of = (failure: Failure | Inconclusive | PlatformError): boolean => recorded.get(failure) ?? byItself(failure)

/**
 * Records whether the service may have carried out the call that ends with this failure. Returns the failure.
 *
 * @since 0.1.0
 * @category recording
 */
export const record = <F extends object>(failure: F, mayHaveHappened: boolean): F => {
  recorded.set(failure, mayHaveHappened)
  return failure
}
