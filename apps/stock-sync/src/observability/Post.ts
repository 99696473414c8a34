/** Posts JSON to an address that may contain a token: for the webhook and for messages to a chat. */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { name, version } from "../version.ts"

const attemptTimeout = Duration.seconds(10)
const maxResponseBytes = 64 * 1024

/** One attempt failed. The reason contains no part of the address. */
export class NotDelivered extends Data.TaggedError("NotDelivered")<{
  readonly reason: string
  /** The status of the response; undefined without one. */
  readonly status?: number
  /** How long the receiver asks to wait. */
  readonly retryAfter?: Duration.Duration | undefined
}> {}

const reasonOf = ({ cause, reason: { _tag } }: HttpClientError): string => {
  const code = Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? ` (${cause.code})` : ""
  return `${_tag.replace(/Error$/, "")}${code}`
}

/** Seconds or a date. */
const retryAfter = (header: string | undefined, now: number): Duration.Duration | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d{1,9}$/.test(text)) return Duration.seconds(Number(text))
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Duration.millis(Math.max(0, at - now))
}

/** A status of 2xx within 10 seconds counts as delivered. Redirects are not followed. */
export const post = (
  client: HttpClient.HttpClient,
  url: Redacted.Redacted<URL>,
  body: string,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<void, NotDelivered> =>
  Effect.gen(function*() {
    const request = HttpClientRequest.post(Redacted.value(url)).pipe(
      HttpClientRequest.setHeaders({ "user-agent": `${name}/${version}`, ...headers }),
      HttpClientRequest.bodyText(body, "application/json")
    )
    const response = yield* client.execute(request)
    // Only the status matters. Reading the body lets the connection be reused.
    yield* Stream.runDrain(Stream.limitBytes(response.stream, maxResponseBytes, () => Stream.empty)).pipe(Effect.timeout("1 second"),
      Effect.ignore)
    const { status } = response
    if (status < 200 || status > 299) {
      return yield* new NotDelivered({
        reason: `status ${status}`,
        status,
        retryAfter: retryAfter(response.headers["retry-after"], yield* Clock.currentTimeMillis)
      })
    }
  }).pipe(
    Effect.catchTag("HttpClientError", (error) => new NotDelivered({ reason: reasonOf(error) })),
    Effect.timeoutOrElse({
      duration: attemptTimeout,
      orElse: () => new NotDelivered({ reason: `no response within ${Duration.format(attemptTimeout)}` })
    }),
    // Spans and trace headers would disclose the address.
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
    Effect.provideService(HttpClient.TracerPropagationEnabled, false)
  )
