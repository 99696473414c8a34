/**
 * One attempt of a call: acquires a slot of the allowance, sends the request, and reads its response or fails with a typed failure, with a
 * span and metrics. `Delivery` decides what follows.
 *
 * @since 0.1.0
 */
import { excerptLength, isEnvelope, parseHttpDate, toError } from "@plaza/domain/ErrorResponse"
import { UnrecognizedError } from "@plaza/domain/Errors"
import type { DeliveryClass } from "@plaza/domain/Operations"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import type { AttemptFailure, ClientClosed } from "../../ClientError.ts"
import { AttemptTimeout, ConnectionFailed, ConnectionLost, isServiceError, UnreadableSuccess } from "../../ClientError.ts"
import * as Metrics from "../../Metrics.ts"
import type { PauseRequest } from "../../RateLimit.ts"
import { RateLimit } from "../../RateLimit.ts"
import * as Redaction from "../../Redaction.ts"
import { Settings } from "../../Settings.ts"
import type { TransportReason } from "../../TransportReason.ts"
import { reasonOf, reasonOfCause } from "../../TransportReason.ts"
import { CurrentReservation } from "../rate-limit/Acquire.ts"
import type { MonotonicMillis } from "../Time.ts"
import { monotonicNowUnsafe, sleepUntil } from "../Time.ts"
import type { Connection } from "../transport/Connection.ts"
import { CurrentConnection } from "../transport/Connection.ts"
import * as MayHaveHappened from "./MayHaveHappened.ts"
import * as ResponseBody from "./ResponseBody.ts"
import * as Shutdown from "./Shutdown.ts"

/**
 * The encoded request of any operation.
 *
 * @since 0.1.0
 * @category models
 */
export interface ApiRequest {
  /** The operation's name, for spans, logs and messages. It doesn't contain an id. */
  readonly operation: string
  readonly area: string
  readonly delivery: DeliveryClass
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE" | "HEAD" | "OPTIONS"
  /** Relative to the base URL, percent-encoded, with a leading slash. */
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  readonly body: HttpBody.HttpBody
  /** Whether the body can be sent again now (default: always). If not, the call fails with its last failure. */
  readonly canRepeat?: (() => boolean) | undefined
  /** The codes that the contract lists for the operation (default: all documented ones). */
  readonly listed?: ReadonlySet<string> | undefined
  /** Runs when an attempt has a slot and hands its request to the HTTP client. */
  readonly onSent?: ((progress: Progress) => void) | undefined
  /** Runs for the head of each response, an error response included. */
  readonly onResponse?: ((clock: ResponseClock) => void) | undefined
}

/**
 * When a response was written, by two clocks: the service wrote its `Date` between `sentAt` and `headAt`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ResponseClock {
  readonly sentAt: MonotonicMillis
  readonly headAt: MonotonicMillis
  /** The `Date` header, in milliseconds since the epoch; undefined if the response had none. */
  readonly dateMillis: number | undefined
}

/**
 * A 2xx response with its complete body.
 *
 * @since 0.1.0
 * @category models
 */
export interface ApiResponse {
  readonly status: number
  readonly body: string
}

/**
 * The status and the headers of a response.
 *
 * @since 0.1.0
 * @category models
 */
export interface Head {
  readonly status: number
  readonly headers: Headers.Headers
}

/**
 * The rest of a call's maximum wait, which all attempts of the call share. Only waits for a slot reduce it.
 *
 * @since 0.1.0
 * @category models
 */
export interface WaitBudget {
  left: Duration.Duration
}

/**
 * The state of one attempt, from its start.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress extends Connection {
  /** The number of the attempt in its call, from 1. */
  readonly number: number
  /** When the request was handed to the HTTP client; undefined before. */
  sentAt: MonotonicMillis | undefined
  /** When the request last made progress. The timeout counts from here. */
  lastProgressAt: MonotonicMillis
  /** The head of the response; undefined before it arrives. */
  head: Head | undefined
  /** When the attempt failed; undefined before. */
  endedAt: MonotonicMillis | undefined
}

