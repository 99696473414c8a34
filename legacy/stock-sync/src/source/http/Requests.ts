/** GET requests for a source: redirects, retries, `Retry-After`, and secrets for the named origin only. */
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import { retryAfter } from "@plaza-legacy/domain/ErrorResponse"
import type { SourceError } from "@plaza-legacy/tabular/SourceError"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { SourceUnreachable } from "../Source.ts"

export interface RequestOptions {
  readonly address: URL
  readonly authorization: Redacted.Redacted | undefined
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
  /** How long the server may be silent. */
  readonly timeout: Duration.Duration
  readonly refused: (what: string) => SourceError
  readonly unreachable: (what: string, retryAt?: DateTime.Utc) => SourceUnreachable
}

/** A response with its final address. */
export interface Fetched {
  readonly url: URL
  readonly response: HttpClientResponse
}

export type Get = (
  url: URL,
  conditions?: Readonly<Record<string, string>>
) => Effect.Effect<Fetched, SourceError | SourceUnreachable, Scope.Scope>

const attempts = 4
const redirects = 5
const redirections = new Set([301, 302, 303, 307, 308])
// After a longer Retry-After the request fails, with the time to retry.
const maxWait = Duration.minutes(2)

export const make = (options: RequestOptions): Effect.Effect<Get, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (platform) => {
    // Without a scope of its own, a response whose body nobody reads stays in memory until a full garbage collection.
    const client = HttpClient.withScope(HttpClient.withTracerPropagation(platform, false))
    const { address, refused, timeout, unreachable } = options
    const secrets: Readonly<Record<string, string>> = {
      ...(options.headers === undefined ? {} : Redacted.value(options.headers)),
      ...(options.authorization === undefined ? {} : { authorization: Redacted.value(options.authorization) })
    }

    const requestTo = (url: URL): HttpClientRequest.HttpClientRequest =>
      // A text, because the client re-encodes the parameters of a URL, which breaks signatures.
      HttpClientRequest.get(`${url.origin}${url.pathname}${url.search}`, {
        headers: {
          accept: "text/csv, application/json, application/x-ndjson, */*;q=0.5",
          ...(url.origin === address.origin ? secrets : {}),
          "accept-encoding": "identity"
        }
      })
    const first = requestTo(address)

    const follow = (url: URL, conditions: Readonly<Record<string, string>>, left: number): ReturnType<Get> =>
      Effect.gen(function*() {
        const request = HttpClientRequest.setHeaders(url === address ? first : requestTo(url), conditions)
        const response = yield* client.execute(request).pipe(
          Effect.mapError((error) => unreachable(`the connection failed (${causeOf(error)})`)),
          Effect.timeoutFail({ duration: timeout, onTimeout: () => unreachable(`no response for ${Duration.format(timeout)}`) })
        )
        if (!redirections.has(response.status)) return { url, response }
        const { location } = response.headers
        if (location === undefined) return { url, response }
        if (left === 0 || !URL.canParse(location, url)) return yield* refused("it redirects too often, or to an invalid address")
        return yield* follow(new URL(location, url), conditions, left - 1)
      })

    const available = ({ response, url }: Fetched) =>
      Effect.gen(function*() {
        const { status } = response
        if (status < 500 && status !== 429) return { url, response }
        const { headers } = response
        const now = yield* Clock.currentTimeMillis
        const wait = retryAfter(headers["retry-after"], now, headers["date"])
        if (Option.isNone(wait)) return yield* unreachable(`it responded ${status}`)
        const at = DateTime.unsafeMake(now + Duration.toMillis(wait.value))
        return yield* unreachable(`it responded ${status} with Retry-After until ${DateTime.formatIso(at)}`, at)
      })

    // The pause is the longer of Retry-After and backoff.
    const backoff = Schedule.intersect(Schedule.recurs(attempts - 1), Schedule.jittered(Schedule.exponential("1 second")))
    const retries = Schedule.identity<SourceError | SourceUnreachable>().pipe(
      Schedule.intersect(backoff),
      Schedule.modifyDelayEffect(([failure], delay) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          failure._tag === "SourceUnreachable" && failure.retryAt !== undefined
            ? Duration.max(delay, Duration.millis(Math.max(0, DateTime.toEpochMillis(failure.retryAt) - now)))
            : delay)
      )
    )
    const worthWaiting = (failure: SourceError | SourceUnreachable) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        failure._tag === "SourceUnreachable" &&
        (failure.retryAt === undefined || DateTime.toEpochMillis(failure.retryAt) - now <= Duration.toMillis(maxWait)))

    return (url, conditions = {}) =>
      follow(url, conditions, redirects).pipe(
        Effect.flatMap(available),
        Effect.retry({ while: worthWaiting, schedule: retries })
      )
  })

/** The error code of the system, else the reason of the platform. Neither contains parts of the request. */
const causeOf = (error: HttpClientError): string => {
  const { cause } = error
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : error.reason
}
