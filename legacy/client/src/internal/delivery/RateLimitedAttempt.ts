/**
 * One attempt: acquires a slot of the allowance, then sends the request, with a span and metrics. After a 429 it waits for the
 * `Retry-After` and sends the request again, within the call's maximum wait. `Delivery` handles every other failure, and a proxy's 429
 * to a write that can't be repeated.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import { isServiceError } from "../../ClientError.ts"
import type { AttemptFailure } from "../../ClientError.ts"
import * as Metrics from "../../Metrics.ts"
import { RateLimit } from "../../RateLimit.ts"
import type { PauseRequest } from "../../RateLimit.ts"
import { Settings } from "../../Settings.ts"
import type { MonotonicMillis } from "../Compat.ts"
import { clocksWith, monotonicWith } from "../Compat.ts"
import { withReserved } from "../rate-limit/Reservation.ts"
import type { ApiRequest, ApiResponse } from "../transport/ApiRequest.ts"
import * as HttpAttempt from "./HttpAttempt.ts"
import * as MayHaveHappened from "./MayHaveHappened.ts"
import * as Shutdown from "./Shutdown.ts"

/**
 * The rest of a call's maximum wait, which all attempts of the call share. Only waits for a slot reduce it.
 *
 * @since 0.1.0
 * @category models
 */
export interface WaitBudget {
  left: Duration.Duration
}

/** @since 0.1.0 @category constructors */
export const waitBudget = (maxWait: Duration.Duration): WaitBudget => ({ left: maxWait })

/** @since 0.1.0 @category models */
export interface Call {
  readonly request: ApiRequest
  /** The number of the attempt in its call, from 1. */
  readonly number: number
  readonly waitBudget: WaitBudget
  /** The timeout of one request. */
  readonly timeout: Duration.Duration
  /** The operation's span. */
  readonly span: Tracer.Span
}

/** @since 0.1.0 @category models */
export type Attempt = (call: Call) => Effect.Effect<ApiResponse, AttemptFailure>

const isRateLimited = (failure: AttemptFailure): boolean => isServiceError(failure) && failure.category === "RateLimited"

/**
 * Whether a request may be sent again after its 429. A proxy may have passed on a request that it refuses, so its 429 doesn't show that
 * a write did not happen.
 */
const mayRepeat = ({ canRepeat, delivery }: ApiRequest, failure: AttemptFailure): boolean =>
  canRepeat?.() !== false && (delivery === "Read" || delivery === "Repeatable" || !MayHaveHappened.of(failure))

const pauseRequest = (failure: AttemptFailure): PauseRequest | undefined =>
  !isServiceError(failure)
    ? undefined
    : failure.category === "RateLimited"
    ? { retryAfter: failure.retryAfter, counted: false }
    : failure.category === "ServiceFault" && failure.retryAfter !== undefined
    ? { retryAfter: failure.retryAfter, counted: true }
    : undefined

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Attempt, never, HttpClient.HttpClient | RateLimit | Settings | Scope.Scope> = Effect.gen(
  function*() {
    const { baseUrl } = yield* Settings
    const rateLimit = yield* RateLimit
    const shutdown = yield* Shutdown.make
    const send = yield* HttpAttempt.make(shutdown)
    const { host } = new URL(baseUrl)

    const inSpan = ({ number, request, timeout, waitBudget }: Call, span: Tracer.Span, waitingSince: MonotonicMillis) =>
      clocksWith((lastProgressAt, sentAt) => {
        const waitMillis = lastProgressAt - waitingSince
        span.attribute("plaza.wait_ms", waitMillis)
        const sent = Effect.zipRight(
          Metric.increment(Metrics.requests),
          send(request, { attempts: number, span, sentAt, lastProgressAt, timeout, head: undefined })
        )
        // The acquisition of a free slot takes some microseconds, which are no wait.
        if (waitMillis < 1) {
          return sent
        }
        const wait = Duration.millis(waitMillis)
        // `Duration.subtract` never returns a negative duration.
        waitBudget.left = Duration.subtract(waitBudget.left, wait)
        return Effect.zipRight(Metric.update(Metrics.waits, Duration.toSeconds(wait)), sent)
      })

    const inSlot = (call: Call, span: Tracer.Span, isRetry: boolean): Effect.Effect<ApiResponse, AttemptFailure> =>
      monotonicWith((waitingSince) => {
        const sent = inSpan(call, span, waitingSince)
        const options = { operation: call.request.operation, isRetry, shutdown, pauseRequest }
        const withSlot = rateLimit.withSlot(call.waitBudget.left, sent, options)
        return isRetry
          ? withSlot
          : withReserved((slot) => slot === undefined ? withSlot : slot.use(sent, options))
      })

    const sendIn = (call: Call, isRetry: boolean): Effect.Effect<ApiResponse, AttemptFailure> =>
      Effect.useSpan("plaza.attempt", {
        kind: "client",
        parent: call.span,
        captureStackTrace: false,
        attributes: {
          "plaza.operation": call.request.operation,
          "plaza.attempt": call.number,
          "http.request.method": call.request.method,
          "server.address": host
        }
      }, (span) => inSlot(call, span, isRetry))

    const attempt = (call: Call, isRetry: boolean): Effect.Effect<ApiResponse, AttemptFailure> =>
      Effect.catchAll(sendIn(call, isRetry), (failure) => {
        if (!isRateLimited(failure)) {
          return Effect.fail(failure)
        }
        const next = mayRepeat(call.request, failure)
          ? Effect.zipRight(
            Metric.increment(Metrics.retries),
            // If the next wait is too long, the call fails with the 429.
            Effect.catchAll(attempt(call, true), (next) =>
              Effect.fail(next._tag === "RateLimitWaitExceeded" ? failure : MayHaveHappened.after(failure, next)))
          )
          : Effect.fail(failure)
        return Effect.zipRight(Metric.increment(Metrics.rateLimited), next)
      })

    return (call) => attempt(call, false)
  }
)
