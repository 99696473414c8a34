/**
 * Checks the service with one GET /me: whether it responds, its clock, and the account. Sends it once, without
 * retries.
 *
 * Source: interface v1, "Endpoints", GET /me.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Remediation from "@plaza/cli-kit/Remediation"
import { ofFailure } from "@plaza/cli-kit/Report"
import { Redaction, TransportReason } from "@plaza/client"
import * as Node from "@plaza/client/node"
import { parseHttpDate, toError } from "@plaza/domain/ErrorResponse"
import * as Resources from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type Check, failed, ok, unknown, warning } from "./Check.js"

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  readonly askedAt: number
  readonly receivedAt: number
}

const ask = (url: URL, key: Redacted.Redacted | undefined): Effect.Effect<Answer, HttpClientError.HttpClientError, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = HttpClient.withTracerDisabledWhen(yield* HttpClient.HttpClient, () => true)
    const request = HttpClientRequest.get(`${url.href.replace(/\/+$/, "")}/me`, { acceptJson: true })
    const askedAt = yield* Clock.currentTimeMillis
    const { headers, status, text } = yield* client.execute(key === undefined ? request : HttpClientRequest.bearerToken(request, key))
    const body = yield* text
    const receivedAt = yield* Clock.currentTimeMillis
    // A proxy that echoes the request may echo the key with it.
    const redacted = key === undefined ? body : Redaction.make(Redacted.value(key)).text(body)
    return { status, headers, body: redacted, askedAt, receivedAt }
  })

const most = Duration.seconds(30)

/** The `Date` of a response has whole seconds, and was set between request and response. */
const clock = ({ askedAt, headers, receivedAt }: Answer): Check => {
  const there = parseHttpDate(headers["date"])
  if (there === undefined) return unknown("clock", "the service doesn't tell its time")
  const ahead = there > receivedAt ? there - receivedAt : there + 1_000 < askedAt ? there + 1_000 - askedAt : 0
  const seconds = Math.round(Math.abs(ahead) / 1_000)
  if (seconds === 0) return ok("clock", "the service has the same time")
  const text = `this machine's clock is ${seconds} seconds ${ahead > 0 ? "behind" : "ahead of"} the service's`
  return seconds <= Duration.toSeconds(most)
    ? ok("clock", text)
    : warning("clock", text, "Set this machine's clock, for example by NTP: certificates and waits depend on it.")
}

const decode = Schema.decodeUnknownEither(Schema.parseJson(Resources.Profile))

const account = (answer: Answer): Check => {
  if (answer.status < 200 || answer.status >= 300) {
    const { advice, sentence, why } = ofFailure(toError(answer), answer.receivedAt)
    return failed("account", why === undefined ? sentence : `${sentence}: ${why}`, advice.join(" "))
  }
  return Either.match(decode(answer.body), {
    onLeft: () => failed("account", `what answers with status ${answer.status} is not the service`, Remediation.forUnreadable("getMe")),
    onRight: ({ id, username }) =>
      id === undefined && username === undefined
        ? ok("account", "the service accepts the key, and shows neither id nor username of its account")
        : ok("account", username === undefined ? `account ${id}` : id === undefined ? username : `${username} (account ${id})`)
  })
}

export const names = { service: "service", clock: "clock", account: "account" } as const

export const service = (
  url: URL,
  key: Redacted.Redacted | undefined
): Effect.Effect<readonly [service: Check, clock: Check, account: Check]> =>
  ask(url, key).pipe(
    Effect.mapError((error) => TransportReason.reasonOf(error).reason),
    Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => "ETIMEDOUT" }),
    Effect.match({
      onFailure: (reason) =>
        [
          failed(names.service, `no answer from ${url.host} (${reason})`, Remediation.forReason(reason)),
          unknown(names.clock, "the service doesn't answer"),
          unknown(names.account, "the service doesn't answer")
        ] as const,
      onSuccess: (answer) =>
        [
          ok(names.service, `${url.host} answers with status ${answer.status} after ${answer.receivedAt - answer.askedAt} ms`),
          clock(answer),
          key === undefined ? unknown(names.account, "there is no key to ask with") : account(answer)
        ] as const
    }),
    Effect.provide(Node.layer)
  )
