/**
 * The delivery rules: which failures lead to another attempt, and the failure of a call with an unknown outcome. The rules
 * depend on the delivery class alone, not on the operation.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import type { DeliveryClass } from "@plaza/domain/Delivery"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"
import type { AttemptFailure, Failure, Inconclusive } from "../../ClientError.js"
import { isServiceError, OutcomeUnknown } from "../../ClientError.js"
import * as Metrics from "../../Metrics.js"
import { driver } from "../Compat.js"

/**
 * How a `Checkable` operation finds out whether an attempt succeeded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Check<A> {
  /**
   * Looks for the effect of an attempt that has just failed: the result if it is there, none if it is not, a failure if it
   * can't be decided. It may wait, so that it finds a late effect.
   */
  readonly lookUp?: Effect.Effect<Option.Option<A>, Failure | Inconclusive>
  /** Whether this response to a repeated request suggests that an earlier attempt succeeded. */
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
 * - `definite`: the service did nothing, and another attempt may succeed.
 * - `ambiguous`: the service may have carried out the request.
 * - `final`: another attempt can't succeed.
 */
type Verdict = "definite" | "ambiguous" | "final"

type Outcome<A> = Effect.Effect<A, AttemptFailure | OutcomeUnknown>

/**
 * Whether a request that ended with this undocumented status may have been carried out.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isOpenStatus = (status: number): boolean => (status >= 300 && status < 400) || status === 408

const verdictOf = (failure: AttemptFailure, delivery: DeliveryClass): Verdict => {
  if (isServiceError(failure)) {
    if (delivery === "Read" ? failure.status === 408 : isOpenStatus(failure.status)) {
      return "ambiguous"
    }
    // An attempt waits after a 429 by itself. A 429 here is beyond the maximum wait.
    return failure.category === "ServiceFault" ? "ambiguous" : "final"
  }
  switch (failure._tag) {
    case "ConnectionFailed":
      return "definite"
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
 * Whether the service may still work on the request, for an unknown time: the time limit of the client or of a gateway ended the
 * attempt. Gateways use statuses from 504 for that.
 */
const mayStillRun = (failure: AttemptFailure): boolean =>
  failure._tag === "AttemptTimeout" || (isServiceError(failure) && failure.status >= 504)

/** Whether the client was closed, so that no other attempt can follow. */
const isClosed = (failure: AttemptFailure): boolean => failure._tag === "ConnectionLost" && failure.reason === "CLOSED"

/** Whether the service refused the request, whenever it is sent. */
const isRefusal = (failure: AttemptFailure): boolean =>
  isServiceError(failure) && !isOpenStatus(failure.status) && failure.category !== "RateLimited" && failure.category !== "ServiceFault"

/**
 * Runs attempts, numbered from 1, until one succeeds or the rules end the call.
 *
 * @since 0.1.0
 * @category delivery
 */
export const deliver = <A>(
  attempt: (number: number) => Effect.Effect<A, AttemptFailure>,
  options: Delivery<A>
): Outcome<A> => Effect.catchAll(attempt(1), (failure) => retry(failure, attempt, options))

/** Continues after a first attempt that failed. */
const retry = <A>(
  first: AttemptFailure,
  attempt: (number: number) => Effect.Effect<A, AttemptFailure>,
  options: Delivery<A>
): Outcome<A> =>
  Effect.flatMap(driver(options.retry), (next) => {
    const { check, delivery, operation } = options
    let attempts = 1
    /** Whether any attempt so far may have succeeded. It stays true until a success. */
    let doubt = false
    /** The last error response. */
    let refused: AttemptFailure | undefined

    const unknown = (cause: Failure | Inconclusive, likely?: "done") =>
      new OutcomeUnknown({
        operation,
        attempts,
        ...(likely === undefined ? {} : { likely }),
        message: likely === "done"
          ? `${operation} most likely happened, by this call or another (${cause.message}); check it before doing it again`
          : `${operation} may or may not have happened (${cause.message}); check before doing it again`,
        cause
      })

    /**
     * Ends the call with its last failure, or with `OutcomeUnknown` where an earlier attempt may have succeeded. A refusal of a
     * repeatable write stays: the caller can repeat the write safely when the reason is gone.
     */
    const end = (last: AttemptFailure): Outcome<A> => {
      // The error response before a wait that is too long says more, such as a 503 with a long `Retry-After`.
      const failure = last._tag === "RateLimitWaitExceeded" && refused !== undefined ? refused : last
      const stands = !doubt || delivery === "Read" || failure._tag === "UnreadableSuccess" ||
        (delivery === "Repeatable" && (isRefusal(failure) || verdictOf(failure, delivery) === "ambiguous"))
      return Effect.fail(stands ? failure : unknown(failure, check?.suggestsDone?.(failure) === true ? "done" : undefined))
    }

    const run: Outcome<A> = Effect.suspend(() => {
      attempts++
      return Effect.catchAll(attempt(attempts), after)
    })

    const again = (failure: AttemptFailure): Outcome<A> =>
      Effect.flatMap(next(failure), (recurs) =>
        recurs
          ? Effect.logDebug("retry").pipe(
            Effect.annotateLogs({ operation, attempt: attempts + 1, after: failure._tag }),
            Effect.andThen(Metric.increment(Metrics.retries)),
            Effect.andThen(run)
          )
          : end(failure))

    /** Looks for the effect of the last attempt, and continues with `otherwise` where it is not there. */
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
      refused = isServiceError(failure) ? failure : refused
      switch (verdictOf(failure, delivery)) {
        case "final":
          return failure._tag === "UnreadableSuccess" ? lookUp(end(failure), () => failure) : end(failure)
        case "definite":
          return again(failure)
        case "ambiguous": {
          doubt = true
          if (isClosed(failure)) {
            return end(failure)
          }
          const otherwise = delivery === "Once" || (check?.lookUp !== undefined && mayStillRun(failure)) ? end(failure) : again(failure)
          return lookUp(otherwise, unknown)
        }
      }
    }

    return after(first)
  })
