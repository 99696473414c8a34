/**
 * One attempt: a slot of the allowance, then the request, seen in a span and in the metrics. It never sends twice; that
 * is `Deliver`'s business.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import { isServiceError } from "./Failures.js"
import type { AttemptFailure } from "./Failures.js"
import * as Measures from "./Measures.js"
import type { Answer, Outgoing } from "./Outgoing.js"
import { RateLimit, takeReserved } from "./RateLimit.js"
import * as Sending from "./Sending.js"
import { Settings } from "./Settings.js"

/** @since 0.1.0 @category models */
export interface Call {
  readonly outgoing: Outgoing
  /** Which attempt of its call it is, from 1 on. */
  readonly number: number
  /** The longest wait for a slot. */
  readonly patience: Duration.Duration
  /** The operation's span. */
  readonly span: Tracer.Span
}

/** @since 0.1.0 @category models */
export type Attempt = (call: Call) => Effect.Effect<Answer, AttemptFailure>

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Attempt, never, HttpClient.HttpClient | RateLimit | Settings | Scope.Scope> = Effect.gen(
  function*() {
    const { baseUrl } = yield* Settings
    const rateLimit = yield* RateLimit
    const send = yield* Sending.make
    const { host } = new URL(baseUrl)

    const closeGate = (failure: AttemptFailure) =>
      isServiceError(failure) && failure.category === "RateLimited"
        ? Effect.zipRight(
          Metric.increment(Measures.rateLimited),
          failure.retryAfter === undefined ? Effect.void : rateLimit.closeFor(failure.retryAfter)
        )
        : Effect.void

    const inAllowance = <A, E>(request: Effect.Effect<A, E>, patience: Duration.Duration) =>
      Effect.flatMap(takeReserved, (slot) =>
        slot === undefined ? rateLimit.withSlot(patience, request) : slot.use(request))

    const inSpan = (outgoing: Outgoing, attempts: number, span: Tracer.Span, askedAt: number) =>
      Effect.flatMap(Clock.currentTimeMillis, (startedAt) => {
        const wait = startedAt - askedAt
        span.attribute("plaza.wait_ms", wait)
        const sent = send(outgoing, { attempts, span, movedAt: startedAt, head: undefined })
        return Metric.increment(Measures.requests).pipe(
          Effect.zipRight(wait > 0 ? Metric.update(Measures.waits, wait / 1_000) : Effect.void),
          Effect.zipRight(Effect.tapError(sent, closeGate))
        )
      })

    return ({ number, outgoing, patience, span }) =>
      Effect.useSpan("plaza.attempt", {
        kind: "client",
        parent: span,
        captureStackTrace: false,
        attributes: {
          "plaza.operation": outgoing.operation,
          "plaza.attempt": number,
          "http.request.method": outgoing.method,
          "server.address": host
        }
      }, (span) =>
        Effect.flatMap(Clock.currentTimeMillis, (askedAt) =>
          inAllowance(inSpan(outgoing, number, span, askedAt), patience)))
  }
)
