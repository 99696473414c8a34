/**
 * Whether the service may have carried out a failed call. The delivery records it on the failure, because the failure of the last
 * attempt alone doesn't show what became of the attempts before it. `FailureScope.mayHaveHappened` reads it.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as Predicate from "effect/Predicate"
import type { Failure, Inconclusive } from "../../ClientError.ts"
import { isServiceError } from "../../ClientError.ts"

// A symbol that isn't enumerable: no part of the failure's equality, JSON or log. Effect wraps failures in proxies, which pass it
// on; a `WeakMap` would not find them.
const key: unique symbol = Symbol.for("@plaza-legacy/client/mayHaveHappened")

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
export const of = (failure: Failure | Inconclusive | PlatformError): boolean => {
  const recorded: unknown = Predicate.hasProperty(failure, key) ? failure[key] : undefined
  return Predicate.isBoolean(recorded) ? recorded : byItself(failure)
}

/**
 * Records whether the service may have carried out the call that ends with this failure. Returns the failure.
 *
 * @since 0.1.0
 * @category recording
 */
export const record = <F extends object>(failure: F, mayHaveHappened: boolean): F => {
  Reflect.defineProperty(failure, key, { value: mayHaveHappened, configurable: true })
  return failure
}

/**
 * A failure of a call whose earlier attempt failed too: the service may have carried out either.
 *
 * @since 0.1.0
 * @category recording
 */
export const after = <F extends Failure>(earlier: Failure, failure: F): F => of(earlier) ? record(failure, true) : failure
