/**
 * The delivery rules: which failures lead to another attempt, and which calls end with an unknown outcome. The rules depend only on
 * the delivery class, not on the operation.
 *
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 */
import type { DeliveryClass } from "@plaza/domain/Operations"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as CallOptions from "../../CallOptions.ts"
import type { AttemptFailure, ClientClosed, Failure, Inconclusive } from "../../ClientError.ts"
import { isServiceError, OutcomeUnknown } from "../../ClientError.ts"
import * as Metrics from "../../Metrics.ts"
import type * as Redaction from "../../Redaction.ts"
import { monotonicNowUnsafe } from "../Time.ts"
import type * as Attempt from "./Attempt.ts"
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

// A retry costs as much as 14 successes earn, and a full budget pays for 35 retries. The numbers are those of gRPC and of cloud SDKs.
const mostTokens = 500
const retryTokens = 14

/**
 * The tokens for the retries of a client.
 *
 * @since 0.1.0
 * @category models
 */
export class RetryBudget {
  private tokens = mostTokens

  /** Pays for a retry. Returns false without enough tokens. */
  pay(): boolean {
    const canPay = this.tokens >= retryTokens
    this.tokens -= canPay ? retryTokens : 0
    return canPay
  }

  earn(): void {
    this.tokens = Math.min(mostTokens, this.tokens + 1)
  }
}

/** @since 0.1.0 @category models */
export interface Delivery<A> {
  readonly request: Attempt.ApiRequest
  readonly retry: Schedule.Schedule<unknown, AttemptFailure>
  /** Undefined if retries are free. */
  readonly budget: RetryBudget | undefined
  readonly observers: ReadonlyArray<CallOptions.OnAttempt>
  readonly redaction: Redaction.Redaction
  /** Fails when the client's layer is released. */
  readonly closed: Effect.Effect<never, ClientClosed>
  /** The rest of the call's maximum wait. */
  readonly waitBudget: Attempt.WaitBudget
  /** For `Checkable` operations. */
  readonly check?: Check<A> | undefined
}

/**
 * - `retryable`: the service did nothing, and another attempt may succeed.
 * - `rateLimited`: the same, after a pause of the rate limit.
 * - `ambiguous`: the service may have carried out the request.
 * - `final`: another attempt can't succeed.
 */
type Classification = "retryable" | "rateLimited" | "ambiguous" | "final"

type Outcome<A> = Effect.Effect<A, AttemptFailure | OutcomeUnknown>