/** @since 0.1.0 @category models */
export interface Call {
  readonly request: ApiRequest
  readonly waitBudget: WaitBudget
  /** The timeout of one request. */
  readonly timeout: Duration.Duration
  /** The operation's span. */
  readonly span: Tracer.Span
}

/** @since 0.1.0 @category constructors */
export const progress = (request: ApiRequest, number: number): Progress => ({
  number,
  isIdempotent: request.delivery === "Read" || request.delivery === "Repeatable",
  isConnected: undefined,
  proxy: undefined,
  sentAt: undefined,
  lastProgressAt: 0,
  head: undefined,
  endedAt: undefined
})

/**
 * Runs an attempt. `isRetry` is true after a 429, whose request waits before all others.
 *
 * @since 0.1.0
 * @category models
 */
export type Attempt = (call: Call, progress: Progress, isRetry: boolean) => Effect.Effect<ApiResponse, AttemptFailure>

// The bytes to read of an error response whose `Content-Length` exceeds the maximum.
const excerptBytes = 4 * excerptLength

const isSuccess = ({ status }: Head): boolean => status >= 200 && status < 300

const pauseRequest = (failure: AttemptFailure): PauseRequest | undefined =>
  !isServiceError(failure)
    ? undefined
    : failure.category === "RateLimited"
    ? { retryAfter: failure.retryAfter, counted: false }
    : failure.category === "ServiceFault" && failure.retryAfter !== undefined
    ? { retryAfter: failure.retryAfter, counted: true }
    : undefined

/** Why the client itself ended an attempt. */
type Ending = "timeout" | "closed"

/**
 * Returns the constructor of attempts, and the redaction of the key. Creates no span of the platform for a request, because the span of the
 * attempt covers it. Follows no redirect, which the document doesn't show: fetch would convert a POST to a GET that succeeds, and could
 * send the key to another host.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<
  {
    readonly attempt: Attempt
    readonly redaction: Redaction.Redaction
    /** Fails when the layer is released. */
    readonly closed: Effect.Effect<never, ClientClosed>
  },
  never,
  HttpClient.HttpClient | RateLimit | Settings | Scope.Scope
