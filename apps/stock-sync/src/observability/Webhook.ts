/**
 * Posts notifications to an address, signed by Standard Webhooks (https://www.standardwebhooks.com). Deliveries never delay or fail the
 * worker.
 */
import * as NodeClient from "@plaza/client/node"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { createHmac, randomUUID } from "node:crypto"
import type { SyncStatus } from "../sync/SyncStatus.ts"
import { log } from "./EventLogger.ts"
import * as Metrics from "./Metrics.ts"
import * as Notification from "./Notification.ts"
import * as Post from "./Post.ts"
import { observe } from "./Status.ts"

export interface WebhookSettings {
  /** Path and query may contain a token. */
  readonly url: Redacted.Redacted<URL>
  readonly secret: Redacted.Redacted<Uint8Array>
}

const stopWithin = Duration.seconds(5)
/** Products that are quarantined together are one delivery. */
const batchTime = Duration.seconds(1)

const retries = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("1 minute")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ duration: "15 minutes" })
)

interface Delivery {
  /** The same in every attempt, so that a receiver can ignore repeated deliveries. */
  readonly id: string
  readonly type: string
  readonly body: string
}

/** The value of the header `webhook-signature`. */
export const signature = (secret: Uint8Array, id: string, timestamp: number, body: string): string =>
  `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`

const post = (client: HttpClient.HttpClient, settings: WebhookSettings, { body, id }: Delivery): Effect.Effect<void, Post.NotDelivered> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const timestamp = Math.floor(now / 1_000)
    return Post.post(client, settings.url, body, {
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signature(Redacted.value(settings.secret), id, timestamp, body)
    })
  })

const count = (outcome: Metrics.WebhookOutcome, number = 1) => Metric.update(Metrics.webhook(outcome), number)

const make = Effect.fnUntraced(function*(settings: WebhookSettings) {
  const client = yield* HttpClient.HttpClient
  const wakes = yield* Queue.sliding<void>(1)
  let waiting: ReadonlyArray<Notification.Notification> = []
  let current: Delivery | undefined
  let failing = false

  /** Debug while the outcome is the same as before. */
  const levelOf = (isFailing: boolean) => {
    const isRepeated = failing === isFailing
    failing = isFailing
    return isRepeated ? "Debug" : isFailing ? "Warn" : "Info"
  }

  const attempt = (delivery: Delivery) => {
    const fields = { id: delivery.id, event: delivery.type }
    return post(client, settings, delivery).pipe(
      Effect.tapError(({ reason }) => Effect.suspend(() => log(levelOf(true), "webhook.failing", { ...fields, reason }))),
      Effect.tap(() => Effect.andThen(count("delivered"), Effect.suspend(() => log(levelOf(false), "webhook.delivered", fields))))
    )
  }

  /** The current delivery, else the first that waits. */
  const next = () => {
    const [first, ...rest] = waiting
    if (current === undefined && first !== undefined) {
      waiting = rest
      current = { id: `msg_${randomUUID().replaceAll("-", "")}`, type: first.type, body: Notification.toJson(first) }
    }
    return current
  }

  const deliver = (delivery: Delivery, attempts: Effect.Effect<void, Post.NotDelivered>) =>
    attempts.pipe(
      Effect.catch(({ reason }) =>
        Effect.andThen(count("failed"), log("Error", "webhook.failed", { id: delivery.id, event: delivery.type, reason }))
      ),
      Effect.andThen(Effect.sync(() => {
        current = undefined
      }))
    )

  const deliverNext = Effect.gen(function*() {
    if (waiting.length === 0) return yield* Queue.take(wakes)
    if (waiting.every(({ type }) => type.startsWith("product."))) yield* Effect.sleep(batchTime)
    const delivery = next()
    if (delivery !== undefined) yield* deliver(delivery, Effect.retry(attempt(delivery), retries))
  })

  const flush: Effect.Effect<void> = Effect.suspend(() => {
    const delivery = next()
    return delivery === undefined ? Effect.void : Effect.andThen(deliver(delivery, attempt(delivery)), flush)
  })

  // Runs when every event is received.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function*() {
      yield* Effect.timeoutOption(Effect.interruptible(flush), stopWithin)
      const left = waiting.length + (current === undefined ? 0 : 1)
      if (left > 0) yield* Effect.andThen(count("failed", left), log("Error", "webhook.undelivered", { deliveries: left }))
    })
  )
  yield* observe((change) => {
    const notification = Notification.notificationOf(change)
    if (notification === undefined) return Effect.void
    const added = Notification.add(waiting, notification)
    waiting = added.waiting
    return Effect.andThen(added.dropped === 0 ? Effect.void : count("dropped", added.dropped), Queue.offer(wakes, undefined))
  })
  yield* Effect.forkScoped(Effect.forever(deliverNext))
})

/** Delivers until the scope closes. Then each waiting delivery gets one attempt, within a few seconds for all. */
export const layer = (settings: WebhookSettings): Layer.Layer<never, never, HttpClient.HttpClient | SyncStatus> =>
  Layer.effectDiscard(make(settings))

/** `layer` with an HTTP client of its own, which uses the proxy variables. */
export const layerConfig = (settings: WebhookSettings): Layer.Layer<never, Config.ConfigError, SyncStatus> =>
  Layer.provide(layer(settings), NodeClient.layerConfig)
