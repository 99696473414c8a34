/** The settings of a runner of a fleet. Those of its accounts are in the fleet's database. */
import type { UsageError } from "@plaza/cli-kit/CliError"
import type { ConfigError } from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { ObservabilitySettings as Observed } from "../observability/Observability.ts"
import * as OtlpSettings from "../observability/OtlpSettings.ts"
import * as ObservabilitySettings from "./ObservabilitySettings.ts"
import * as Setting from "./Setting.ts"
import * as SyncSettings from "./SyncSettings.ts"

const { webhook: _, ...observability } = ObservabilitySettings.options

/** The options of `fleet run`. */
export const options = {
  ...observability,
  concurrentReads: Setting.withDefault("concurrent-reads", Setting.integer(1, 1_000), "64",
    "Sources that are read at the same time. A snapshot takes memory while it is read"),
  stopWithin: SyncSettings.sendOptions.stopWithin
}

/** The variables of the fleet's database and secret. They have no options, because every user of the machine can read options. */
export const variables = ["DATABASE", "DATABASE_FILE", "SECRET", "SECRET_FILE"].map((name) => `STOCK_SYNC_FLEET_${name}`)

export interface FleetSettings extends Pick<Observed, "logs" | "server" | "notify" | "otlp"> {
  readonly concurrentReads: number
  /** How long a stop waits for requests in flight. */
  readonly stopWithin: Duration.Duration
}

export const resolve = (
  given: Setting.Parsed<typeof options>
): Effect.Effect<FleetSettings, UsageError | ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const { concurrentReads, format, host, level, notify, port, stopWithin } = yield* Effect.all(given)
    return {
      concurrentReads,
      stopWithin,
      logs: { format, level },
      server: Option.map(Option.fromUndefinedOr(port), (port) => ({ host, port })),
      notify: yield* ObservabilitySettings.resolveNotify(notify),
      otlp: yield* OtlpSettings.resolve
    }
  })