> = Effect.gen(function*() {
  const settings = yield* Settings
  const rateLimit = yield* RateLimit
  const shutdown = yield* Shutdown.make
  const ownInit = Option.getOrUndefined(yield* Effect.serviceOption(FetchHttpClient.RequestInit))
  const context = Context.make(FetchHttpClient.RequestInit, { ...ownInit, redirect: "manual" }).pipe(
    Context.add(HttpClient.TracerDisabledWhen, () => true)
  )
  const client = yield* HttpClient.HttpClient
  const key = Redacted.value(settings.apiKey)
  const redaction = Redaction.make(key)
  const base = HttpClientRequest.setHeaders(HttpClientRequest.empty, {
    authorization: `Bearer ${key}`,
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": settings.userAgent
  })
  const { host } = new URL(settings.baseUrl)

  const httpRequest = (request: ApiRequest, progress: Progress, clock: Clock.Clock, span: Tracer.Span) =>
    base.pipe(
      HttpClientRequest.setMethod(request.method),
      HttpClientRequest.setUrl(urlOf(settings.baseUrl + request.path, request.query)),
      HttpClientRequest.setBody(reportingProgress(request.body, progress, clock)),
      settings.propagateTrace ? HttpClientRequest.setHeaders(HttpTraceContext.toHeaders(span)) : (same) => same
    )

  /** A failure below HTTP. */
  const broken = (request: ApiRequest, progress: Progress, transport: TransportReason, thrown: unknown): AttemptFailure => {
    const { head, number: attempts, proxy } = progress
    const { connected, hint } = transport
    const reason = redaction.text(transport.reason)
    // The error of an HTTP client may reference the request with its headers.
    const cause = thrown === undefined ? {} : { cause: redaction.cause(thrown) }
    if (head !== undefined && request.delivery !== "Read") {
      return unreadable(request, attempts, head.status, `the connection broke before the end of its response (${reason})`, "")
    }
    const by = proxy === undefined ? "" : ` through the proxy ${proxy}`
    return connected
      ? new ConnectionLost({
        attempts,
        reason,
        ...cause,
        message: `the connection to ${host}${by} broke before the end of the response (${reason})${hint === undefined ? "" : `; ${hint}`}`
      })
      : new ConnectionFailed({
        attempts,
        reason,
        ...cause,
        message: `can't connect to ${host}${by} (${reason}); ${
          hint ?? `check the base URL${proxy === undefined ? "" : ", the proxy"} and the network`
        }`
      })
  }

  const refused = (
    request: ApiRequest,
    { number: attempts }: Progress,
    { headers, status }: Head,
    /** Undefined if the response ended before it was complete. */
    body: string | undefined,
    receivedAt: number
  ): AttemptFailure => {
    const error = toError({
      status,
      headers: redaction.headers(headers),
      body: body ?? "",
      isIncomplete: body === undefined,
      receivedAt,
      attempts,
      listed: request.listed
    })
    // A proxy may have sent the response after the service carried out the request.
    return body !== undefined && isEnvelope(body) ? error : MayHaveHappened.record(error, true)
  }

  const timedOut = (request: ApiRequest, progress: Progress, timeout: Duration.Duration, now: number): AttemptFailure => {
    const { head, isConnected, number: attempts } = progress
    if (isConnected === false) {
      return broken(request, progress, { connected: false, reason: "CONNECT_TIMEOUT", hint: undefined }, undefined)
    }
    if (head !== undefined && !isSuccess(head)) {
      return refused(request, progress, head, undefined, now)
    }
    return head !== undefined && request.delivery !== "Read"
      ? unreadable(request, attempts, head.status, "its response was not complete before the timeout", "")
      : new AttemptTimeout({ attempts, timeout, message: `no complete response from ${host} within ${Duration.format(timeout)}` })
  }

  /** The client's layer was released while the request was in flight, so its outcome is unknown. */
  const closedInFlight = (request: ApiRequest, progress: Progress, now: number): AttemptFailure => {
    const { head, number: attempts } = progress
    if (head !== undefined) {
      return isSuccess(head)
        ? broken(request, progress, { connected: true, reason: "CLOSED", hint: undefined }, undefined)
        : refused(request, progress, head, undefined, now)
    }
    return new ConnectionLost({
      attempts,
      reason: "CLOSED",
      message: `the client was closed before the response from ${host}; keep the scope of its layer open until all calls have ended`
    })
  }

  const tooLarge = (request: ApiRequest, { number: attempts }: Progress, status: number, body: string): AttemptFailure => {
    const why = `its response is larger than ${settings.maxResponseBytes} bytes (option maxResponseBytes)`
    return request.delivery === "Read"
      ? new ConnectionLost({
        attempts,
        reason: "RESPONSE_TOO_LARGE",
        message: `the client closed the connection to ${host}, because ${why}`
      })
      : unreadable(request, attempts, status, why, body)
  }

  /** An error reports the beginning of its body even if the body is too long. */
  const maxBytesOf = (head: Head): number =>
    Number(head.headers["content-length"] ?? 0) <= settings.maxResponseBytes
      ? settings.maxResponseBytes
      : isSuccess(head)
      ? 0
      : excerptBytes

  /** Concludes an attempt from its head and what was read of its body. An error response with an incomplete body is still one. */
  const conclude = (
    request: ApiRequest,
    progress: Progress,
    head: Head,
    { isCut, problem, text }: ResponseBody.Body,
    clock: Clock.Clock
  ): Effect.Effect<ApiResponse, AttemptFailure> => {
    // A proxy may echo the request with its key, and error messages contain parts of bodies.
    const body = redaction.text(isCut ? withoutPartOf(key, text) : text)
    if (!isSuccess(head)) {
      return Effect.fail(refused(request, progress, head, body, clock.currentTimeMillisUnsafe()))
    }
    if (isCut) {
      return Effect.fail(tooLarge(request, progress, head.status, body))
    }
    return problem === undefined
      ? Effect.succeed({ status: head.status, body })
      : Effect.fail(undecodable(request, progress.number, head.status, problem, body))
  }

  /** Executes a request. node:http throws for an invalid header, before it sends anything. */
  const execute = (httpRequest: HttpClientRequest.HttpClientRequest) =>
    Effect.catchDefect(client.execute(httpRequest), (cause) =>
      reasonOfCause(cause, "").connected
        ? Effect.die(cause)
        : Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request: httpRequest, cause }) })))

  const exchange = (request: ApiRequest, progress: Progress, clock: Clock.Clock, span: Tracer.Span) =>
    Effect.matchEffect(
      Effect.flatMap(execute(httpRequest(request, progress, clock, span)), (response) => {
        // Once, because the headers of a response are converted each time.
        const head: Head = { status: response.status, headers: response.headers }
        progress.head = head
        span.attribute("http.response.status_code", head.status)
        request.onResponse?.({
          sentAt: progress.sentAt ?? 0,
          headAt: monotonicNowUnsafe(clock),
          dateMillis: parseHttpDate(head.headers["date"])
        })
        return Effect.map(ResponseBody.read(response, head.headers, maxBytesOf(head)), (body) => ({ head, body }))
      }),
      {
        onFailure: (error): Effect.Effect<ApiResponse, AttemptFailure> => {
          const { head, isConnected } = progress
          if (head !== undefined && !isSuccess(head)) {
            return Effect.fail(refused(request, progress, head, undefined, clock.currentTimeMillisUnsafe()))
          }
          const transport = reasonOf(error)
          // The HTTP client's report of the connection is more precise than the code of the error.
          const connected = transport.connected && isConnected !== false
          return Effect.fail(broken(request, progress, { ...transport, connected }, error.reason.cause))
        },
        onSuccess: ({ body, head }) => conclude(request, progress, head, body, clock)
      }
    )

  /** Ends at the timeout, counted from the last progress. */
  const expired = (progress: Progress, timeoutMillis: number): Effect.Effect<never, Ending> =>
    Effect.suspend(() => {
      const until = progress.lastProgressAt + timeoutMillis
      return Effect.andThen(
        sleepUntil(until),
        Effect.suspend(() =>
          progress.lastProgressAt + timeoutMillis > until ? expired(progress, timeoutMillis) : Effect.fail("timeout" as const)
        )
      )
    })

  const closed: Effect.Effect<never, Ending> = Effect.mapError(shutdown.failed, () => "closed" as const)

  const sendNow = ({ request, timeout }: Call, progress: Progress, span: Tracer.Span): Effect.Effect<ApiResponse, AttemptFailure> =>
    Clock.clockWith((clock) => {
      progress.sentAt = progress.lastProgressAt = monotonicNowUnsafe(clock)
      request.onSent?.(progress)
      // Outside of the race, because only then the request is aborted and its connection is known.
      return exchange(request, progress, clock, span).pipe(
        Effect.raceFirst(expired(progress, Duration.toMillis(timeout))),
        Effect.raceFirst(closed),
        Effect.catch((failure) => {
          const now = clock.currentTimeMillisUnsafe()
          return Effect.fail(
            failure === "timeout"
              ? timedOut(request, progress, timeout, now)
              : failure === "closed"
              ? closedInFlight(request, progress, now)
              : failure
          )
        }),
        Effect.provideContext(Context.add(context, CurrentConnection, progress))
      )
    })

  const sendInSlot = (call: Call, progress: Progress, span: Tracer.Span, waitingSince: MonotonicMillis) =>
    Clock.clockWith((clock) => {
      const waitMillis = monotonicNowUnsafe(clock) - waitingSince
      span.attribute("plaza.wait_ms", waitMillis)
      const sent = Effect.andThen(Metric.update(Metrics.requests, 1), sendNow(call, progress, span))
      // The acquisition of a free slot takes some microseconds, which are no wait.
      if (waitMillis < 1) {
        return sent
      }
      call.waitBudget.left = Duration.millis(Math.max(0, Duration.toMillis(call.waitBudget.left) - waitMillis))
      return Effect.andThen(Metric.update(Metrics.waits, waitMillis / 1_000), sent)
    })

  const inSlot = (call: Call, progress: Progress, span: Tracer.Span, isRetry: boolean): Effect.Effect<ApiResponse, AttemptFailure> =>
    Effect.withFiber((fiber) => {
      const sent = sendInSlot(call, progress, span, monotonicNowUnsafe(fiber.getRef(Clock.Clock)))
      const options = { operation: call.request.operation, isRetry, shutdown, pauseRequest }
      const reservation = isRetry ? undefined : fiber.getRef(CurrentReservation)
      const slot = reservation?.slot
      if (reservation === undefined || slot === undefined) {
        return rateLimit.withSlot(call.waitBudget.left, sent, options)
      }
      reservation.slot = undefined
      return slot.use(sent, options)
    })

  const attempt: Attempt = (call, progress, isRetry) =>
    Effect.useSpan("plaza.attempt", {
      kind: "client",
      parent: call.span,
      attributes: {
        "plaza.operation": call.request.operation,
        "plaza.attempt": progress.number,
        "http.request.method": call.request.method,
        "server.address": host
      }
    }, (span) => inSlot(call, progress, span, isRetry))

  return { attempt, redaction, closed: shutdown.failed }
})

