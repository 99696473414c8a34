/**
 * Sends the requests of a plan to a service, slowly, and records what it receives. Reads are repeated after a fault; writes are sent
 * once. Stops when the service rejects the key or limits the rate.
 *
 * Source: interface v1, "Limits" and "Errors".
 */
import { ClientError, Redaction, type Settings, TransportReason } from "@plaza/client"
import { retryAfter, toError } from "@plaza/domain/ErrorResponse"
import type * as Errors from "@plaza/domain/Errors"
import * as Limits from "@plaza/domain/Limits"
import { isWrite, operations } from "@plaza/domain/Operations"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { errorOf, isTransient, type Observation, type Observations, type Response } from "./Observation.ts"
import { absentWrites, type Step } from "./Plan.ts"

/** The part of the key's allowance that a run uses. */
const share = 0.1

/** How often a read is sent, if the service or the network fails. */
export const maxAttempts = 3

// A longer Retry-After after a 503 is not waited for: the request is not repeated then.
const maxWait = Duration.minutes(1)

/** The time between two requests: a tenth of the document's limit, or of a lower one in the settings. */
export const interval = ({ rateLimit, rateWindow }: Pick<Settings.Settings["Service"], "rateLimit" | "rateWindow">): Duration.Duration => {
  const perRequest = (limit: number, window: Duration.Duration) => Duration.toMillis(window) / (limit * share)
  return Duration.millis(Math.ceil(Math.max(perRequest(Limits.requestsPerWindow, Limits.rateWindow), perRequest(rateLimit, rateWindow))))
}

export interface Options<R> {
  readonly settings: Settings.Settings["Service"]
  readonly plan: ReadonlyArray<Step>
  /** Runs after each response. */
  readonly onProgress: (
    progress: { readonly step: number; readonly steps: number; readonly observation: Observation }
  ) => Effect.Effect<void, never, R>
  /** Runs when the run is interrupted, with what was observed until then. */
  readonly onInterrupt: (outcome: Outcome) => Effect.Effect<void, never, R>
}

/** Why a run stopped before its end. */
type Stopped = Errors.ServiceError | ClientError.ConnectionFailed

export interface Outcome {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly observations: Observations
  readonly stopped: Option.Option<Stopped>
}

const reasonOf = (error: HttpClientError.HttpClientError | string): string =>
  typeof error === "string" ? error : TransportReason.reasonOfCause(error, "Transport").reason

/** The body of a response as text. Fails with a reason if it is too long. */
const readBody = (body: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>, maxBytes: number) =>
  Stream.limitBytes<HttpClientError.HttpClientError | string, never>(body, maxBytes, () => Stream.fail(`more than ${maxBytes} bytes`)).pipe(
    Stream.mkUint8Array,
    Effect.map((bytes) => Buffer.from(bytes).toString("utf8")),
    // The platform's HTTP client fails for the stream of a response without a body.
    Effect.catchIf((error) => typeof error !== "string" && error.reason._tag === "EmptyBodyError", () => Effect.succeed(""))
  )

// Rules report a body that is not JSON.
const parseJson = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** Sends the request of a step, and observes its response or why there is none. */
const sender = ({ apiKey, baseUrl, maxResponseBytes, timeout, userAgent }: Settings.Settings["Service"]) =>
  Effect.map(HttpClient.HttpClient, (client) => {
    const redaction = Redaction.make(Redacted.value(apiKey))
    return Effect.fnUntraced(function*({ body, hasKey = true, id, operation }: Step, path: string) {
      const { method } = operations[operation]
      const request = HttpClientRequest.make(method)(`${baseUrl}${path}`, {
        acceptJson: true,
        headers: { "user-agent": userAgent },
        ...(body === undefined ? {} : { body: HttpBody.text(body, "application/json") })
      })
      const sentAt = yield* Clock.currentTimeMillis
      const result = yield* client.execute(hasKey ? HttpClientRequest.bearerToken(request, apiKey) : request).pipe(
        Effect.flatMap(({ headers, status, stream }) =>
          Effect.map(readBody(stream, maxResponseBytes), (text): Response => {
            const body = redaction.text(text)
            return { status, headers: redaction.headers(headers), body, json: Option.getOrUndefined(parseJson(body)) }
          })
        ),
        Effect.mapError((error) => redaction.text(reasonOf(error))),
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail("ETIMEDOUT") }),
        Effect.provideService(HttpClient.TracerPropagationEnabled, false),
        Effect.result
      )
      const receivedAt = yield* Clock.currentTimeMillis
      return { step: id, operation, request: redaction.text(`${method} ${path}`), body, sentAt, receivedAt, result } satisfies Observation
    })
  })

