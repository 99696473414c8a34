/**
 * Posts notifications to an address, signed by Standard Webhooks (https://www.standardwebhooks.com). Deliveries never delay or fail the
 * worker.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeClient from "@plaza-legacy/client/node"
import * as Clock from "effect/Clock"
import type { ConfigError } from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { createHmac } from "node:crypto"
import { type StampedEvent, SyncStatus } from "../sync/SyncStatus.ts"
import { name, version } from "../version.ts"
import * as Metrics from "./Metrics.ts"
import * as Notification from "./Notification.ts"

export interface WebhookSettings {
  /** Path and query may contain a token. */
  readonly url: Redacted.Redacted<URL>
  readonly secret: Redacted.Redacted<Uint8Array>
}

const attemptTimeout = Duration.seconds(10)
const stopWithin = Duration.seconds(5)
/** Products that are quarantined together are one delivery. */
const batchTime = Duration.seconds(1)
const maxResponseBytes = 64 * 1024

const retries = Schedule.exponential("1 second").pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, Duration.minutes(1))),
  Schedule.jittered,
  Schedule.upTo("15 minutes")
)

/** One attempt failed. The reason contains no part of the address. */
class NotDelivered extends Data.TaggedError("NotDelivered")<{ readonly reason: string }> {}

interface Delivery {
  /** The same in every attempt, so that a receiver can ignore repeated deliveries. */
  readonly id: string
  readonly type: string
  readonly body: string
}

const hexadecimal = (digits: number) =>
  Effect.map(Effect.replicateEffect(Random.nextIntBetween(0, 16), digits), (numbers) => numbers.map((each) => each.toString(16)).join(""))

/** The value of the header `webhook-signature`. */
export const signature = (secret: Uint8Array, id: string, timestamp: number, body: string): string =>
  `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`

const reasonOf = (error: HttpClientError): string => {
  const { cause } = error
  const code = Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? ` (${cause.code})` : ""
  return `${error.reason}${code}`
}

const post = (client: HttpClient.HttpClient, settings: WebhookSettings, { body, id }: Delivery): Effect.Effect<void, NotDelivered> =>
  Effect.gen(function*() {
    const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
    const request = HttpClientRequest.post(Redacted.value(settings.url)).pipe(
      HttpClientRequest.setHeaders({
        "user-agent": `${name}/${version}`,
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": signature(Redacted.value(settings.secret), id, timestamp, body)
      }),
      HttpClientRequest.bodyText(body, "application/json")
    )
    const response = yield* client.execute(request)
    // Only the status matters. Reading the body lets the connection be reused.
    yield* Stream.runFoldWhile(response.stream, 0, (read) => read < maxResponseBytes, (read, chunk) => read + chunk.length).pipe(
      Effect.timeout("1 second"),
      Effect.ignore
    )
    if (response.status < 200 || response.status > 299) return yield* new NotDelivered({ reason: `status ${response.status}` })
  }).pipe(
    Effect.catchTags({
      RequestError: (error) => new NotDelivered({ reason: reasonOf(error) }),
      ResponseError: (error) => new NotDelivered({ reason: reasonOf(error) })
    }),
    Effect.timeoutFail({
      duration: attemptTimeout,
      onTimeout: () => new NotDelivered({ reason: `no response within ${Duration.format(attemptTimeout)}` })
    })
  )

const count = (outcome: Metrics.WebhookOutcome, number = 1) =>
  Metric.incrementBy(Metric.tagged(Metrics.webhookDeliveries, "outcome", outcome), number)

const log = (level: LogLevel.LogLevel, event: string, fields: Readonly<Record<string, string | number>>) =>
  Effect.annotateLogs(Effect.logWithLevel(level, event), fields)

/** Delivers until the scope closes. Then each waiting delivery gets one attempt, within a few seconds for all. */
export const layer = (settings: WebhookSettings): Layer.Layer<never, never, HttpClient.HttpClient | SyncStatus> =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const status = yield* SyncStatus
    // Spans and trace headers would disclose the address.
    const client = HttpClient.withTracerDisabledWhen(HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false), () => true)
    const events = yield* status.subscribe
    const wakes = yield* Queue.sliding<void>(1)
    let before: Notification.Before = { ...Notification.initial, account: (yield* status.state).owner }
    let waiting: ReadonlyArray<Notification.Notification> = []
    let current: Delivery | undefined
    let failing = false

    const receive = (event: StampedEvent) =>
      Effect.suspend(() => {
        const notification = Notification.notificationOf(event, before)
        before = Notification.after(before, event, notification)
        if (notification === undefined) return Effect.void
        const added = Notification.add(waiting, notification)
        waiting = added.waiting
        return Effect.zipRight(added.dropped === 0 ? Effect.void : count("dropped", added.dropped), Queue.offer(wakes, undefined))
      })

    const attempt = (delivery: Delivery) =>
      post(client, settings, delivery).pipe(
        Effect.tapError(({ reason }) =>
          Effect.suspend(() => {
            const level = failing ? LogLevel.Debug : LogLevel.Warning
            failing = true
            return log(level, "webhook.failing", { id: delivery.id, event: delivery.type, reason })
          })
        ),
        Effect.tap(() =>
          Effect.suspend(() => {
            const level = failing ? LogLevel.Info : LogLevel.Debug
            failing = false
            return Effect.zipRight(count("delivered"), log(level, "webhook.delivered", { id: delivery.id, event: delivery.type }))
          })
        )
      )

    const abandon = ({ id, type }: Delivery, { reason }: NotDelivered) =>
      Effect.zipRight(count("failed"), log(LogLevel.Error, "webhook.failed", { id, event: type, reason }))

    /** The current delivery, else the first that waits. */
    const next = Effect.gen(function*() {
      const [first, ...rest] = waiting
      if (current !== undefined || first === undefined) return current
      const id = `msg_${yield* hexadecimal(32)}`
      waiting = rest
      current = { id, type: first.type, body: Notification.toJson(first) }
      return current
    })

    const done = Effect.sync(() => {
      current = undefined
    })

    const deliverNext = Effect.gen(function*() {
      if (waiting.length === 0) return yield* Queue.take(wakes)
      if (waiting.every(({ type }) => type.startsWith("product."))) yield* Effect.sleep(batchTime)
      const delivery = yield* next
      if (delivery === undefined) return
      yield* attempt(delivery).pipe(
        Effect.retry(retries),
        Effect.catchAll((error) => abandon(delivery, error)),
        Effect.zipRight(done)
      )
    })

    const flush: Effect.Effect<void> = Effect.flatMap(next, (delivery) =>
      delivery === undefined ? Effect.void : attempt(delivery).pipe(
        Effect.catchAll((error) => abandon(delivery, error)),
        Effect.zipRight(done),
        Effect.zipRight(flush)
      ))

    yield* Effect.addFinalizer(() =>
      Effect.gen(function*() {
        yield* Effect.flatMap(Queue.takeAll(events), (left) => Effect.forEach(left, receive, { discard: true }))
        yield* Effect.timeoutOption(Effect.interruptible(flush), stopWithin)
        const left = waiting.length + (current === undefined ? 0 : 1)
        if (left > 0) yield* Effect.zipRight(count("failed", left), log(LogLevel.Error, "webhook.undelivered", { deliveries: left }))
      })
    )
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(events), receive)))
    yield* Effect.forkScoped(Effect.forever(deliverNext))
  }))

/** `layer` with an HTTP client of its own, which uses the proxy variables. */
export const layerConfig = (settings: WebhookSettings): Layer.Layer<never, ConfigError, SyncStatus> =>
  Layer.provide(layer(settings), NodeClient.layerConfig)
