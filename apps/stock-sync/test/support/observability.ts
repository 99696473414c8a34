/** Log, status page and collector as the program puts them together, in real time; log lines go into an array. */
import * as Streams from "@plaza/cli-kit/Streams"
import { Duration, Effect, Layer, Option } from "effect"
import * as CurrentLedger from "../../src/ledger/CurrentLedger.ts"
import * as Observability from "../../src/observability/Observability.ts"
import type * as OtlpSettings from "../../src/observability/OtlpSettings.ts"
import { layer as layerState } from "../../src/sync/SyncStatus.ts"

export interface Options {
  readonly lines?: Array<string>
  readonly logs?: Observability.ObservabilitySettings["logs"]
  readonly host?: string
  readonly port?: number
  readonly otlp?: OtlpSettings.OtlpSettings
}

export const observed = ({ host = "127.0.0.1", lines = [], logs = { format: "text", level: "Info" }, otlp, port }: Options) =>
  Observability.layer({
    logs,
    server: port === undefined ? Option.none() : Option.some({ host, port }),
    webhook: Option.none(),
    notify: Option.none(),
    otlp: Option.fromUndefinedOr(otlp),
    rateLimit: 120,
    rateWindow: Duration.minutes(1),
    poll: undefined
  }).pipe(
    Layer.provideMerge(Layer.merge(layerState, CurrentLedger.layer)),
    Layer.provide(Streams.layerTest({ stdout: [], stderr: lines }))
  )

/** The address in the log. */
export const address = (lines: ReadonlyArray<string>) =>
  Effect.sync(() => lines.join("").match(/address"?[=:]"?(http:\/\/[^\s"]+)/)?.[1] ?? "nowhere")
