/**
 * One attempt: a slot of the allowance, then the request, with a span and metrics. A 429 is a definite refusal, so the
 * attempt waits as long as the service asks and sends again, within the call's maximum wait and as long as the body can be
 * repeated. `Deliver` decides about every other failure.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import * as Closing from "./Closing.js"
import { isServiceError } from "../../ClientError.js"
import type { AttemptFailure } from "../../ClientError.js"
import * as Metrics from "../../Metrics.js"
import { at } from "../MonotonicTime.js"
import type { ApiResponse, ApiRequest } from "../transport/ApiRequest.js"
import { RateLimit, takeReserved } from "../../RateLimit.js"
import type { Refusal } from "../../RateLimit.js"
import * as HttpAttempt from "./HttpAttempt.js"
import { Settings } from "../../Settings.js"

/**
 * What is left of a call's maximum wait. All attempts of the call share it; requests and retry delays don't use it up.
 *
 * @since 0.1.0
 * @category models
 */
export interface Waiting {
  leftMillis: number
}

/** @since 0.1.0 @category constructors */
export const waiting = (maxWait: Duration.Duration): Waiting => ({ leftMillis: Duration.toMillis(maxWait) })

/** @since 0.1.0 @category models */
export interface Call {
  readonly request: ApiRequest
  /** Which attempt of its call it is, from 1 on. */
  readonly number: number
  readonly waiting: Waiting
  /** Time for one request. */
  readonly timeout: Duration.Duration
  /** The operation's span. */
  readonly span: Tracer.Span
}

/** @since 0.1.0 @category models */
export type Attempt = (call: Call) => Effect.Effect<ApiResponse, AttemptFailure>

const isRateLimited = (failure: AttemptFailure): boolean =>
  isServiceError(failure) && failure.category === "RateLimited"

const refusal = (failure: AttemptFailure): Refusal | undefined =>
  !isServiceError(failure)
    ? undefined
    : failure.category === "RateLimited"
    ? { retryAfter: failure.retryAfter, counted: false }
    : failure.category === "ServiceFault" && failure.retryAfter !== undefined
    ? { retryAfter: failure.retryAfter, counted: true }
    : undefined

const countRefusal = (failure: AttemptFailure): Effect.Effect<void> =>
  isRateLimited(failure) ? Metric.increment(Metrics.rateLimited) : Effect.void

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Attempt, never, HttpClient.HttpClient | RateLimit | Settings | Scope.Scope> = Effect.gen(
  function*() {
    const { baseUrl } = yield* Settings
    const rateLimit = yield* RateLimit
    const closing = yield* Closing.make
    const send = yield* HttpAttempt.make(closing)
    const { host } = new URL(baseUrl)

    const inSpan = ({ number, request, timeout, waiting }: Call, span: Tracer.Span, askedAt: number) =>
      at((movedAt) =>
        Effect.flatMap(Clock.currentTimeMillis, (sentAt) => {
          const wait = movedAt - askedAt
          waiting.leftMillis = Math.max(0, waiting.leftMillis - wait)
          span.attribute("plaza.wait_ms", wait)
          const sent = send(request, { attempts: number, span, sentAt, movedAt, limit: timeout, head: undefined })
          return Metric.increment(Metrics.requests).pipe(
            Effect.zipRight(wait > 0 ? Metric.update(Metrics.waits, wait / 1_000) : Effect.void),
            Effect.zipRight(Effect.tapError(sent, countRefusal))
          )
        })
      )

    const inSlot = (call: Call, span: Tracer.Span, again: boolean): Effect.Effect<ApiResponse, AttemptFailure> =>
      at((askedAt) => {
        const sent = inSpan(call, span, askedAt)
        const options = { operation: call.request.operation, again, closing, refusal }
        const maxWait = Duration.millis(call.waiting.leftMillis)
        return again
          ? rateLimit.withSlot(maxWait, sent, options)
          : Effect.flatMap(takeReserved, (slot) =>
            slot === undefined ? rateLimit.withSlot(maxWait, sent, options) : slot.use(sent, options))
      })

    const sendIn = (call: Call, again: boolean): Effect.Effect<ApiResponse, AttemptFailure> =>
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
      }, (span) => inSlot(call, span, again))

    const attempt = (call: Call, again: boolean): Effect.Effect<ApiResponse, AttemptFailure> =>
      Effect.catchAll(sendIn(call, again), (failure) =>
        isRateLimited(failure) && call.request.canRepeat?.() !== false
          ? Effect.zipRight(
            Metric.increment(Metrics.retries),
            // Where the wait is too long, the caller learns what the service said.
            Effect.catchAll(attempt(call, true), (next) => Effect.fail(next._tag === "RateLimitWaitExceeded" ? failure : next))
          )
          : Effect.fail(failure))

    return (call) => attempt(call, false)
  }
)
