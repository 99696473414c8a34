/**
 * Checks the service, its clock and the account with one GET /me, without retries.
 *
 * Source: interface v1, "Endpoints", GET /me.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { Redaction, TransportReason } from "@plaza-legacy/client"
import * as Node from "@plaza-legacy/client/node"
import { parseHttpDate, toError } from "@plaza-legacy/domain/ErrorResponse"
import * as Resources from "@plaza-legacy/domain/Resources"
import * as Remediation from "@plaza/cli-kit/Remediation"
import { ofFailure } from "@plaza/cli-kit/Report"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type Check, failed, ok, unknown, warning } from "./Check.ts"

interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  readonly sentAt: number
  readonly receivedAt: number
}

const getMe = (
  url: URL,
  key: Redacted.Redacted | undefined
): Effect.Effect<Response, HttpClientError.HttpClientError, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = HttpClient.withTracerDisabledWhen(yield* HttpClient.HttpClient, () => true)
    const request = HttpClientRequest.get(`${url.href.replace(/\/+$/, "")}/me`, { acceptJson: true })
    const sentAt = yield* Clock.currentTimeMillis
    const { headers, status, text } = yield* client.execute(key === undefined ? request : HttpClientRequest.bearerToken(request, key))
    const body = yield* text
    const receivedAt = yield* Clock.currentTimeMillis
    // A proxy that echoes the request may echo the key with it.
    const redaction = Redaction.make(key === undefined ? "" : Redacted.value(key))
    return { status, headers: redaction.headers(headers), body: redaction.text(body), sentAt, receivedAt }
  })

const maxOffset = Duration.seconds(30)

/** The `Date` of a response has whole seconds, and was set between request and response. */
const clock = ({ sentAt, headers, receivedAt }: Response): Check => {
  const remote = parseHttpDate(headers["date"])
  if (remote === undefined) return unknown("clock", "the service does not send its time")
  const ahead = remote > receivedAt ? remote - receivedAt : remote + 1_000 < sentAt ? remote + 1_000 - sentAt : 0
  const seconds = Math.round(Math.abs(ahead) / 1_000)
  if (seconds === 0) return ok("clock", "in sync with the service")
  const text = `this machine's clock is ${seconds} seconds ${ahead > 0 ? "behind" : "ahead of"} the service's`
  return seconds <= Duration.toSeconds(maxOffset)
    ? ok("clock", text)
    : warning("clock", text, "Synchronise the clock of this machine, for example with NTP.")
}

const decode = Schema.decodeUnknownEither(Schema.parseJson(Resources.Profile))

const account = (response: Response): Check => {
  if (response.status < 200 || response.status >= 300) {
    const { reason, remediation, summary } = ofFailure(toError(response), { now: response.receivedAt })
    return failed("account", reason === undefined ? summary : `${summary}: ${reason}`, remediation.join(" "))
  }
  return Either.match(decode(response.body), {
    onLeft: () =>
      failed("account", `the response with status ${response.status} is not from the service`, Remediation.forUnreadable("getMe")),
    onRight: ({ id, username }) =>
      id === undefined && username === undefined
        ? ok("account", "the service accepts the key, but returns neither id nor username")
        : ok("account", username === undefined ? `account ${id}` : id === undefined ? username : `${username} (account ${id})`)
  })
}

export const names = { service: "service", clock: "clock", account: "account" } as const

export const service = (
  url: URL,
  key: Redacted.Redacted | undefined
): Effect.Effect<readonly [service: Check, clock: Check, account: Check]> =>
  getMe(url, key).pipe(
    Effect.mapError((error) => TransportReason.reasonOf(error).reason),
    Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => "ETIMEDOUT" }),
    Effect.match({
      onFailure: (reason) =>
        [
          failed(names.service, `no response from ${url.host} (${reason})`, Remediation.forReason(reason)),
          unknown(names.clock, "the service does not respond"),
          unknown(names.account, "the service does not respond")
        ] as const,
      onSuccess: (response) =>
        [
          ok(names.service, `${url.host} responds with status ${response.status} after ${response.receivedAt - response.sentAt} ms`),
          clock(response),
          key === undefined ? unknown(names.account, "there is no API key") : account(response)
        ] as const
    }),
    // The check of the proxy reports an invalid variable.
    Effect.provide(Node.layer)
  )
