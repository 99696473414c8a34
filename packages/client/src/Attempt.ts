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
import type { ServiceError } from "@plaza/domain/Errors"
import { toError } from "@plaza/domain/ErrorAnswer"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { AttemptTimeout, ConnectionFailed, ConnectionLost, isServiceError, UnreadableSuccess } from "./Failures.js"
import type { AttemptFailure } from "./Failures.js"
import type { Answer, Outgoing } from "./Outgoing.js"
import { RateLimit, takeReserved, withSlot } from "./RateLimit.js"
import * as Redirects from "./Redirects.js"
import { Settings } from "./Settings.js"
import { reasonOf } from "./TransportReason.js"

// Enough to recognise a proxy's page by.
const excerptLength = 500

/** What is known of an attempt while it runs. */
interface Progress {
  /** The last moment at which something moved, in milliseconds since the epoch. */
  movedAt: number
  status: number | undefined
}

/** @since 0.1.0 @category models */
export type Attempt = (outgoing: Outgoing) => Effect.Effect<Answer, AttemptFailure>

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Attempt, never, HttpClient.HttpClient | RateLimit | Settings> = Effect.gen(
  function*() {
    const settings = yield* Settings
    const rateLimit = yield* RateLimit
    const key = Redacted.value(settings.apiKey)
    const host = new URL(settings.baseUrl).host
    // Our own span tells of the attempt; trace headers are not for the service.
    const client = (yield* Redirects.notFollowed(yield* HttpClient.HttpClient)).pipe(
      HttpClient.withTracerDisabledWhen(() => true)
    )

    // A proxy that echoes the request may echo the key with it, and what can't be read is shown to people.
    const textOf = (response: HttpClientResponse.HttpClientResponse) =>
      Effect.map(response.text, (text) => text.replaceAll(key, "<redacted>"))

    const requestOf = (outgoing: Outgoing, progress: Progress) =>
      HttpClientRequest.make(outgoing.method)(settings.baseUrl + outgoing.path, {
        urlParams: outgoing.query,
        headers: { authorization: `Bearer ${key}`, accept: "application/json" },
        body: watched(outgoing.body, progress)
      })

    const failureOf = (outgoing: Outgoing, progress: Progress, error: HttpClientError.HttpClientError) => {
      const { connected, reason } = reasonOf(error)
      if (progress.status !== undefined && outgoing.delivery !== "Read") {
        return unreadable(outgoing, progress.status, `its answer broke off (${reason})`, "")
      }
      return connected
        ? new ConnectionLost({
          reason,
          message: `the connection to ${host} broke before the whole answer was there (${reason})`
        })
        : new ConnectionFailed({
          reason,
          message: `can't reach ${host} (${reason}); check the base address and the network`
        })
    }

    const errorOf = (
      outgoing: Outgoing,
      response: HttpClientResponse.HttpClientResponse,
      body: string
    ): Effect.Effect<never, ServiceError> =>
      Effect.flatMap(Clock.currentTimeMillis, (receivedAt) =>
        Effect.fail(toError({
          status: response.status,
          headers: response.headers,
          body,
          receivedAt,
          listed: outgoing.listed
        })))

    const read = (
      outgoing: Outgoing,
      progress: Progress,
      response: HttpClientResponse.HttpClientResponse
    ): Effect.Effect<Answer, AttemptFailure> => {
      if (response.status >= 200 && response.status < 300) {
        progress.status = response.status
        return Effect.matchEffect(textOf(response), {
          onFailure: (error) => Effect.fail(failureOf(outgoing, progress, error)),
          onSuccess: (body) => Effect.succeed({ status: response.status, body, date: dateOf(response.headers) })
        })
      }
      // A refusal whose body breaks off is still a refusal.
      return Effect.flatMap(Effect.orElseSucceed(textOf(response), () => ""), (body) => errorOf(outgoing, response, body))
    }

    const send = (outgoing: Outgoing, progress: Progress): Effect.Effect<Answer, AttemptFailure> =>
      Effect.matchEffect(client.execute(requestOf(outgoing, progress)), {
        onFailure: (error) => Effect.fail(failureOf(outgoing, progress, error)),
        onSuccess: (response) => read(outgoing, progress, response)
      })

    const outOfTime = (outgoing: Outgoing, progress: Progress): AttemptFailure =>
      progress.status !== undefined && outgoing.delivery !== "Read"
        ? unreadable(outgoing, progress.status, "its answer didn't end in time", "")
        : new AttemptTimeout({
          timeout: settings.timeout,
          message: `no whole answer from ${host} within ${Duration.format(settings.timeout)}`
        })

    const timed = (outgoing: Outgoing): Effect.Effect<Answer, AttemptFailure> =>
      Effect.flatMap(Clock.currentTimeMillis, (startedAt) => {
        const progress: Progress = { movedAt: startedAt, status: undefined }
        const watch: Effect.Effect<never, AttemptFailure> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const left = progress.movedAt + Duration.toMillis(settings.timeout) - now
          return left <= 0
            ? Effect.fail(outOfTime(outgoing, progress))
            : Effect.zipRight(Effect.sleep(Duration.millis(left)), watch)
        })
        return Effect.raceFirst(send(outgoing, progress), watch)
      })

    const closeGate = (failure: AttemptFailure) =>
      isServiceError(failure) && failure.category === "RateLimited" && failure.retryAfter !== undefined
        ? rateLimit.closeFor(failure.retryAfter)
        : Effect.void

    const inAllowance = <A, E>(request: Effect.Effect<A, E>) =>
      Effect.flatMap(takeReserved, (slot) =>
        slot === undefined ? withSlot(rateLimit, settings.patience)(request) : slot.use(request))

    return (outgoing) =>
      timed(outgoing).pipe(
        Effect.tapError(closeGate),
        inAllowance,
        Effect.withSpan("plaza.attempt", {
          kind: "client",
          attributes: { "http.request.method": outgoing.method, "server.address": host }
        })
      )
  }
)

/** An upload that goes on is not a request that hangs. */
const watched = (body: HttpBody.HttpBody, progress: Progress): HttpBody.HttpBody =>
  body._tag === "Stream"
    ? HttpBody.stream(
      Stream.tap(body.stream, () =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          progress.movedAt = now
        })),
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
export const unreadable = (outgoing: Outgoing, status: number, why: string, body: string): UnreadableSuccess =>
  new UnreadableSuccess({
    operation: outgoing.operation,
    status,
    message: `the service did what was asked (status ${status}), but ${why}; it was not sent again`,
    body: body.slice(0, excerptLength)
  })
