/**
 * Combines the log, the status page with health, readiness and metrics, the webhook and OTLP. They read the worker's state and its ledger,
 * and change neither. Each part is loaded only if a setting asks for it.
 */
import type { UsageError } from "@plaza-legacy/cli-kit/CliError"
import type { Streams } from "@plaza-legacy/cli-kit/Streams"
import type { ConfigError } from "effect/ConfigError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { CurrentLedger } from "../ledger/CurrentLedger.ts"
import type { SyncStatus } from "../sync/SyncStatus.ts"
import * as EventLogger from "./EventLogger.ts"
import * as Logs from "./Logs.ts"
import type { OtlpSettings } from "./OtlpSettings.ts"
import type { WebhookSettings } from "./Webhook.ts"

export interface ObservabilitySettings {
  readonly logs: Logs.Options
  /** The address of the status page; none if there is no page. */
  readonly server: Option.Option<{ readonly host: string; readonly port: number }>
  readonly webhook: Option.Option<WebhookSettings>
  readonly otlp: Option.Option<OtlpSettings>
}

export interface Options extends ObservabilitySettings {
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  /** How often the source is read; undefined if it is read once. */
  readonly poll: Duration.Duration | undefined
}

const server = (options: Options) =>
  Option.match(options.server, {
    onNone: () => Layer.empty,
    onSome: (address) =>
      Layer.scopedDiscard(Effect.gen(function*() {
        const { listen } = yield* Effect.promise(() => import("./Server.ts"))
        yield* Effect.annotateLogs(Effect.logInfo("page.listening"), { address: yield* listen({ ...options, ...address }) })
      }))
  })

/** The sampler sets the gauges, which only the page and OTLP export. */
const sampling = (options: Options) =>
  Option.isNone(options.server) && Option.isNone(options.otlp) ? Layer.empty : Layer.unwrapEffect(
    Effect.gen(function*() {
      const StatusSampler = yield* Effect.promise(() => import("./StatusSampler.ts"))
      const { staleAfter } = yield* Effect.promise(() => import("./Readiness.ts"))
      const sourceStaleAfter = options.poll === undefined ? undefined : staleAfter(options.poll)
      return Layer.provide(server(options), StatusSampler.layer({ ...options, sourceStaleAfter }))
    })
  )

const otlp = (settings: Option.Option<OtlpSettings>): Layer.Layer<never, ConfigError> =>
  Option.match(settings, {
    onNone: () => Layer.empty,
    onSome: (settings) => Layer.unwrapEffect(Effect.map(Effect.promise(() => import("./Otlp.ts")), ({ layer }) => layer(settings)))
  })

const webhook = (settings: Option.Option<WebhookSettings>): Layer.Layer<never, ConfigError, SyncStatus> =>
  Option.match(settings, {
    onNone: () => Layer.empty,
    onSome: (settings) =>
      Layer.unwrapEffect(Effect.map(Effect.promise(() => import("./Webhook.ts")), ({ layerConfig }) => layerConfig(settings)))
  })

/** The log, and OTLP if it is configured. */
export const layerTelemetry = (settings: Pick<ObservabilitySettings, "logs" | "otlp">): Layer.Layer<never, ConfigError, Streams> =>
  Layer.provideMerge(otlp(settings.otlp), Logs.layer(settings.logs))

/** Provide it to the worker: logger and tracer apply to effects inside the layer. */
export const layer = (options: Options): Layer.Layer<never, ConfigError | UsageError, CurrentLedger | SyncStatus | Streams> =>
  sampling(options).pipe(
    Layer.provideMerge(webhook(options.webhook)),
    Layer.provideMerge(EventLogger.layer),
    Layer.provideMerge(layerTelemetry(options))
  )
