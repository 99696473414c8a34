/**
 * The delivery rules: what is sent again, when, and what an operation ends in when its outcome isn't known. It decides
 * by the operation's delivery class and knows nothing of which operation it is.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import type { DeliveryClass } from "@plaza/domain/Delivery"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { AttemptFailure, Failure, Inconclusive } from "./Failures.js"
import { isServiceError, OutcomeUnknown } from "./Failures.js"
import * as Measures from "./Measures.js"

/**
 * How a `Checkable` operation finds out what became of an attempt.
 *
 * @since 0.1.0
 * @category models
 */
export interface Check<A> {
  /**
   * Looks whether it happened: the result if it did, none if it certainly did not, a failure if that can't be told.
   */
  readonly lookUp?: Effect.Effect<Option.Option<A>, Failure | Inconclusive>
  /** The result, where the refusal of a repeat says that an earlier attempt took. */
  readonly repeatRefused?: (failure: AttemptFailure) => Option.Option<A>
}

/** @since 0.1.0 @category models */
export interface Delivery<A> {
  readonly operation: string
  readonly delivery: DeliveryClass
  readonly retry: Schedule.Schedule<unknown>
  readonly patience: Duration.Duration
  /** For `Checkable` operations. */
  readonly check?: Check<A> | undefined
}

/**
 * - `definite`: nothing happened, and it may go better next time.
 * - `ambiguous`: it may have happened.
 * - `final`: sending the same again is no use.
 */
type Verdict = "definite" | "ambiguous" | "final"

type Outcome<A> = Effect.Effect<A, AttemptFailure | OutcomeUnknown>

const verdictOf = (failure: AttemptFailure, patience: Duration.Duration): Verdict => {
  if (isServiceError(failure)) {
    const worthWaiting = failure.category === "RateLimited" &&
      (failure.retryAfter === undefined || Duration.lessThanOrEqualTo(failure.retryAfter, patience))
    return failure.category === "ServiceFault" ? "ambiguous" : worthWaiting ? "definite" : "final"
  }
  switch (failure._tag) {
    case "ConnectionFailed":
      return "definite"
    case "ConnectionLost":
    case "AttemptTimeout":
      return "ambiguous"
    case "RateLimitWaitExceeded":
    case "UnreadableSuccess":
      return "final"
  }
}

/**
 * Runs attempts, which are told their number from 1 on, until one succeeds or the rules say stop.
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
    let attempts = 1

    const unknown = (cause: Failure | Inconclusive) =>
      new OutcomeUnknown({
        operation: options.operation,
        attempts,
        message: `${options.operation} may or may not have happened (${cause.message}); ` +
          `look it up before doing it again`,
        cause
      })

    /**
     * Ends in the failure; a write that may have happened before must not end in one that says it did not. A success
     * that can't be read leaves no doubt.
     */
    const give = (failure: AttemptFailure, doubt: boolean) =>
      Effect.fail(
        doubt && options.delivery !== "Read" && failure._tag !== "UnreadableSuccess" ? unknown(failure) : failure
      )

    /** Settles a doubt where that is possible, and goes on only if it did not happen, or nothing can tell but a repeat. */
    const settled = (doubt: boolean, then: (doubt: boolean) => Outcome<A>): Outcome<A> =>
      doubt && options.check?.lookUp !== undefined
        ? Effect.matchEffect(options.check.lookUp, {
          onFailure: (cause) => Effect.fail(unknown(cause)),
          onSuccess: Option.match({ onNone: () => then(false), onSome: (found) => Effect.succeed(found) })
        })
        : then(doubt)

    const run = (doubt: boolean): Outcome<A> =>
      Effect.catchAll(Effect.suspend(() => attempt(++attempts)), (failure) => after(failure, doubt))

    const again = (failure: AttemptFailure, doubt: boolean): Outcome<A> =>
      Effect.matchEffect(driver.next(failure), {
        onFailure: () =>
          // What may be repeated harmlessly ends in the fault it met last, which says itself that it may have happened.
          verdictOf(failure, options.patience) === "ambiguous" && options.delivery === "Repeatable"
            ? Effect.fail(failure)
            : settled(doubt, (doubt) => give(failure, doubt)),
        onSuccess: () =>
          Effect.logDebug("sending again").pipe(
            Effect.annotateLogs({ operation: options.operation, attempt: attempts + 1, after: failure._tag }),
            Effect.zipRight(Metric.increment(Measures.retries)),
            Effect.zipRight(settled(doubt, run))
          )
      })

    const after = (failure: AttemptFailure, doubt: boolean): Outcome<A> => {
      switch (verdictOf(failure, options.patience)) {
        case "final": {
          const took = doubt ? options.check?.repeatRefused?.(failure) : undefined
          return took !== undefined && Option.isSome(took) ? Effect.succeed(took.value) : give(failure, doubt)
        }
        case "definite":
          return again(failure, doubt)
        case "ambiguous":
          return options.delivery === "Once" ? Effect.fail(unknown(failure)) : again(failure, true)
      }
    }

    return after(first, false)
  })