const classify = (failure: AttemptFailure, delivery: DeliveryClass): Classification => {
  if (isServiceError(failure)) {
    if (failure.category === "RateLimited") {
      // A proxy may have passed on a request that it refuses, so its 429 doesn't show that a write did not happen.
      return delivery === "Read" || delivery === "Repeatable" || !MayHaveHappened.of(failure)
        ? "rateLimited"
        : delivery === "Checkable"
        ? "ambiguous"
        : "final"
    }
    if (delivery === "Read" ? failure.status === 408 : MayHaveHappened.isAmbiguousStatus(failure.status)) {
      return "ambiguous"
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

/** Whether a `Repeatable` write fails with this failure itself. Not if the last attempt sent nothing, because an earlier one did. */
const isReportedIfRepeatable = ({ _tag }: AttemptFailure): boolean => _tag !== "ConnectionFailed" && _tag !== "ClientClosed"

/**
 * Runs attempts until an attempt succeeds or the rules end the call.
 *
 * @since 0.1.0
 * @category delivery
 */
export const deliver = <A>(
  attempt: (progress: Attempt.Progress, isRetry: boolean) => Effect.Effect<A, AttemptFailure>,
  newProgress: (number: number) => Attempt.Progress,
  options: Delivery<A>
): Outcome<A> =>
  Effect.suspend(() => {
    const first = newProgress(1)
    return Effect.matchEffect(attempt(first, false), {
      onFailure: (failure) => retry(failure, first, attempt, newProgress, options),
      onSuccess: (result) => succeed(options, first, result)
    })
  })

const succeed = <A>(options: Delivery<A>, progress: Attempt.Progress, result: A): Effect.Effect<A> => {
  options.budget?.earn()
  return options.observers.length === 0
    ? Effect.succeed(result)
    : Effect.as(observe(options, progress, undefined, undefined), result)
}

/** Reports an attempt to the observers. An observer that fails, dies or interrupts itself changes nothing. */
const observe = <A>(
  { observers, redaction, request }: Delivery<A>,
  progress: Attempt.Progress,
  failure: AttemptFailure | undefined,
  delay: Duration.Duration | undefined
): Effect.Effect<void> =>
  // An attempt without a slot sent no request.
  observers.length === 0 || progress.sentAt === undefined ? Effect.void : Clock.clockWith((clock) => {
    const attempt: CallOptions.Attempt = {
      operation: request.operation,
      number: progress.number,
      duration: Duration.millis((progress.endedAt ?? monotonicNowUnsafe(clock)) - (progress.sentAt ?? 0)),
      status: progress.head?.status,
      headers: redaction.headers(progress.head?.headers ?? {}),
      failure,
      delay
    }
    return Effect.forEach(observers, (onAttempt) =>
      Effect.flatMap(Effect.exit(Effect.suspend(() => effectOf(onAttempt(attempt)))), (exit) =>
        Exit.isSuccess(exit) ? Effect.void : Effect.logError("on_attempt.failed", exit.cause)), { discard: true })
  })

/** The Effect of an observer. Dies if code without types returned something else. */
const effectOf = (result: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.isEffect(result) ? result : Effect.die(new TypeError("onAttempt must return an Effect"))

/** Continues a call after its first attempt failed. */
const retry = <A>(
  failureOfFirst: AttemptFailure,
  first: Attempt.Progress,
  attempt: (progress: Attempt.Progress, isRetry: boolean) => Effect.Effect<A, AttemptFailure>,
  newProgress: (number: number) => Attempt.Progress,
  options: Delivery<A>
): Outcome<A> =>
  Effect.flatMap(Effect.all([Schedule.toStep(options.retry), Clock.Clock]), ([step, clock]) => {
    const { budget, check, closed, request: { canRepeat, delivery, operation }, waitBudget } = options
    let attempts = 1
    /** Whether any attempt so far had an ambiguous failure. */
    let mayHaveSucceeded = false
    /** Whether the service may have carried out any attempt so far, a refused one of a proxy included. */
    let mayHaveHappened = false
    let lastErrorResponse: AttemptFailure | undefined
    // Elapsed time by the monotonic clock, because the wall clock may be set during an outage.
    const wallOffset = clock.currentTimeMillisUnsafe() - monotonicNowUnsafe(clock)

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

    const run = (isRetry: boolean): Outcome<A> =>
      Effect.suspend(() => {
        attempts++
        const progress = newProgress(attempts)
        return Effect.andThen(
          Metric.update(Metrics.retries, 1),
          Effect.matchEffect(attempt(progress, isRetry), {
            onFailure: (failure) => after(failure, progress),
            onSuccess: (result) => succeed(options, progress, result)
          })
        )
      })

    const endAfter = (failure: AttemptFailure, progress: Attempt.Progress): Outcome<A> =>
      Effect.andThen(observe(options, progress, failure, undefined), end(failure))

    /** The delay that observers see: the rate limit waits for a pause, or ends the call if it is longer than the rest of the wait. */
    const reportedDelay = (failure: AttemptFailure, delay: Duration.Duration): Duration.Duration | undefined => {
      const pause = (isServiceError(failure) ? failure.retryAfter : undefined) ?? Duration.zero
      return Duration.isGreaterThan(pause, waitBudget.left) ? undefined : Duration.max(delay, pause)
    }

    const runAfter = (failure: AttemptFailure, progress: Attempt.Progress, delay: Duration.Duration, isRetry: boolean): Outcome<A> => {
      // Whole milliseconds are the unit of timers.
      const wait = Duration.millis(Math.ceil(Duration.toMillis(delay)))
      return Effect.logDebug("retry").pipe(
        Effect.annotateLogs({ operation, attempt: attempts + 1, after: failure._tag }),
        Effect.andThen(observe(options, progress, failure, reportedDelay(failure, wait))),
        Effect.andThen(Effect.matchEffect(isRetry ? Effect.void : Effect.raceFirst(Effect.sleep(wait), closed), {
          onFailure: end,
          onSuccess: () => run(isRetry)
        }))
      )
    }

    /** Retries by the schedule, as long as the source of the body and the budget allow it. */
    const retryAfterDelay = (failure: AttemptFailure, progress: Attempt.Progress): Outcome<A> =>
      Effect.suspend(() =>
        canRepeat?.() === false
          ? endAfter(failure, progress)
          : Effect.matchEffect(step(wallOffset + monotonicNowUnsafe(clock), failure), {
            onFailure: () => endAfter(failure, progress),
            onSuccess: ([, delay]) =>
              budget?.pay() === false
                ? endAfter(failure, progress)
                : runAfter(failure, progress, delay, false)
          })
      )

    /** Searches for the result of the last attempt, and continues with `otherwise` if the attempt had no effect. */
    const lookUp = (
      lookUp: Effect.Effect<Option.Option<A>, Failure | Inconclusive>,
      failure: AttemptFailure,
      progress: Attempt.Progress,
      otherwise: Outcome<A>,
      undecided: (cause: Failure | Inconclusive) => AttemptFailure | OutcomeUnknown
    ): Outcome<A> =>
      Effect.matchEffect(Effect.raceFirst(lookUp, closed), {
        onFailure: (cause) => Effect.andThen(observe(options, progress, failure, undefined), Effect.fail(undecided(cause))),
        onSuccess: Option.match({
          onNone: () => otherwise,
          onSome: (result) => Effect.as(observe(options, progress, failure, undefined), result)
        })
      })

    const after = (failure: AttemptFailure, progress: Attempt.Progress): Outcome<A> => {
      progress.endedAt = monotonicNowUnsafe(clock)
      lastErrorResponse = isServiceError(failure) ? failure : lastErrorResponse
      mayHaveHappened ||= MayHaveHappened.of(failure)
      const counted = isServiceError(failure) && failure.category === "RateLimited" ? Metric.update(Metrics.rateLimited, 1) : Effect.void
      return Effect.andThen(counted, decide(failure, progress))
    }

    const decide = (failure: AttemptFailure, progress: Attempt.Progress): Outcome<A> => {
      switch (classify(failure, delivery)) {
        case "final":
          return failure._tag === "UnreadableSuccess" && check?.lookUp !== undefined
            ? lookUp(check.lookUp, failure, progress, endAfter(failure, progress), () => failure)
            : endAfter(failure, progress)
        case "retryable":
          return retryAfterDelay(failure, progress)
        case "rateLimited":
          return canRepeat?.() === false
            ? endAfter(failure, progress)
            // The rate limit waits for the pause.
            : runAfter(failure, progress, Duration.zero, true)
        case "ambiguous": {
          mayHaveSucceeded = true
          if (isClosed(failure)) {
            return endAfter(failure, progress)
          }
          if (check?.lookUp === undefined) {
            return delivery === "Once" ? endAfter(failure, progress) : retryAfterDelay(failure, progress)
          }
          const otherwise = mayStillRun(failure) ? endAfter(failure, progress) : retryAfterDelay(failure, progress)
          return lookUp(check.lookUp, failure, progress, otherwise, unknown)
        }
      }
    }

    return after(failureOfFirst, first)
  })
