/**
 * Sends one request within its timeout, and reads its response or fails with a typed failure. `RateLimitedAttempt` acquires a slot
 * before.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import { excerptLength, isEnvelope, toError } from "@plaza-legacy/domain/ErrorResponse"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import { AttemptTimeout, ConnectionFailed, ConnectionLost, UnreadableSuccess } from "../../ClientError.ts"
import type { AttemptFailure } from "../../ClientError.ts"
import * as Redaction from "../../Redaction.ts"
import { Settings } from "../../Settings.ts"
import { reasonOf, reasonOfCause } from "../../TransportReason.ts"
import type { TransportReason } from "../../TransportReason.ts"
import { monotonicNow, tapChunks } from "../Compat.ts"
import type { ApiRequest, ApiResponse } from "../transport/ApiRequest.ts"
import { noRedirects } from "../transport/noRedirects.ts"
import * as ResponseBody from "../transport/ResponseBody.ts"
import * as Transport from "../transport/Transport.ts"
import * as Deadlines from "./Deadlines.ts"
import * as MayHaveHappened from "./MayHaveHappened.ts"
import type { Shutdown } from "./Shutdown.ts"

/**
 * The state of a request in flight.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress extends Deadlines.Deadline {
  /** The number of attempts of the call so far. */
  readonly attempts: number
  readonly span: Tracer.Span
  readonly sentAt: DateTime.Utc
  /** The head of the response; undefined before it arrives. */
  head: Transport.Head | undefined
  /** Whether the request has had a connection; undefined if the HTTP client doesn't report that. */
  isConnected?: boolean | undefined
}

/** @since 0.1.0 @category models */
export type Send = (request: ApiRequest, progress: Progress) => Effect.Effect<ApiResponse, AttemptFailure>

// The bytes to read of an error response whose `Content-Length` exceeds the maximum.
const excerptBytes = 4 * excerptLength

const isSuccess = (head: Transport.Head): boolean => head.status >= 200 && head.status < 300

