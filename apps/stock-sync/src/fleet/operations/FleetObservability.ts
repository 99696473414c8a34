/**
 * What an operator sees of a running runner: its row in the database, metrics, and the pages on a port. It reads the runner's state and the
 * database, and changes neither accounts nor ledgers.
 */
import type { UsageError } from "@plaza/cli-kit/CliError"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { log } from "../../observability/EventLogger.ts"
import type { NotifySettings } from "../../observability/Messenger.ts"
import type { FleetDatabase } from "../FleetDatabase.ts"
import type { FleetLedger } from "../FleetLedger.ts"
import type { FleetRunner } from "../FleetRunner.ts"
import * as RunnerHeartbeat from "./RunnerHeartbeat.ts"

export interface Options {
  /** The address of the pages; none if there are no pages. */
  readonly server: Option.Option<{ readonly host: string; readonly port: number }>
  readonly notify: Option.Option<NotifySettings>
  /** Whether the metrics are exported other than by `/metrics`. */
  readonly exportsMetrics: boolean
}

const server = ({ server }: Options) =>
  Option.match(server, {
    onNone: () => Layer.empty,
    onSome: (address) =>
      Layer.effectDiscard(Effect.gen(function*() {
        const { serve } = yield* Effect.promise(() => import("../../observability/Server.ts"))
        const FleetRoutes = yield* Effect.promise(() => import("./FleetRoutes.ts"))
        yield* log("Info", "page.listening", { address: yield* serve(address, yield* FleetRoutes.make) })
      }))
  })

/** Provide it on top of the runner. The row is written without a port as well: `fleet status` on another machine reads it. */
export const layer = (
  options: Options
): Layer.Layer<never, Config.ConfigError | UsageError, FleetDatabase | FleetLedger | FleetRunner> =>
  Layer.mergeAll(
    RunnerHeartbeat.layer,
    Option.match(options.notify, {
      onNone: () => Layer.empty,
      onSome: (settings) =>
        Layer.unwrap(Effect.map(Effect.promise(() => import("./FleetNotify.ts")), ({ layerConfig }) => layerConfig(settings)))
    }),
    Option.isNone(options.server) && !options.exportsMetrics ? Layer.empty : Layer.unwrap(
      Effect.map(Effect.promise(() => import("./FleetSampler.ts")), (FleetSampler) => Layer.provide(server(options), FleetSampler.layer))
    )
  )
