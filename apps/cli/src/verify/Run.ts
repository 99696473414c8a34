/**
 * Sends the requests of a plan to a service, slowly, and records what it receives. Reads are repeated after a fault; writes are sent
 * once. Stops when the service rejects the key or limits the rate.
 *
 * Source: interface v1, "Limits" and "Errors".
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { ClientError, Redaction, type Settings, TransportReason } from "@plaza-legacy/client"
import { retryAfter, toError } from "@plaza-legacy/domain/ErrorResponse"
import type * as Errors from "@plaza-legacy/domain/Errors"
import * as Limits from "@plaza-legacy/domain/Limits"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { errorOf, isTransient, type Observation, type Observations, parse, type Response } from "./Observation.ts"
import { absentWrites, type Step } from "./Plan.ts"

/** The part of the key's allowance that a run uses. */
const share = 0.1

/** How often a read is sent, if the service or the network fails. */
export const maxAttempts = 3

// A longer Retry-After after a 503 is not waited for: the request is not repeated then.
const maxWait = Duration.minutes(1)

/** The time between two requests: a tenth of the document's limit, or of a lower one in the settings. */
export const interval = ({ rateLimit, rateWindow }: Pick<Settings.Settings["Type"], "rateLimit" | "rateWindow">): Duration.Duration => {
  const perRequest = (limit: number, window: Duration.Duration) => Duration.toMillis(window) / (limit * share)
  return Duration.millis(Math.ceil(Math.max(perRequest(Limits.requestsPerWindow, Limits.rateWindow), perRequest(rateLimit, rateWindow))))
}

class Unreadable extends Data.TaggedError("Unreadable")<{ readonly reason: string }> {}

export interface Options {
  readonly settings: Settings.Settings["Type"]
  readonly plan: ReadonlyArray<Step>
  /** Runs after each response. */
  readonly onProgress: (
    progress: { readonly step: number; readonly steps: number; readonly observation: Observation }
  ) => Effect.Effect<void>
  /** Runs when the run is interrupted, with what was observed until then. */
  readonly onInterrupt: (outcome: Outcome) => Effect.Effect<void>
}

/** Why a run stopped before its end. */
export type Stopped = Errors.ServiceError | ClientError.ConnectionFailed

export interface Outcome {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly observations: Observations
  readonly stopped: Option.Option<Stopped>
}

/** The platform's HTTP client fails for the stream of a response without a body. */
const isEmptyBody = (error: unknown): boolean =>
  Predicate.isTagged(error, "ResponseError") && Predicate.hasProperty(error, "reason") && error.reason === "EmptyBody"

const readBody = (stream: Stream.Stream<Uint8Array, unknown>, maxBytes: number) =>
  Stream.runFoldEffect(stream, { size: 0, chunks: Chunk.empty<Uint8Array>() }, ({ chunks, size }, chunk) =>
    size + chunk.length > maxBytes
      ? Effect.fail(new Unreadable({ reason: `more than ${maxBytes} bytes` }))
      : Effect.succeed({ size: size + chunk.length, chunks: Chunk.append(chunks, chunk) })).pipe(
      Effect.map(({ chunks }) => Buffer.concat(Chunk.toReadonlyArray(chunks)).toString("utf8")),
      Effect.catchIf(isEmptyBody, () => Effect.succeed(""))
    )