// The length of the longest common escape of one character, in JSON or HTML.
const longestEscape = 8

/** A truncated text without its end, which may contain the beginning of a key. Redaction can't recognise a part of a key. */
const withoutPartOf = (key: string, text: string): string => text.slice(0, Math.max(0, text.length - longestEscape * key.length))

const urlOf = (address: string, query: ApiRequest["query"]): string => {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      parameters.append(name, value)
    }
  }
  return parameters.size === 0 ? address : `${address}?${parameters}`
}

/** The body, which records the time of each chunk that is sent. */
const reportingProgress = (body: HttpBody.HttpBody, progress: Progress, clock: Clock.Clock): HttpBody.HttpBody =>
  body._tag === "Stream"
    ? HttpBody.stream(
      Stream.mapArray(body.stream, (chunks) => {
        progress.lastProgressAt = monotonicNowUnsafe(clock)
        return chunks
      }),
      body.contentType,
      body.contentLength
    )
    : body

/**
 * The failure of a write with a 2xx response whose body can't be read.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unreadable = (request: ApiRequest, attempts: number, status: number, why: string, body: string): UnreadableSuccess =>
  new UnreadableSuccess({
    attempts,
    operation: request.operation,
    status,
    message:
      `the service reported success (status ${status}), but ${why}; check the result, because the client doesn't send the request again`,
    body: body.slice(0, excerptLength)
  })

/**
 * The failure of a success that can't be decoded: a service fault for a read, `UnreadableSuccess` for a write.
 *
 * @since 0.1.0
 * @category constructors
 */
export const undecodable = (request: ApiRequest, attempts: number, status: number, why: string, body: string): AttemptFailure =>
  request.delivery === "Read"
    ? new UnrecognizedError({
      status,
      category: "ServiceFault",
      attempts,
      message: `the response with status ${status} can't be decoded (${why})`,
      details: { body: body.slice(0, excerptLength) }
    })
    : unreadable(request, attempts, status, `its response can't be decoded (${why})`, body)
