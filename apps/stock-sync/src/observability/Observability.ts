/**
 * Everything that shows a running worker to the outside: its log, the page with health, readiness and metrics, the webhook and OTLP. Reads the
 * worker's state and its ledger, and changes neither.
 */
import type { UsageError } from "@plaza/cli-kit/CliError"
import type { Streams } from "@plaza/cli-kit/Streams"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { SyncStatus } from "../sync/SyncStatus.js"
import * as EventLogger from "./EventLogger.js"
import * as Logs from "./Logs.js"
import type { OtlpSettings } from "./OtlpSettings.js"
import type { WebhookSettings } from "./Webhook.js"

export interface ObservabilitySettings {
  readonly logs: Logs.Options
  /** Where the page listens; none: no page. */
  readonly server: Option.Option<{ readonly host: string; readonly port: number }>
  readonly webhook: Option.Option<WebhookSettings>
  readonly otlp: Option.Option<OtlpSettings>
}

export interface Options extends ObservabilitySettings {
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  /** How often the source is looked at; undefined where it is read once. */
  readonly poll: Duration.Duration | undefined
}

const server = (options: Options) =>
  Option.match(options.server, {
    onNone: () => Layer.empty,
    onSome: (place) =>
      Layer.scopedDiscard(Effect.gen(function*() {
        const { listen } = yield* Effect.promise(() => import("./Server.js"))
        yield* Effect.annotateLogs(Effect.logInfo("page.listening"), { address: yield* listen({ ...options, ...place }) })
      }))
  })

/** Nobody would see the gauges else. */
const watched = (options: Options) =>
  Option.isNone(options.server) && Option.isNone(options.otlp) ? Layer.empty : Layer.unwrapEffect(
    Effect.gen(function*() {
      const StatusSampler = yield* Effect.promise(() => import("./StatusSampler.js"))
      const { patienceWith } = yield* Effect.promise(() => import("./Readiness.js"))
      const sourcePatience = options.poll === undefined ? undefined : patienceWith(options.poll)
      return Layer.provide(server(options), StatusSampler.layer({ ...options, sourcePatience }))
    })
  )

const otlp = (settings: Option.Option<OtlpSettings>): Layer.Layer<never> =>
  Option.match(settings, {
    onNone: () => Layer.empty,
    onSome: (told) => Layer.unwrapEffect(Effect.map(Effect.promise(() => import("./Otlp.js")), ({ layer }) => layer(told)))
  })

const webhook = (settings: Option.Option<WebhookSettings>): Layer.Layer<never, never, SyncStatus> =>
  Option.match(settings, {
    onNone: () => Layer.empty,
    onSome: (chosen) =>
      Layer.unwrapEffect(Effect.map(
        Effect.promise(() => Promise.all([import("./Webhook.js"), import("@effect/platform-node/NodeHttpClient")])),
        ([Webhook, NodeHttpClient]) => Layer.provide(Webhook.layer(chosen), NodeHttpClient.layerUndici)
      ))
  })

/** Around everything that is to be seen: the log and the spans are those of what runs inside. */
export const layer = (options: Options): Layer.Layer<never, UsageError, SyncStatus | Streams> =>
  watched(options).pipe(
    Layer.provideMerge(webhook(options.webhook)),
    Layer.provideMerge(Layer.scopedDiscard(EventLogger.keep)),
    Layer.provideMerge(otlp(options.otlp)),
    Layer.provideMerge(Logs.layer(options.logs))
  )
