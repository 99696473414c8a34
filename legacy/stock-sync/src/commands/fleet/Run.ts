/** `fleet run`: runs the accounts of this runner's shards until it is stopped. */
import * as NodeClient from "@plaza-legacy/client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { FleetSettings } from "../../config/FleetSettings.ts"
import * as AccountOptions from "../../fleet/AccountOptions.ts"
import * as AccountSources from "../../fleet/AccountSources.ts"
import * as FleetAccounts from "../../fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../fleet/FleetMigrations.ts"
import * as FleetRoster from "../../fleet/FleetRoster.ts"
import { FleetRunner } from "../../fleet/FleetRunner.ts"
import * as FleetRunnerLive from "../../fleet/FleetRunnerLive.ts"
import * as FleetLedgerLive from "../../fleet/ledger/FleetLedgerLive.ts"
import * as FleetObservability from "../../fleet/operations/FleetObservability.ts"
import * as OwnershipCluster from "../../fleet/OwnershipCluster.ts"
import * as RegularFiles from "../../fleet/RegularFiles.ts"
import * as SealedSecrets from "../../fleet/SealedSecrets.ts"
import * as Observability from "../../observability/Observability.ts"

// A secret of another fleet would fail every account with a sealed key.
const checkedSecret = Layer.effectDiscard(Effect.flatMap(AccountOptions.AccountOptions, ({ secret }) => SealedSecrets.check(secret)))

/**
 * The runner and the services of its database. Checks the settings and the database before the runner appears in the fleet. The shards
 * are released when the layer is, after the requests in flight.
 */
export const layer = (options: FleetRunnerLive.Options) =>
  FleetRunnerLive.layer(options).pipe(
    Layer.provide(Layer.provide(AccountSources.layer, RegularFiles.layer)),
    Layer.provide(NodeClient.layerWith({ connectTimeout: OwnershipCluster.longestConnect })),
    Layer.provide(OwnershipCluster.layer),
    Layer.provide(FleetRoster.layer),
    Layer.provideMerge(Layer.merge(FleetAccounts.layer, FleetLedgerLive.layer)),
    Layer.provide(Layer.provideMerge(checkedSecret, Layer.provide(AccountOptions.layerConfig, RegularFiles.layer))),
    Layer.provideMerge(Layer.provideMerge(Layer.effectDiscard(FleetMigrations.check), FleetDatabase.layerRunner))
  )

/** The runner with its log, pages and metrics. */
export const layerObserved = (settings: FleetSettings) =>
  FleetObservability.layer({ server: settings.server, exportsMetrics: Option.isSome(settings.otlp) }).pipe(
    Layer.provideMerge(layer(settings)),
    Layer.provideMerge(Observability.layerTelemetry(settings))
  )

export const run: Effect.Effect<never, never, FleetRunner> = Effect.gen(function*() {
  const { drain, state } = yield* FleetRunner
  const { runner } = yield* state
  yield* Effect.annotateLogs(Effect.logInfo("fleet.started"), { runner })
  // Before the layers are released: until then `/readyz` says that the runner stops, and its accounts stay its own.
  return yield* Effect.onInterrupt(Effect.never, () => drain)
})
