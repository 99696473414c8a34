/** Requests for a source, by GET or by a POST that only reads: redirects, retries, `Retry-After`, validators, and secrets for the named origin only. */
import { retryAfter } from "@plaza/domain/ErrorResponse"
import type { SourceError } from "@plaza/tabular/SourceError"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Headers } from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type { HttpMethod } from "effect/http/HttpMethod"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { Wording } from "../../Wording.ts"
import type { Redact } from "../Secrets.ts"
import { silent, type SourceFailure, unreachable } from "../Source.ts"
import * as SourceUri from "../SourceUri.ts"

export interface RequestOptions {
  readonly address: URL
  readonly authorization: Redacted.Redacted | undefined
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
  /** How long the server may be silent. */
  readonly timeout: Duration.Duration
  /** The source's name in messages. */
  readonly name: string
  readonly refused: (reason: string) => SourceError
  /** Removes secrets from a text of the server. */
  readonly redact: Redact
  /** The headers that sign a request. Redirects are not followed then, because a signature is for one address. */
  readonly sign?: (method: HttpMethod, url: URL) => Effect.Effect<Readonly<Record<string, string>>>
}

/** A response with its final address. */
export interface Fetched {
  readonly url: URL
  readonly response: HttpClientResponse
}

interface Requests {
  readonly get: (
    url: URL,
    conditions?: Readonly<Record<string, string>>,
    method?: "GET" | "HEAD"
  ) => Effect.Effect<Fetched, SourceFailure, Scope.Scope>
  /**
   * Sends a query as JSON, and reads its response. Sends it again after a failure of either, which is safe only because a query changes
   * nothing: GraphqlQuery.ts refuses a mutation.
   */
  readonly post: <A>(
    url: URL,
    json: string,
    read: (fetched: Fetched) => Effect.Effect<A, SourceFailure, Scope.Scope>
  ) => Effect.Effect<A, SourceFailure, Scope.Scope>
}

const retries = 3
const redirects = 5
const redirections = new Set([301, 302, 303, 307, 308])
// After any other one, clients go on with a GET.
const keepMethod = new Set([307, 308])
// After a longer Retry-After the request fails, with the time to retry.
const maxWait = Duration.minutes(2)

const untilRetryAt = (failure: SourceFailure): Effect.Effect<Duration.Duration> =>
  Effect.map(Clock.currentTimeMillis, (now) =>
    failure._tag === "SourceUnreachable" && failure.retryAt !== undefined
      ? Duration.millis(Math.max(0, DateTime.toEpochMillis(failure.retryAt) - now))
      : Duration.zero)

// The pause is the longer of Retry-After and backoff.
const backoff = Schedule.max([Schedule.recurs(retries), Schedule.jittered(Schedule.exponential("1 second"))]).pipe(
  Schedule.setInputType<SourceFailure>(),
  Schedule.modifyDelay(({ duration, input }) => Effect.map(untilRetryAt(input), Duration.max(duration)))
)

