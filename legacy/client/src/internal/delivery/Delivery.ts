/**
 * The delivery rules: which failures lead to another attempt, and which calls end with an unknown outcome. The rules depend only on
 * the delivery class, not on the operation.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import type { DeliveryClass } from "@plaza-legacy/domain/Delivery"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"
import type { AttemptFailure, Failure, Inconclusive } from "../../ClientError.ts"
import { isServiceError, OutcomeUnknown } from "../../ClientError.ts"
import * as Metrics from "../../Metrics.ts"
import { driver } from "../Compat.ts"
import * as MayHaveHappened from "./MayHaveHappened.ts"

/**
 * How a `Checkable` operation checks whether an attempt succeeded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Check<A> {
  /**
   * Searches for the result of an attempt after its ambiguous failure. Returns the result, or `none` if the attempt had no effect.
   * Fails if the search doesn't decide that. It may wait for a late effect.
   */
  readonly lookUp?: Effect.Effect<Option.Option<A>, Failure | Inconclusive>
  /** Whether this error response to a later attempt suggests that an earlier attempt succeeded. */
  readonly suggestsDone?: (failure: AttemptFailure) => boolean
}

/** @since 0.1.0 @category models */
export interface Delivery<A> {
  readonly operation: string
  readonly delivery: DeliveryClass
  readonly retry: Schedule.Schedule<unknown, AttemptFailure>
  /** For `Checkable` operations. */
  readonly check?: Check<A> | undefined
}

/**
 * - `retryable`: the service did nothing, and another attempt may succeed.
 * - `ambiguous`: the service may have carried out the request.
 * - `final`: another attempt can't succeed.
 */
type Classification = "retryable" | "ambiguous" | "final"

type Outcome<A> = Effect.Effect<A, AttemptFailure | OutcomeUnknown>

const classify = (failure: AttemptFailure, delivery: DeliveryClass): Classification => {
  if (isServiceError(failure)) {
    if (delivery === "Read" ? failure.status === 408 : MayHaveHappened.isAmbiguousStatus(failure.status)) {
      return "ambiguous"
    }
    // `RateLimitedAttempt` retries after a 429. A 429 here is beyond the maximum wait, or a proxy's to a write that can't be repeated.
    if (failure.category === "RateLimited") {
      return delivery === "Checkable" && MayHaveHappened.of(failure) ? "ambiguous" : "final"
    }
    return failure.category === "ServiceFault" ? "ambiguous" : "final"
  }
  switch (failure._tag) {
    case "ConnectionFailed":
      return "retryable"
    case "ConnectionLost":
    case "AttemptTimeout":
      return "ambiguous"
    case "RateLimitWaitExceeded":
    case "ClientClosed":
    case "UnreadableSuccess":
      return "final"
  }
}

/**
 * Whether the service may still process the request, for an unknown time, because the client or a gateway timed out. Gateways report
 * that with a status of 504 or above.
 */
const mayStillRun = (failure: AttemptFailure): boolean =>
  failure._tag === "AttemptTimeout" || (isServiceError(failure) && failure.status >= 504)

/** Whether the client's layer was released, so that no other attempt can follow. */
const isClosed = (failure: AttemptFailure): boolean => failure._tag === "ConnectionLost" && failure.reason === "CLOSED"

/** Whether the caller may repeat a `Repeatable` write after this failure: any but those of a client that reaches no service. */
const isReportedIfRepeatable = ({ _tag }: AttemptFailure): boolean => _tag !== "ConnectionFailed" && _tag !== "ClientClosed"

/**
 * Runs attempts, numbered from 1, until an attempt succeeds or the rules end the call.
 *
 * @since 0.1.0
 * @category delivery
 */
export const deliver = <A>(
  attempt: (number: number) => Effect.Effect<A, AttemptFailure>,
  options: Delivery<A>
): Outcome<A> => Effect.catchAll(attempt(1), (failure) => retry(failure, attempt, options))

