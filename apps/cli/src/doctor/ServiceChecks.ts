/**
 * Checks the service, its clock and the account with one GET /me, without retries.
 *
 * Source: interface v1, "Endpoints", GET /me.
 */
import * as Remediation from "@plaza/cli-kit/Remediation"
import { ofFailure } from "@plaza/cli-kit/Report"
import { count } from "@plaza/cli-kit/Text"
import { Redaction, TransportReason } from "@plaza/client"
import * as Node from "@plaza/client/node"
import { parseHttpDate, toError } from "@plaza/domain/ErrorResponse"
import { operations } from "@plaza/domain/Operations"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Check, failed, ok, unknown, warning } from "./Check.ts"

interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  readonly sentAt: number
  readonly receivedAt: number
}

const getMe = Effect.fnUntraced(function*(url: URL, key: Redacted.Redacted | undefined) {
  const client = yield* HttpClient.HttpClient
  const request = HttpClientRequest.get(`${url.href.replace(/\/+$/, "")}${operations.getMe.path}`, { acceptJson: true })
  const sentAt = yield* Clock.currentTimeMillis
  const { headers, status, text } = yield* client.execute(key === undefined ? request : HttpClientRequest.bearerToken(request, key))
  const body = yield* text
  const receivedAt = yield* Clock.currentTimeMillis
  // A proxy that echoes the request may echo the key with it.
  const redaction = Redaction.make(key === undefined ? "" : Redacted.value(key))
  const response: Response = { status, headers: redaction.headers(headers), body: redaction.text(body), sentAt, receivedAt }
  return response
}, Effect.provideService(HttpClient.TracerDisabledWhen, () => true))

// Far beyond what a machine with NTP is off by.
const maxOffset = Duration.seconds(30)

/** The `Date` of a response has whole seconds, and was set between request and response. */
const clock = ({ sentAt, headers, receivedAt }: Response): Check => {
  const remote = parseHttpDate(headers["date"])
  if (remote === undefined) return unknown(names.clock, "the service does not send its time")
  const clockOffsetMillis = remote > receivedAt ? remote - receivedAt : remote + 1_000 < sentAt ? remote + 1_000 - sentAt : 0
  const seconds = Math.round(Math.abs(clockOffsetMillis) / 1_000)
  if (seconds === 0) return ok(names.clock, "in sync with the service", { clockOffsetMillis })
  const text = `this machine's clock is ${count(seconds, "second")} ${clockOffsetMillis > 0 ? "behind" : "ahead of"} the service's`
  return seconds <= Duration.toSeconds(maxOffset)
    ? ok(names.clock, text, { clockOffsetMillis })
    : warning(names.clock, text, "Synchronise the clock of this machine, for example with NTP.", { clockOffsetMillis })
}

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(operations.getMe.success))

const account = (response: Response): Check => {
  const { body, receivedAt, status } = response
  if (status < 200 || status >= 300) {
    const { code, reason, remediation, summary, tag } = ofFailure(toError(response), { now: receivedAt })
    return failed(names.account, reason === undefined ? summary : `${summary}: ${reason}`, remediation.join(" "), { status, code, tag })
  }
  return Result.match(decode(body), {
    onFailure: () =>
      failed(names.account, `the response with status ${status} is not from the service`, Remediation.forUnreadable("getMe"), { status }),
    onSuccess: ({ id, username }) => {
      const text = username === undefined
        ? id === undefined ? "the service accepts the key, but returns neither id nor username" : `account ${id}`
        : id === undefined
        ? username
        : `${username} (account ${id})`
      return ok(names.account, text, { id: id ?? null, username: username ?? null })
    }
  })
}

export const names = { service: "service", clock: "clock", account: "account" } as const

export const service = (url: URL, key: Redacted.Redacted | undefined): Effect.Effect<ReadonlyArray<Check>> =>
  getMe(url, key).pipe(
    Effect.mapError((error) => TransportReason.reasonOf(error).reason),
    Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.fail("ETIMEDOUT") }),
    Effect.match({
      onFailure: (reason) => [
        failed(names.service, `no response from ${url.host} (${reason})`, Remediation.forReason(reason), { reason }),
        unknown(names.clock, "the service does not respond"),
        unknown(names.account, "the service does not respond")
      ],
      onSuccess: (response) => {
        const { receivedAt, sentAt, status } = response
        const milliseconds = receivedAt - sentAt
        return [
          ok(names.service, `${url.host} responds with status ${status} after ${milliseconds} ms`, { status, milliseconds }),
          clock(response),
          key === undefined ? unknown(names.account, "there is no API key") : account(response)
        ]
      }
    }),
    // The check of the proxy reports an invalid variable.
    Effect.provide(Node.layer)
  )
