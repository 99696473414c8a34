/**
 * The delivery rules: which failures lead to another attempt, and what a call ends in when its outcome is unknown. The
 * rules depend on the delivery class alone, not on the operation.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import type { DeliveryClass } from "@plaza/domain/Delivery"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { AttemptFailure, Failure, Inconclusive } from "../../ClientError.js"
import { isServiceError, OutcomeUnknown } from "../../ClientError.js"
import * as Metrics from "../../Metrics.js"

/**
 * How a `Checkable` operation finds out what became of an attempt.
 *
 * @since 0.1.0
 * @category models
 */
export interface Check<A> {
  /**
   * Looks for the effect of an attempt that has just ended: the result if it is there, none if it is not, a failure if
   * that can't be decided. It may take its time, so that a late effect is seen.
   */
  readonly lookUp?: Effect.Effect<Option.Option<A>, Failure | Inconclusive>
  /** Whether this refusal of a repeated request suggests that an earlier attempt succeeded. */
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
 * - `definite`: nothing happened, and another attempt may succeed.
 * - `ambiguous`: it may have happened.
 * - `final`: another attempt is no use.
 */
type Verdict = "definite" | "ambiguous" | "final"

type Outcome<A> = Effect.Effect<A, AttemptFailure | OutcomeUnknown>

/**
 * Whether a response with this status, which the document doesn't show, may follow a request that was carried out.
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
    // An attempt waits for a 429 by itself; one that comes out of it is beyond the maximum wait.
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
 * Whether the service may go on with the request after this failure for longer than anyone can wait: the time limit of a
 * client or of a gateway ended the attempt, not the service. Gateways have statuses of their own above 504 for that.
 */
const mayStillRun = (failure: AttemptFailure): boolean =>
  failure._tag === "AttemptTimeout" || (isServiceError(failure) && failure.status >= 504)

/** Whether the client itself was closed: no other attempt can follow. */
const isClosed = (failure: AttemptFailure): boolean => failure._tag === "ConnectionLost" && failure.reason === "CLOSED"

/** Whether the service refused the request itself, and not only its moment. */
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
): Outcome<A> => Effect.catchAll(attempt(1), (failure) => goOn(failure, attempt, options))

/** What follows a first attempt that failed. */
const goOn = <A>(
  first: AttemptFailure,
  attempt: (number: number) => Effect.Effect<A, AttemptFailure>,
  options: Delivery<A>
): Outcome<A> =>
  Effect.flatMap(Schedule.driver(options.retry), (driver) => {
    const { check, delivery, operation } = options
    let attempts = 1
    /** Whether any attempt until now may have succeeded. Nothing but a success takes that back. */
    let doubt = false
    /** The last response that was a failure. */
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
     * Ends the call with its last failure, or with `OutcomeUnknown` where that failure would deny what may have happened.
     * A refusal of a repeatable write stands: the caller repeats it safely once the reason is gone.
     */
    const end = (last: AttemptFailure): Outcome<A> => {
      // A wait for the rate limit that is too long says less than what it follows, such as a 503 with a long `Retry-After`.
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
      Effect.matchEffect(driver.next(failure), {
        onFailure: () => end(failure),
        onSuccess: () =>
          Effect.logDebug("retry").pipe(
            Effect.annotateLogs({ operation, attempt: attempts + 1, after: failure._tag }),
            Effect.zipRight(Metric.increment(Metrics.retries)),
            Effect.zipRight(run)
          )
      })

    /** Looks for the effect of the last attempt; goes on with `otherwise` where it is not there. */
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
          const next = delivery === "Once" || (check?.lookUp !== undefined && mayStillRun(failure)) ? end(failure) : again(failure)
          return lookUp(next, unknown)
        }
      }
    }

    return after(first)
  })
