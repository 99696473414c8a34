/**
 * One request within its time limit: sent, its answer read once, and either that or a typed failure. Knows nothing of
 * slots, nor of how often it is called.
 *
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import { toError } from "@plaza/domain/ErrorAnswer"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Tracer from "effect/Tracer"
import * as Deadlines from "./Deadlines.js"
import * as Exchange from "./Exchange.js"
import { AttemptTimeout, ConnectionFailed, ConnectionLost, UnreadableSuccess } from "./Failures.js"
import type { AttemptFailure } from "./Failures.js"
import type { Answer, Outgoing } from "./Outgoing.js"
import * as Redirects from "./Redirects.js"
import { Settings } from "./Settings.js"
import { reasonOf, reasonOfCause } from "./TransportReason.js"
import type { TransportReason } from "./TransportReason.js"

// Enough to recognise a proxy's page by.
const excerptLength = 500

/**
 * What is known of a request while it is on the way.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress extends Deadlines.Watched {
  /** Requests of its call until now, it included. */
  readonly attempts: number
  readonly span: Tracer.Span
  /** Undefined until it is there. */
  head: Exchange.Head | undefined
}

/** @since 0.1.0 @category models */
export type Send = (outgoing: Outgoing, progress: Progress) => Effect.Effect<Answer, AttemptFailure>

const isSuccess = (head: Exchange.Head): boolean => head.status >= 200 && head.status < 300

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Send, never, HttpClient.HttpClient | Settings | Scope.Scope> = Effect.gen(function*() {
  const settings = yield* Settings
  const key = Redacted.value(settings.apiKey)
  const ownHeaders = { authorization: `Bearer ${key}`, accept: "application/json" }
  const deadlines = yield* Deadlines.make(settings.timeout)
  const host = new URL(settings.baseUrl).host
  const given = yield* HttpClient.HttpClient
  // The span of the attempt tells of the request.
  const client = HttpClient.withTracerDisabledWhen(yield* Redirects.notFollowed(given), () => true)
  const exchange = Exchange.of(given)

  const headersOf = ({ span }: Progress) =>
    settings.propagateTrace ? { ...ownHeaders, ...HttpTraceContext.toHeaders(span) } : ownHeaders

  const failureOf = (outgoing: Outgoing, progress: Progress, { connected, reason }: TransportReason, cause: unknown) => {
    const { attempts, head } = progress
    if (head !== undefined && outgoing.delivery !== "Read") {
      return unreadable(outgoing, attempts, head.status, `its answer broke off (${reason})`, "")
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

  const refused = (
    outgoing: Outgoing,
    { attempts }: Progress,
    { headers, status }: Exchange.Head,
    body: string,
    receivedAt: number
  ): AttemptFailure => toError({ status, headers, body, receivedAt, attempts, listed: outgoing.listed })

  const outOfTime = (outgoing: Outgoing, progress: Progress): AttemptFailure => {
    const { attempts, head } = progress
    if (head !== undefined && !isSuccess(head)) {
      return refused(outgoing, progress, head, "", progress.movedAt)
    }
    return head !== undefined && outgoing.delivery !== "Read"
      ? unreadable(outgoing, attempts, head.status, "its answer didn't end in time", "")
      : new AttemptTimeout({
        attempts,
        timeout: settings.timeout,
        message: `no whole answer from ${host} within ${Duration.format(settings.timeout)}`
      })
  }

  const noteHead = (progress: Progress, head: Exchange.Head): void => {
    progress.span.attribute("http.response.status_code", head.status)
    progress.head = head
  }

  const conclude = (
    outgoing: Outgoing,
    progress: Progress,
    head: Exchange.Head,
    text: string
  ): Effect.Effect<Answer, AttemptFailure> => {
    // A proxy that echoes the request may echo the key with it, and what can't be read is shown to people.
    const body = text.replaceAll(key, "<redacted>")
    return isSuccess(head)
      ? Effect.succeed({ status: head.status, body, date: dateOf(head.headers) })
      : Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(refused(outgoing, progress, head, body, now)))
  }

  /** A refusal whose body breaks off is still a refusal. */
  const brokenOff = (
    outgoing: Outgoing,
    progress: Progress,
    reason: TransportReason,
    cause: unknown
  ): Effect.Effect<Answer, AttemptFailure> =>
    progress.head === undefined || isSuccess(progress.head)
      ? Effect.fail(failureOf(outgoing, progress, reason, cause))
      : conclude(outgoing, progress, progress.head, "")

  const byClient: Send = (outgoing, progress) => {
    const request = HttpClientRequest.make(outgoing.method)(settings.baseUrl + outgoing.path, {
      urlParams: outgoing.query,
      headers: headersOf(progress),
      body: watched(outgoing.body, progress)
    })
    const answer = Effect.flatMap(client.execute(request), (response) => {
      noteHead(progress, response)
      return Effect.map(response.text, (text) => ({ head: response, text }))
    })
    return deadlines.limit(
      Effect.matchEffect(answer, {
        onFailure: (error) => brokenOff(outgoing, progress, reasonOf(error), error.cause),
        onSuccess: ({ head, text }) => conclude(outgoing, progress, head, text)
      }),
      progress,
      () => outOfTime(outgoing, progress)
    )
  }

  const byExchange = (exchange: Exchange.Exchange, body: InMemory): Send => (outgoing, progress) =>
    deadlines.limitAsync<Answer, AttemptFailure, AttemptFailure>(
      (resume) =>
        Effect.sync(exchange({
          method: outgoing.method,
          url: urlOf(settings.baseUrl + outgoing.path, outgoing.query),
          headers: body._tag === "Empty" ? headersOf(progress) : { ...headersOf(progress), "content-type": body.contentType },
          body: body._tag === "Empty" ? undefined : body.body
        }, {
          onHead: (head) => noteHead(progress, head),
          onEnd: (head, text) => resume(conclude(outgoing, progress, head, text)),
          onFailure: (cause) => resume(brokenOff(outgoing, progress, reasonOfCause(cause, "Transport"), cause))
        })),
      progress,
      () => outOfTime(outgoing, progress)
    )

  return (outgoing, progress) =>
    exchange !== undefined && isInMemory(outgoing.body)
      ? byExchange(exchange, outgoing.body)(outgoing, progress)
      : byClient(outgoing, progress)
})

type InMemory = HttpBody.Empty | HttpBody.Uint8Array

const isInMemory = (body: HttpBody.HttpBody): body is InMemory => body._tag === "Empty" || body._tag === "Uint8Array"

const urlOf = (address: string, query: Outgoing["query"]): URL => {
  const url = new URL(address)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      url.searchParams.append(name, value)
    }
  }
  return url
}

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
