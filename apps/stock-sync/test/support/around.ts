/**
 * Everything that is seen of a loop as the program puts it together, in real time: a log into an array, a page on a free port, a collector.
 */
import { Streams } from "@plaza/terminal"
import { Duration, Effect, Layer, LogLevel, Option } from "effect"
import * as Seen from "../../src/Seen.js"
import type * as OtlpSettings from "../../src/Seen/OtlpSettings.js"
import { layer as layerStanding } from "../../src/Standing.js"

export interface Around {
  readonly lines?: Array<string>
  readonly logs?: Seen.Told["logs"]
  readonly host?: string
  readonly port?: number
  readonly otlp?: OtlpSettings.OtlpSettings
}

/** Runs inside of it. */
export const around = ({ host = "127.0.0.1", lines = [], logs = { format: "text", level: LogLevel.Info }, otlp, port }: Around) =>
  Seen.layer({
    logs,
    server: port === undefined ? Option.none() : Option.some({ host, port }),
    otlp: Option.fromNullable(otlp),
    rateLimit: 120,
    rateWindow: Duration.minutes(1),
    poll: undefined
  }).pipe(
    Layer.provideMerge(layerStanding),
    Layer.provide(Streams.layerTest({ stdout: [], stderr: lines }))
  )

/** The address that the log tells. */
export const address = (lines: ReadonlyArray<string>) =>
  Effect.sync(() => lines.join("").match(/address"?[=:]"?(http:\/\/[^\s"]+)/)?.[1] ?? "nowhere")