const isInconclusive = ({ result }: Observation): boolean => Result.isFailure(result) || isTransient(result.success)

const statusOf = ({ result }: Observation): number | undefined => Result.isSuccess(result) ? result.success.status : undefined

/** The failure that ends the run, if this is one. A request without the key must be refused with 401. */
const stopOf = (step: Step, isFirst: boolean, observation: Observation): Option.Option<Stopped> => {
  const { receivedAt, result } = observation
  const isRejected = step.hasKey !== false && (statusOf(observation) === 401 ||
    Result.isSuccess(result) && errorOf(result.success)?.code === "DEVELOPER_ACCESS_REVOKED")
  if (statusOf(observation) !== 429 && !isRejected && !(isFirst && isInconclusive(observation))) return Option.none()
  return Option.some(Result.match(result, {
    onFailure: (reason) =>
      new ClientError.ConnectionFailed({ attempts: maxAttempts, reason, message: `the service did not respond (${reason})` }),
    onSuccess: (response) => toError({ ...response, receivedAt })
  }))
}

/** The wait that a response asks for. */
const requestedWait = ({ receivedAt, result }: Observation): Duration.Duration => {
  const { headers = {} } = Result.getOrUndefined(result) ?? {}
  return Option.getOrElse(retryAfter(headers["retry-after"], receivedAt, headers["date"]), () => Duration.zero)
}

/** Whether to send a read again. */
const isRepeatable = (observation: Observation): boolean =>
  isInconclusive(observation) && statusOf(observation) !== 429 && Duration.isLessThanOrEqualTo(requestedWait(observation), maxWait)

/** Sends the requests of a plan. Never fails: what was observed until a failure is part of the result. */
export const run = <R>({ onInterrupt, onProgress, plan, settings }: Options<R>): Effect.Effect<Outcome, never, HttpClient.HttpClient | R> =>
  Effect.gen(function*() {
    const send = yield* sender(settings)
    const apiKey = Redacted.value(settings.apiKey)
    const sent: Array<Observation> = []
    const skipped: Record<string, string> = { ...absentWrites }
    const current = (): Observations => ({
      baseUrl: settings.baseUrl,
      keyLength: Array.from(apiKey).length,
      keyPrefix: apiKey.slice(0, -Limits.keySecretLength),
      sent,
      skipped
    })
    let wait = Duration.zero
    let inFlight: string | undefined
    let reached = 0
    const attempt = Effect.fnUntraced(function*(step: Step, path: string) {
      yield* Effect.sleep(wait)
      inFlight = step.id
      const observation = yield* send(step, path)
      inFlight = undefined
      sent.push(observation)
      wait = Duration.max(interval(settings), Duration.min(requestedWait(observation), maxWait))
      yield* onProgress({ step: reached, steps: plan.length, observation })
      return observation
    })
    const startedAt = yield* Clock.currentTimeMillis
    /** Sends the requests one after the other, until one of them ends the run. */
    const sendAll = Effect.gen(function*() {
      for (const [index, step] of plan.entries()) {
        reached = index + 1
        const path = step.resolve(current())
        if (Result.isFailure(path)) {
          skipped[step.id] = path.failure
          continue
        }
        const once = attempt(step, path.success)
        const observation = isWrite(step.operation)
          ? yield* once
          : yield* Effect.repeat(once, { while: isRepeatable, times: maxAttempts - 1 })
        const stopped = stopOf(step, index === 0, observation)
        if (Option.isSome(stopped)) return stopped
      }
      return Option.none<Stopped>()
    })
    const outcome = (stopped: Option.Option<Stopped>): Outcome => {
      for (const { id } of plan.slice(reached)) skipped[id] = "the run stopped before this request"
      if (inFlight !== undefined) skipped[inFlight] = "the run stopped before its response"
      return { startedAt, observations: current(), stopped }
    }
    return yield* Effect.onInterrupt(Effect.map(sendAll, outcome), () => onInterrupt(outcome(Option.none())))
  })
