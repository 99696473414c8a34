/**
 * Sends one request within its time limit, and reads its response or fails with a typed failure. `RateLimitedAttempt` waits for
 * a slot before.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import { excerptLength, parseHttpDate, toError } from "@plaza/domain/ErrorResponse"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import { AttemptTimeout, ConnectionFailed, ConnectionLost, UnreadableSuccess } from "../../ClientError.js"
import type { AttemptFailure } from "../../ClientError.js"
import * as Redaction from "../../Redaction.js"
import { Settings } from "../../Settings.js"
import { reasonOf, reasonOfCause } from "../../TransportReason.js"
import type { TransportReason } from "../../TransportReason.js"
import { monotonicNow, tapChunks } from "../Compat.js"
import type { ApiRequest, ApiResponse } from "../transport/ApiRequest.js"
import { noRedirects } from "../transport/noRedirects.js"
import * as ResponseBody from "../transport/ResponseBody.js"
import * as Transport from "../transport/Transport.js"
import * as Deadlines from "./Deadlines.js"
import type { Shutdown } from "./Shutdown.js"

/**
 * The state of a request in flight.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress extends Deadlines.Watched {
  /** Attempts of the call, this one included. */
  readonly attempts: number
  readonly span: Tracer.Span
  readonly sentAt: DateTime.Utc
  /** The head of the response; undefined before it arrives. */
  head: Transport.Head | undefined
  /** Whether the request has had a connection; undefined where the HTTP client doesn't report that. */
  isConnected?: boolean | undefined
}

/** @since 0.1.0 @category models */
export type Send = (request: ApiRequest, progress: Progress) => Effect.Effect<ApiResponse, AttemptFailure>

// The part that is read of a response whose `Content-Length` is beyond the limit.
const excerptBytes = 4 * excerptLength

const isSuccess = (head: Transport.Head): boolean => head.status >= 200 && head.status < 300

const dateOf = ({ headers }: Transport.Head): DateTime.Utc | undefined => {
  const millis = parseHttpDate(headers["date"])
  return millis === undefined ? undefined : DateTime.unsafeMake(millis)
}

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
    // The span of the attempt covers the request.
    const client = HttpClient.withTracerDisabledWhen(yield* noRedirects(given), () => true)
    const transport = Transport.of(given)

    const headersOf = ({ span }: Progress) => settings.propagateTrace ? { ...ownHeaders, ...HttpTraceContext.toHeaders(span) } : ownHeaders

    const failureOf = (request: ApiRequest, progress: Progress, transport: TransportReason, thrown: unknown) => {
      const { attempts, head } = progress
      const { connected } = transport
      const reason = redaction.text(transport.reason)
      // The errors of HTTP clients may hold the request with its headers.
      const cause = redaction.cause(thrown)
      if (head !== undefined && request.delivery !== "Read") {
        return unreadable(request, attempts, head.status, `its response broke off (${reason})`, "")
      }
      return connected
        ? new ConnectionLost({
          attempts,
          reason,
          cause,
          message: `the connection to ${host} broke before the whole response was there (${reason})`
        })
        : new ConnectionFailed({
          attempts,
          reason,
          cause,
          message: `can't reach ${host} (${reason}); check the base address and the network`
        })
    }

    const refused = (
      request: ApiRequest,
      { attempts }: Progress,
      { headers, status }: Transport.Head,
      body: string,
      receivedAt: DateTime.Utc
    ): AttemptFailure => {
      const requestId = headers["x-request-id"]
      const safe = requestId === undefined ? headers : { ...headers, "x-request-id": redaction.text(requestId) }
      return toError({ status, headers: safe, body, receivedAt: DateTime.toEpochMillis(receivedAt), attempts, listed: request.listed })
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
        ? unreadable(request, attempts, head.status, "its response didn't end in time", "")
        : new AttemptTimeout({
          attempts,
          timeout: progress.limit,
          message: `no whole response from ${host} within ${Duration.format(progress.limit)}`
        })
    }

    /** The client was closed after the request had left, so its outcome is unknown. */
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
        message: `the client was closed before ${host} had responded; keep the scope of its layer open until calls have ended`
      })
    }

    /** Records the head of a response. Returns how many bytes of its body to read. */
    const noteHead = (progress: Progress, head: Transport.Head): number => {
      progress.span.attribute("http.response.status_code", head.status)
      progress.head = head
      const isTooLong = Number(head.headers["content-length"] ?? 0) > settings.maxResponseBytes
      // An error reports the beginning of its body, however long it is.
      return !isTooLong ? settings.maxResponseBytes : isSuccess(head) ? 0 : excerptBytes
    }

    const tooLarge = (request: ApiRequest, { attempts }: Progress, { status }: Transport.Head, body: string): AttemptFailure => {
      const why = `its response is larger than ${settings.maxResponseBytes} bytes (option maxResponseBytes)`
      return request.delivery === "Read"
        ? new ConnectionLost({
          attempts,
          reason: "RESPONSE_TOO_LARGE",
          message: `the connection to ${host} was dropped, because ${why}`
        })
        : unreadable(request, attempts, status, why, body)
    }

    const conclude = (
      request: ApiRequest,
      progress: Progress,
      head: Transport.Head,
      { isCut, text }: Transport.Body
    ): Effect.Effect<ApiResponse, AttemptFailure> => {
      // A proxy may echo the request with its key, and error messages show what can't be decoded.
      const body = redaction.text(isCut ? withoutPartOf(key, text) : text)
      if (isCut && isSuccess(head)) {
        return Effect.fail(tooLarge(request, progress, head, body))
      }
      return isSuccess(head)
        ? Effect.succeed({ status: head.status, body, date: dateOf(head) })
        : Effect.flatMap(DateTime.now, (now) => Effect.fail(refused(request, progress, head, body, now)))
    }

    /** An error response whose body breaks off is still that error. */
    const brokenOff = (
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
        body: watched(request.body, progress)
      })
      const response = Effect.flatMap(client.execute(httpRequest), (response) => {
        return Effect.map(ResponseBody.read(response, noteHead(progress, response)), (body) => ({ head: response, body }))
      })
      return deadlines.limit(
        Effect.matchEffect(response, {
          onFailure: (error) => brokenOff(request, progress, reasonOf(error), error.cause),
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
              // The transport knows whether there was a connection; a code only suggests it.
              const { reason } = reasonOfCause(cause, "Transport")
              resume(brokenOff(request, progress, { reason, connected: progress.isConnected === true }, cause))
            }
          })
          return Effect.sync(abort)
        },
        progress,
        {
          onTimeout: () => {
            // First, so that a request that is reported as never connected does not connect afterwards.
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

// The longest escape of one character of a key, in JSON, HTML and the like.
const longestEscape = 8

/** A cut text without its end, which may hold the beginning of a key that redaction can't recognise. */
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

/** The body, with each chunk that goes out recorded as progress. */
const watched = (body: HttpBody.HttpBody, progress: Progress): HttpBody.HttpBody =>
  body._tag === "Stream"
    ? HttpBody.stream(
      // `Multipart` needs its chunks as they are.
      tapChunks(
        body.stream,
        Effect.map(monotonicNow, (now) => {
          progress.movedAt = now
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
 * The failure for a 2xx with a body that can't be read.
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
    message: `the service reported success (status ${status}), but ${why}; the request was not sent again`,
    body: excerptOf(body)
  })