export const make = Effect.fnUntraced(function*({ address, authorization, headers, name, redact, refused, sign, timeout }: RequestOptions) {
  // Without a scope of its own, a response whose body nobody reads stays in memory until a full garbage collection.
  const client = HttpClient.withScope(yield* HttpClient.HttpClient)
  const { place } = yield* Wording
  const secrets: Readonly<Record<string, string>> = {
    ...(headers === undefined ? {} : Redacted.value(headers)),
    ...(authorization === undefined ? {} : { authorization: Redacted.value(authorization) })
  }

  const requestTo = ({ headers, json, method, url }: Sent, signature: Readonly<Record<string, string>>) => {
    // A text, because the client re-encodes the parameters of a URL, which breaks signatures.
    const request = HttpClientRequest.make(method)(`${url.origin}${url.pathname}${url.search}`, {
      headers: {
        accept: json === undefined ? "text/csv, application/json, application/x-ndjson, */*;q=0.5" : "application/json",
        ...(url.origin === address.origin ? secrets : {}),
        "accept-encoding": "identity",
        ...headers,
        ...signature
      }
    })
    return json === undefined ? request : HttpClientRequest.bodyText(request, json, "application/json")
  }

  const follow = (sent: Sent, left = redirects): Effect.Effect<Fetched, SourceFailure, Scope.Scope> =>
    Effect.gen(function*() {
      const { method, url } = sent
      const signature = sign === undefined ? {} : yield* sign(method, url)
      const response = yield* client.execute(requestTo(sent, signature)).pipe(
        Effect.provideService(HttpClient.TracerPropagationEnabled, false),
        // Its span would have the whole address, whose parameters may be secret. The spans of the source have the rest.
        Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
        Effect.mapError((error) => unreachable(name, `the connection failed (${causeOf(error)})`)),
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(silent(name, timeout)) })
      )
      const { location } = response.headers
      if (sign !== undefined || !redirections.has(response.status) || location === undefined) return { url, response }
      if (left === 0 || !URL.canParse(location, url)) return yield* refused("it redirects too often, or to an invalid address")
      const target = new URL(location, url)
      if (method === "POST" && !keepMethod.has(response.status)) {
        // An address writes some characters of a text in another way, so either may hold a secret that the other does not show.
        const shown = redact(location) === location ? redact(SourceUri.shown(target.href)) : "an address that repeats a secret"
        return yield* refused(
          `it redirects to ${shown} with ${response.status}, after which no POST is sent: name that address with ${place("source")}`
        )
      }
      return yield* follow({ ...sent, url: target }, left - 1)
    })

  const checkAvailable = ({ response: { headers, status } }: Fetched) =>
    Effect.gen(function*() {
      if (status < 500 && status !== 429) return
      const now = yield* Clock.currentTimeMillis
      const wait = retryAfter(headers["retry-after"], now, headers["date"])
      if (Option.isNone(wait)) return yield* unreachable(name, `it responded ${status}`)
      const at = DateTime.makeUnsafe(now + Duration.toMillis(wait.value))
      return yield* unreachable(name, `it responded ${status} with Retry-After until ${DateTime.formatIso(at)}`, at)
    })

  const retrying = <A, R>(effect: Effect.Effect<A, SourceFailure, R>) =>
    Effect.retry(effect, {
      while: (failure) => failure._tag === "SourceError" ? false : Effect.map(untilRetryAt(failure), Duration.isLessThanOrEqualTo(maxWait)),
      schedule: backoff
    })

  const requests: Requests = {
    get: (url, conditions = {}, method = "GET") => follow({ url, method, headers: conditions }).pipe(Effect.tap(checkAvailable), retrying),
    post: (url, json, read) =>
      follow({ url, method: "POST", headers: {}, json }).pipe(Effect.tap(checkAvailable), Effect.flatMap(read), retrying)
  }
  return requests
})

interface Sent {
  readonly url: URL
  readonly method: "GET" | "HEAD" | "POST"
  readonly headers: Readonly<Record<string, string>>
  readonly json?: string
}

/** The error code of the system, else the reason of the platform. Neither contains parts of the request. */
const causeOf = ({ reason }: HttpClientError): string => {
  const { cause } = reason
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : reason._tag.replace(/Error$/, "")
}

// A version begins with its header. The stronger one is first: `Last-Modified` counts whole seconds.
const validators = [["etag", "if-none-match"], ["last-modified", "if-modified-since"]] as const

/** The version of a response, by its validators. */
export const versionOf = (headers: Headers): Option.Option<string> =>
  Option.firstSomeOf(validators.map(([name]) => Option.map(Option.fromUndefinedOr(headers[name]), (value) => `${name} ${value}`)))

/** The request headers that ask for a version newer than this one only. */
export const newerThan = (version: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    validators.flatMap(([name, condition]) => version.startsWith(`${name} `) ? [[condition, version.slice(name.length + 1)]] : [])
  )