const make = ({ settings }: Options) =>
  Effect.map(HttpClient.HttpClient, (service) => {
    const client = HttpClient.withTracerPropagation(service, false)
    const { headers: redactHeaders, text: redact } = Redaction.make(Redacted.value(settings.apiKey))
    const toRequest = ({ body, hasKey = true, method }: Step, path: string) => {
      const request = HttpClientRequest.make(method)(`${settings.baseUrl}${path}`).pipe(
        HttpClientRequest.acceptJson,
        HttpClientRequest.setHeader("user-agent", settings.userAgent),
        (request) => body === undefined ? request : HttpClientRequest.setBody(request, HttpBody.text(body, "application/json"))
      )
      return hasKey ? HttpClientRequest.bearerToken(request, settings.apiKey) : request
    }
    const receive = (step: Step, path: string): Effect.Effect<Response, Unreadable> =>
      client.execute(toRequest(step, path)).pipe(
        Effect.flatMap((response) =>
          Effect.map(readBody(response.stream, settings.maxResponseBytes), (text): Response => {
            const body = redact(text)
            return {
              status: response.status,
              headers: redactHeaders(response.headers),
              body,
              json: parse(body)
            }
          })
        ),
        Effect.mapError((error) => {
          const reason = error instanceof Unreadable ? error.reason : TransportReason.reasonOfCause(error, "Transport").reason
          return new Unreadable({ reason: redact(reason) })
        }),
        Effect.timeoutFail({ duration: settings.timeout, onTimeout: () => new Unreadable({ reason: "ETIMEDOUT" }) }),
        Effect.scoped
      )
    return (step: Step, path: string): Effect.Effect<Observation> =>
      Effect.gen(function*() {
        const sentAt = yield* Clock.currentTimeMillis
        const result = yield* Effect.either(receive(step, path))
        return {
          step: step.id,
          operation: step.operation,
          request: redact(`${step.method} ${path}`),
          body: step.body,
          sentAt,
          receivedAt: yield* Clock.currentTimeMillis,
          result: Either.mapLeft(result, ({ reason }) => reason)
        }
      })
  })

const isInconclusive = ({ result }: Observation): boolean => Either.isLeft(result) || isTransient(result.right.status)

const errorFor = ({ receivedAt, result }: Observation): Stopped =>
  Either.match(result, {
    onLeft: (reason) =>
      new ClientError.ConnectionFailed({ attempts: maxAttempts, reason, message: `the service did not respond (${reason})` }),
    onRight: (response) => toError({ ...response, receivedAt })
  })

/** The failure that ends the run, if this is one. A request without the key must be refused with 401. */
const stopOf = (step: Step, isFirst: boolean, observation: Observation): Option.Option<Stopped> => {
  const response = Option.getOrUndefined(Either.getRight(observation.result))
  const isRejected = step.hasKey !== false && response !== undefined &&
    (response.status === 401 || errorOf(response)?.code === "DEVELOPER_ACCESS_REVOKED")
  return response?.status === 429 || isRejected || isFirst && isInconclusive(observation)
    ? Option.some(errorFor(observation))
    : Option.none()
}

/** The wait that a response asks for. */
const requestedWait = ({ receivedAt, result }: Observation): Duration.Duration => {
  const { headers = {} } = Option.getOrUndefined(Either.getRight(result)) ?? {}
  return Option.getOrElse(retryAfter(headers["retry-after"], receivedAt, headers["date"]), () => Duration.zero)
}

/** Sends the requests of a plan. Never fails: what was observed until a failure is part of the result. */
export const run = (options: Options): Effect.Effect<Outcome, never, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const { onInterrupt, onProgress, plan, settings } = options
    const send = yield* make(options)
    const apiKey = Redacted.value(settings.apiKey)
    const least = interval(settings)
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
    const attempt = (step: Step, path: string, number: number) =>
      Effect.gen(function*() {
        yield* Effect.sleep(wait)
        inFlight = step.id
        const observation = yield* send(step, path)
        inFlight = undefined
        sent.push(observation)
        wait = Duration.max(least, Duration.min(requestedWait(observation), maxWait))
        yield* onProgress({ step: number, steps: plan.length, observation })
        return observation
      })
    const startedAt = yield* Clock.currentTimeMillis
    /** Sends the requests one after the other, until one of them ends the run. */
    const sendAll = Effect.gen(function*() {
      for (const [index, step] of plan.entries()) {
        reached = index + 1
        const path = step.resolve(current())
        if (Either.isLeft(path)) {
          skipped[step.id] = path.left
          continue
        }
        let observation = yield* attempt(step, path.right, index + 1)
        for (let attempts = 1; attempts < maxAttempts && step.method === "GET"; attempts++) {
          const isLimited = Either.isRight(observation.result) && observation.result.right.status === 429
          if (!isInconclusive(observation) || isLimited || Duration.greaterThan(requestedWait(observation), maxWait)) break
          observation = yield* attempt(step, path.right, index + 1)
        }
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