/** @since 0.1.0 @category constructors */
export const make = (
  shutdown: Shutdown
): Effect.Effect<Send, never, HttpClient.HttpClient | Settings | Scope.Scope> =>
  Effect.gen(function*() {
    const settings = yield* Settings
    const key = Redacted.value(settings.apiKey)
    const redaction = Redaction.make(key)
    const ownHeaders = { authorization: `Bearer ${key}`, accept: "application/json", "user-agent": settings.userAgent }
    const deadlines = yield* Deadlines.make(shutdown)
    const host = new URL(settings.baseUrl).host
    const given = yield* HttpClient.HttpClient
    // Without a span per request, because the span of the attempt covers it.
    const client = HttpClient.withTracerDisabledWhen(yield* noRedirects(given), () => true)
    const transport = Transport.of(given)

    const headersOf = ({ span }: Progress) => settings.propagateTrace ? { ...ownHeaders, ...HttpTraceContext.toHeaders(span) } : ownHeaders

    const failureOf = (request: ApiRequest, progress: Progress, transport: TransportReason, thrown: unknown) => {
      const { attempts, head } = progress
      const { connected } = transport
      const reason = redaction.text(transport.reason)
      // The error of an HTTP client may reference the request with its headers.
      const cause = redaction.cause(thrown)
      if (head !== undefined && request.delivery !== "Read") {
        return unreadable(request, attempts, head.status, `the connection broke before the end of its response (${reason})`, "")
      }
      return connected
        ? new ConnectionLost({
          attempts,
          reason,
          cause,
          message: `the connection to ${host} broke before the end of the response (${reason})`
        })
        : new ConnectionFailed({
          attempts,
          reason,
          cause,
          message: `can't connect to ${host} (${reason}); check the base URL and the network`
        })
    }

    const refused = (
      request: ApiRequest,
      { attempts }: Progress,
      { headers, status }: Transport.Head,
      body: string,
      receivedAt: DateTime.Utc
    ): AttemptFailure => {
      const error = toError({
        status,
        headers: redaction.headers(headers),
        body,
        receivedAt: DateTime.toEpochMillis(receivedAt),
        attempts,
        listed: request.listed
      })
      // A proxy may have sent the response after the service carried out the request.
      return isEnvelope(body) ? error : MayHaveHappened.record(error, true)
    }

    const timedOut = (request: ApiRequest, progress: Progress): AttemptFailure => {
      const { attempts, head } = progress
      if (progress.isConnected === false) {
        return failureOf(request, progress, { connected: false, reason: "CONNECT_TIMEOUT" }, undefined)
      }
      if (head !== undefined && !isSuccess(head)) {
        return refused(request, progress, head, "", progress.sentAt)
      }
      return head !== undefined && request.delivery !== "Read"
        ? unreadable(request, attempts, head.status, "its response was not complete before the timeout", "")
        : new AttemptTimeout({
          attempts,
          timeout: progress.timeout,
          message: `no complete response from ${host} within ${Duration.format(progress.timeout)}`
        })
    }

    /** The client's layer was released while the request was in flight, so its outcome is unknown. */
    const closedInFlight = (request: ApiRequest, progress: Progress): AttemptFailure => {
      const { attempts, head } = progress
      if (head !== undefined) {
        return isSuccess(head)
          ? failureOf(request, progress, { connected: true, reason: "CLOSED" }, undefined)
          : refused(request, progress, head, "", progress.sentAt)
      }
      return new ConnectionLost({
        attempts,
        reason: "CLOSED",
        message: `the client was closed before the response from ${host}; keep the scope of its layer open until all calls have ended`
      })
    }

    /** Records the head of a response. Returns the maximum number of bytes to read of its body. */
    const noteHead = (progress: Progress, head: Transport.Head): number => {
      progress.span.attribute("http.response.status_code", head.status)
      progress.head = head
      const isTooLong = Number(head.headers["content-length"] ?? 0) > settings.maxResponseBytes
      // An error reports the beginning of its body even if the body is too long.
      return !isTooLong ? settings.maxResponseBytes : isSuccess(head) ? 0 : excerptBytes
    }

    const tooLarge = (request: ApiRequest, { attempts }: Progress, { status }: Transport.Head, body: string): AttemptFailure => {
      const why = `its response is larger than ${settings.maxResponseBytes} bytes (option maxResponseBytes)`
      return request.delivery === "Read"
        ? new ConnectionLost({
          attempts,
          reason: "RESPONSE_TOO_LARGE",
          message: `the client closed the connection to ${host}, because ${why}`
        })
        : unreadable(request, attempts, status, why, body)
    }

    const conclude = (
      request: ApiRequest,
      progress: Progress,
      head: Transport.Head,
      { isCut, text }: Transport.Body
    ): Effect.Effect<ApiResponse, AttemptFailure> => {
      // A proxy may echo the request with its key, and error messages contain parts of bodies.
      const body = redaction.text(isCut ? withoutPartOf(key, text) : text)
      if (isCut && isSuccess(head)) {
        return Effect.fail(tooLarge(request, progress, head, body))
      }
      return isSuccess(head)
        ? Effect.succeed({ status: head.status, body, date: head.headers["date"] })
        : Effect.flatMap(DateTime.now, (now) => Effect.fail(refused(request, progress, head, body, now)))
    }

    /** An error response with an incomplete body is still an error response. */
    const interruptedResponse = (
      request: ApiRequest,
      progress: Progress,
      reason: TransportReason,
      cause: unknown
    ): Effect.Effect<ApiResponse, AttemptFailure> =>
      progress.head === undefined || isSuccess(progress.head)
        ? Effect.fail(failureOf(request, progress, reason, cause))
        : conclude(request, progress, progress.head, noBody)

    const byClient: Send = (request, progress) => {
      const httpRequest = HttpClientRequest.make(request.method)(settings.baseUrl + request.path, {
        urlParams: request.query,
        headers: headersOf(progress),
        body: reportingProgress(request.body, progress)
      })
      const response = Effect.flatMap(client.execute(httpRequest), (response) => {
        return Effect.map(ResponseBody.read(response, noteHead(progress, response)), (body) => ({ head: response, body }))
      })
      return deadlines.limit(
        Effect.matchEffect(response, {
          onFailure: (error) => interruptedResponse(request, progress, reasonOf(error), error.cause),
          onSuccess: ({ body, head }) => conclude(request, progress, head, body)
        }),
        progress,
        { onTimeout: () => timedOut(request, progress), onShutdown: () => closedInFlight(request, progress) }
      )
    }

    const byTransport = (execute: Transport.Transport, body: InMemory): Send => (request, progress) => {
      let abort = () => {}
      return deadlines.limitAsync<ApiResponse, AttemptFailure, AttemptFailure>(
        (resume) => {
          progress.isConnected = false
          abort = execute({
            method: request.method,
            url: urlOf(settings.baseUrl + request.path, request.query),
            headers: body._tag === "Empty" ? headersOf(progress) : { ...headersOf(progress), "content-type": body.contentType },
            body: body._tag === "Empty" ? undefined : body.body,
            idempotent: request.delivery === "Read" || request.delivery === "Repeatable"
          }, {
            onConnection: () => {
              progress.isConnected = true
            },
            onHead: (head) => noteHead(progress, head),
            onEnd: (head, body) => resume(conclude(request, progress, head, body)),
            onFailure: (cause) => {
              // The transport reports the connection, so the code of the error isn't needed for that.
              const { reason } = reasonOfCause(cause, "Transport")
              resume(interruptedResponse(request, progress, { reason, connected: progress.isConnected === true }, cause))
            }
          })
          return Effect.sync(abort)
        },
        progress,
        {
          onTimeout: () => {
            // First, so that a request that is reported as never connected can't connect afterwards.
            abort()
            return timedOut(request, progress)
          },
          onShutdown: () => closedInFlight(request, progress)
        }
      )
    }

    return (request, progress) =>
      transport !== undefined && isInMemory(request.body)
        ? byTransport(transport, request.body)(request, progress)
        : byClient(request, progress)
  })

