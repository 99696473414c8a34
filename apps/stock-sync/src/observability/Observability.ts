/**
 * Combines the log, the status page with health, readiness and metrics, the webhook, messages to a chat and OTLP. They read the worker's state and its ledger,
 * and add to the ledger only what happened and what was announced. Each part is loaded only if a setting asks for it.
 */
import type { UsageError } from "@plaza/cli-kit/CliError"
import type { Streams } from "@plaza/cli-kit/Streams"
import type * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { CurrentLedger } from "../ledger/CurrentLedger.ts"
import type { SyncStatus } from "../sync/SyncStatus.ts"
import { staleAfter } from "./Conditions.ts"
import * as EventLogger from "./EventLogger.ts"
import * as EventRecorder from "./EventRecorder.ts"
import * as Logs from "./Logs.ts"
import type { NotifySettings } from "./Messenger.ts"
import type { OtlpSettings } from "./OtlpSettings.ts"
import type { WebhookSettings } from "./Webhook.ts"

export interface ObservabilitySettings {
  readonly logs: Logs.Options
  /** The address of the status page; none if there is no page. */
  readonly server: Option.Option<{ readonly host: string; readonly port: number }>
  readonly webhook: Option.Option<WebhookSettings>
  readonly notify: Option.Option<NotifySettings>
  readonly otlp: Option.Option<OtlpSettings>
}

export interface Options extends ObservabilitySettings {
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  /** How often the source is read; undefined if it is read once. */
  readonly poll: Duration.Duration | undefined
}

/** A layer whose module is loaded if a setting is there. */
const ifSet = <S, E, R>(setting: Option.Option<S>, load: (setting: S) => Promise<Layer.Layer<never, E, R>>): Layer.Layer<never, E, R> =>
  Option.isNone(setting) ? Layer.empty : Layer.unwrap(Effect.promise(() => load(setting.value)))

const server = ({ server }: Options) =>
  ifSet(server, async (address) => {
    const { listen } = await import("./Server.ts")
    return Layer.effectDiscard(Effect.flatMap(listen(address), (url) => EventLogger.log("Info", "page.listening", { address: url })))
  })

/** The sampler sets the gauges, which only the page and OTLP export. */
const sampling = (options: Options) =>
  ifSet(Option.orElse(options.server, () => options.otlp), async () => {
    const StatusSampler = await import("./StatusSampler.ts")
    const { poll, rateLimit, rateWindow } = options
    return Layer.provide(server(options), StatusSampler.layer({ rateLimit, rateWindow, sourceStaleAfter: poll && staleAfter(poll) }))
  })

/** The log, and OTLP if it is configured. */
export const layerTelemetry = (
  { logs, otlp }: Pick<ObservabilitySettings, "logs" | "otlp">
): Layer.Layer<never, Config.ConfigError, Streams> =>
  Layer.provideMerge(ifSet(otlp, async (settings) => (await import("./Otlp.ts")).layer(settings)), Logs.layer(logs))

/** Provide it to the worker: logger and tracer apply to effects inside the layer. */
export const layer = (options: Options): Layer.Layer<never, Config.ConfigError | UsageError, CurrentLedger | SyncStatus | Streams> =>
  sampling(options).pipe(
    Layer.provideMerge(ifSet(options.webhook, async (settings) => (await import("./Webhook.ts")).layerConfig(settings))),
    Layer.provideMerge(ifSet(options.notify, async (settings) => (await import("./Notify.ts")).layerConfig(settings, options.poll))),
    Layer.provideMerge(Layer.merge(EventLogger.layer, EventRecorder.layer)),
    Layer.provideMerge(layerTelemetry(options))
  )