/** Continues a call after its first attempt failed. */
const retry = <A>(
  first: AttemptFailure,
  attempt: (number: number) => Effect.Effect<A, AttemptFailure>,
  options: Delivery<A>
): Outcome<A> =>
  Effect.flatMap(driver(options.retry), (next) => {
    const { check, delivery, operation } = options
    let attempts = 1
    /** Whether any attempt so far had an ambiguous failure. */
    let mayHaveSucceeded = false
    /** Whether the service may have carried out any attempt so far, a refused one of a proxy included. */
    let mayHaveHappened = false
    let lastErrorResponse: AttemptFailure | undefined

    const unknown = (cause: Failure | Inconclusive, likely?: "done") =>
      new OutcomeUnknown({
        operation,
        attempts,
        ...(likely === undefined ? {} : { likely }),
        message: likely === "done"
          ? `${operation} most likely succeeded, by this call or another one (${cause.message}); check the result before you repeat it`
          : `${operation} may or may not have succeeded (${cause.message}); check the result before you repeat it`,
        cause
      })

    /**
     * Fails with the last failure, or with `OutcomeUnknown` if an earlier attempt may have succeeded. A repeatable write fails with
     * any response or wait all the same, because the caller can repeat it safely later. The failure says whether any attempt may have
     * happened.
     */
    const end = (last: AttemptFailure): Outcome<A> => {
      // If the wait is too long, the error response that caused it says more, such as a 503 with a long `Retry-After`.
      const failure = last._tag === "RateLimitWaitExceeded" && lastErrorResponse !== undefined ? lastErrorResponse : last
      const isReported = !mayHaveSucceeded || delivery === "Read" || failure._tag === "UnreadableSuccess" ||
        (delivery === "Repeatable" && isReportedIfRepeatable(failure))
      return Effect.fail(
        isReported
          // A read changes nothing.
          ? MayHaveHappened.record(failure, mayHaveHappened && delivery !== "Read")
          : unknown(failure, check?.suggestsDone?.(failure) === true ? "done" : undefined)
      )
    }

    const run: Outcome<A> = Effect.suspend(() => {
      attempts++
      return Effect.catchAll(attempt(attempts), after)
    })

    const retryAfterDelay = (failure: AttemptFailure): Outcome<A> =>
      Effect.flatMap(next(failure), (recurs) =>
        recurs
          ? Effect.logDebug("retry").pipe(
            Effect.annotateLogs({ operation, attempt: attempts + 1, after: failure._tag }),
            Effect.andThen(Metric.increment(Metrics.retries)),
            Effect.andThen(run)
          )
          : end(failure))

    /** Searches for the result of the last attempt, and continues with `otherwise` if the attempt had no effect. */
    const lookUp = (
      otherwise: Outcome<A>,
      undecided: (cause: Failure | Inconclusive) => AttemptFailure | OutcomeUnknown
    ): Outcome<A> =>
      check?.lookUp === undefined
        ? otherwise
        : Effect.matchEffect(check.lookUp, {
          onFailure: (cause) => Effect.fail(undecided(cause)),
          onSuccess: Option.match({ onNone: () => otherwise, onSome: (found) => Effect.succeed(found) })
        })

    const after = (failure: AttemptFailure): Outcome<A> => {
      lastErrorResponse = isServiceError(failure) ? failure : lastErrorResponse
      mayHaveHappened ||= MayHaveHappened.of(failure)
      switch (classify(failure, delivery)) {
        case "final":
          return failure._tag === "UnreadableSuccess" ? lookUp(end(failure), () => failure) : end(failure)
        case "retryable":
          return retryAfterDelay(failure)
        case "ambiguous": {
          mayHaveSucceeded = true
          if (isClosed(failure)) {
            return end(failure)
          }
          const otherwise = delivery === "Once" || (check?.lookUp !== undefined && mayStillRun(failure))
            ? end(failure)
            : retryAfterDelay(failure)
          return lookUp(otherwise, unknown)
        }
      }
    }

    return after(first)
  })