// The length of the longest common escape of one character, in JSON or HTML.
const longestEscape = 8

/** A truncated text without its end, which may contain the beginning of a key. Redaction can't recognise a part of a key. */
const withoutPartOf = (key: string, text: string): string => text.slice(0, Math.max(0, text.length - longestEscape * key.length))

const noBody: Transport.Body = { text: "", isCut: false }

type InMemory = HttpBody.Empty | HttpBody.Uint8Array

const isInMemory = (body: HttpBody.HttpBody): body is InMemory => body._tag === "Empty" || body._tag === "Uint8Array"

const urlOf = (address: string, query: ApiRequest["query"]): URL => {
  const url = new URL(address)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      url.searchParams.append(name, value)
    }
  }
  return url
}

/** The body, which records the time of each chunk that is sent. */
const reportingProgress = (body: HttpBody.HttpBody, progress: Progress): HttpBody.HttpBody =>
  body._tag === "Stream"
    ? HttpBody.stream(
      // By chunk, because `Multipart` depends on its chunk boundaries.
      tapChunks(
        body.stream,
        Effect.map(monotonicNow, (now) => {
          progress.lastProgressAt = now
        })
      ),
      body.contentType,
      body.contentLength
    )
    : body

/**
 * The beginning of a body, for error messages.
 *
 * @since 0.1.0
 * @category text
 */
export const excerptOf = (body: string): string => body.slice(0, excerptLength)

/**
 * The failure of a write with a 2xx response whose body can't be read.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unreadable = (
  request: ApiRequest,
  attempts: number,
  status: number,
  why: string,
  body: string
): UnreadableSuccess =>
  new UnreadableSuccess({
    attempts,
    operation: request.operation,
    status,
    message:
      `the service reported success (status ${status}), but ${why}; check the result, because the client doesn't send the request again`,
    body: excerptOf(body)
  })
