/**
 * One attempt: a slot of the allowance, the request, the body read once, and either an answer or a typed failure. It
 * never sends twice; that is `Deliver`'s business.
 *
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import type { ServiceError } from "@plaza/domain/Errors"
import { toError } from "@plaza/domain/ErrorAnswer"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import * as Deadlines from "./Deadlines.js"
import { AttemptTimeout, ConnectionFailed, ConnectionLost, isServiceError, UnreadableSuccess } from "./Failures.js"
import type { AttemptFailure } from "./Failures.js"
import * as Measures from "./Measures.js"
import type { Answer, Outgoing } from "./Outgoing.js"
import { RateLimit, takeReserved, withSlot } from "./RateLimit.js"
import * as Redirects from "./Redirects.js"
import { Settings } from "./Settings.js"
import { reasonOf } from "./TransportReason.js"

// Enough to recognise a proxy's page by.
const excerptLength = 500

/** What is known of an attempt while it runs. */
interface Progress extends Deadlines.Watched {
  readonly attempts: number
  readonly span: Tracer.Span
  /** Of a success, once its head is there. */
  status: number | undefined
  /** The head of any other answer, once it is there. */
  refusal: Pick<HttpClientResponse.HttpClientResponse, "headers" | "status"> | undefined
}

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
    const settings = yield* Settings
    const rateLimit = yield* RateLimit
    const key = Redacted.value(settings.apiKey)
    const headers = { authorization: `Bearer ${key}`, accept: "application/json" }
    const deadlines = yield* Deadlines.make(settings.timeout)
    const host = new URL(settings.baseUrl).host
    // Our own span tells of the attempt.
    const client = (yield* Redirects.notFollowed(yield* HttpClient.HttpClient)).pipe(
      HttpClient.withTracerDisabledWhen(() => true)
    )

    // A proxy that echoes the request may echo the key with it, and what can't be read is shown to people.
    const textOf = (response: HttpClientResponse.HttpClientResponse) =>
      Effect.map(response.text, (text) => text.replaceAll(key, "<redacted>"))

    const requestOf = (outgoing: Outgoing, progress: Progress) =>
      HttpClientRequest.make(outgoing.method)(settings.baseUrl + outgoing.path, {
        urlParams: outgoing.query,
        headers: settings.propagateTrace
          ? { ...headers, ...HttpTraceContext.toHeaders(progress.span) }
          : headers,
        body: watched(outgoing.body, progress)
      })

    const failureOf = (outgoing: Outgoing, progress: Progress, error: HttpClientError.HttpClientError) => {
      const { connected, reason } = reasonOf(error)
      const { attempts } = progress
      const { cause } = error
      if (progress.status !== undefined && outgoing.delivery !== "Read") {
        return unreadable(outgoing, attempts, progress.status, `its answer broke off (${reason})`, "")
      }
      return connected
        ? new ConnectionLost({
          attempts,
          reason,
          cause,
          message: `the connection to ${host} broke before the whole answer was there (${reason})`
        })
        : new ConnectionFailed({
          attempts,
          reason,
          cause,
          message: `can't reach ${host} (${reason}); check the base address and the network`
        })
    }

    const errorOf = (
      outgoing: Outgoing,
      attempts: number,
      response: HttpClientResponse.HttpClientResponse,
      body: string
    ): Effect.Effect<never, ServiceError> =>
      Effect.flatMap(Clock.currentTimeMillis, (receivedAt) =>
        Effect.fail(toError({
          status: response.status,
          headers: response.headers,
          body,
          receivedAt,
          attempts,
          listed: outgoing.listed
        })))

    const read = (
      outgoing: Outgoing,
      progress: Progress,
      response: HttpClientResponse.HttpClientResponse
    ): Effect.Effect<Answer, AttemptFailure> => {
      progress.span.attribute("http.response.status_code", response.status)
      if (response.status >= 200 && response.status < 300) {
        progress.status = response.status
        return Effect.matchEffect(textOf(response), {
          onFailure: (error) => Effect.fail(failureOf(outgoing, progress, error)),
          onSuccess: (body) => Effect.succeed({ status: response.status, body, date: dateOf(response.headers) })
        })
      }
      // A refusal whose body breaks off, or never ends, is still a refusal.
      progress.refusal = response
      return Effect.flatMap(Effect.orElseSucceed(textOf(response), () => ""), (body) =>
        errorOf(outgoing, progress.attempts, response, body))
    }

    const send = (outgoing: Outgoing, progress: Progress): Effect.Effect<Answer, AttemptFailure> =>
      Effect.matchEffect(client.execute(requestOf(outgoing, progress)), {
        onFailure: (error) => Effect.fail(failureOf(outgoing, progress, error)),
        onSuccess: (response) => read(outgoing, progress, response)
      })

    const outOfTime = (outgoing: Outgoing, progress: Progress): AttemptFailure => {
      const { attempts, refusal, status } = progress
      if (refusal !== undefined) {
        const { listed } = outgoing
        return toError({ status: refusal.status, headers: refusal.headers, body: "", receivedAt: progress.movedAt, attempts, listed })
      }
      return status !== undefined && outgoing.delivery !== "Read"
        ? unreadable(outgoing, attempts, status, "its answer didn't end in time", "")
        : new AttemptTimeout({
          attempts,
          timeout: settings.timeout,
          message: `no whole answer from ${host} within ${Duration.format(settings.timeout)}`
        })
    }

    const closeGate = (failure: AttemptFailure) =>
      isServiceError(failure) && failure.category === "RateLimited"
        ? Effect.zipRight(
          Metric.increment(Measures.rateLimited),
          failure.retryAfter === undefined ? Effect.void : rateLimit.closeFor(failure.retryAfter)
        )
        : Effect.void

    const inAllowance = <A, E>(request: Effect.Effect<A, E>, patience: Duration.Duration) =>
      Effect.flatMap(takeReserved, (slot) =>
        slot === undefined ? withSlot(rateLimit, patience)(request) : slot.use(request))

    const inSpan = (outgoing: Outgoing, attempts: number, span: Tracer.Span, askedAt: number) =>
      Effect.flatMap(Clock.currentTimeMillis, (startedAt) => {
        const wait = startedAt - askedAt
        span.attribute("plaza.wait_ms", wait)
        const progress: Progress = { attempts, span, movedAt: startedAt, status: undefined, refusal: undefined }
        const limited = deadlines.limit(send(outgoing, progress), progress, () => outOfTime(outgoing, progress))
        return Metric.increment(Measures.requests).pipe(
          Effect.zipRight(wait > 0 ? Metric.update(Measures.waits, wait / 1_000) : Effect.void),
          Effect.zipRight(Effect.tapError(limited, closeGate))
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

/** An upload that goes on is not a request that hangs. */
const watched = (body: HttpBody.HttpBody, progress: Progress): HttpBody.HttpBody =>
  body._tag === "Stream"
    ? HttpBody.stream(
      // By the chunk, which keeps the chunks as they are; see `Multipart`.
      Stream.chunksWith(body.stream, Stream.tap(() =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          progress.movedAt = now
        }))),
      body.contentType,
      body.contentLength
    )
    : body

const dateOf = (headers: Headers.Headers): number | undefined => {
  const date = Date.parse(headers["date"] ?? "")
  return Number.isNaN(date) ? undefined : date
}

/**
 * The failure for a 2xx that can't be read.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unreadable = (
  outgoing: Outgoing,
  attempts: number,
  status: number,
  why: string,
  body: string
): UnreadableSuccess =>
  new UnreadableSuccess({
    attempts,
    operation: outgoing.operation,
    status,
    message: `the service did what was asked (status ${status}), but ${why}; it was not sent again`,
    body: body.slice(0, excerptLength)
  })
