/** `fleet run`: runs the accounts of this runner's shards until it is stopped. */
import * as NodeClient from "@plaza/client/node"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { FleetSettings } from "../../config/FleetSettings.ts"
import * as AccountOptions from "../../fleet/AccountOptions.ts"
import * as AccountSources from "../../fleet/AccountSources.ts"
import * as FleetDatabase from "../../fleet/FleetDatabase.ts"
import * as FleetLedger from "../../fleet/FleetLedger.ts"
import * as FleetMigrations from "../../fleet/FleetMigrations.ts"
import * as FleetRoster from "../../fleet/FleetRoster.ts"
import { FleetRunner } from "../../fleet/FleetRunner.ts"
import * as FleetRunnerLive from "../../fleet/FleetRunnerLive.ts"
import * as FleetObservability from "../../fleet/operations/FleetObservability.ts"
import * as OwnershipCluster from "../../fleet/OwnershipCluster.ts"
import * as RegularFiles from "../../fleet/RegularFiles.ts"
import * as SealedSecrets from "../../fleet/SealedSecrets.ts"
import * as EventLogger from "../../observability/EventLogger.ts"
import * as Observability from "../../observability/Observability.ts"

// A secret of another fleet would fail every account with a sealed key.
const checkedSecret = Layer.effectDiscard(Effect.flatMap(AccountOptions.AccountOptions, ({ secret }) => SealedSecrets.check(secret)))

const checkedDatabase = Layer.effectDiscard(Effect.andThen(FleetMigrations.check, FleetMigrations.checkOwnershipRights))

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
    Layer.provideMerge(FleetLedger.layer),
    Layer.provide(Layer.provideMerge(checkedSecret, Layer.provide(AccountOptions.layerConfig, RegularFiles.layer))),
    Layer.provideMerge(Layer.provideMerge(checkedDatabase, FleetDatabase.layerRunner))
  )

/** The runner with its log, pages and metrics. */
export const layerObserved = (settings: FleetSettings) =>
  FleetObservability.layer({ server: settings.server, notify: settings.notify, exportsMetrics: Option.isSome(settings.otlp) }).pipe(
    Layer.provideMerge(layer(settings)),
    Layer.provideMerge(Observability.layerTelemetry(settings))
  )

/**
 * Waits for the requests in flight, unless the database is silent: then nothing can be recorded. That is looked for until the process ends,
 * because the release of the shards and the last statements wait for it too.
 */
const stop = Effect.gen(function*() {
  const { drain } = yield* FleetRunner
  const { abandon, silent } = yield* FleetDatabase.FleetDatabase
  const stopped = yield* Deferred.make<void>()
  const start = (effect: Effect.Effect<void>) =>
    Effect.forkDetach(Effect.interruptible(Effect.andThen(effect, Deferred.succeed(stopped, undefined))), { startImmediately: true })
  yield* start(Effect.andThen(silent, abandon))
  const draining = yield* start(drain)
  yield* Deferred.await(stopped)
  yield* Effect.forkDetach(Fiber.interrupt(draining))
})

export const run: Effect.Effect<never, never, FleetDatabase.FleetDatabase | FleetRunner> = Effect.gen(function*() {
  const { runner } = yield* Effect.flatMap(FleetRunner, ({ state }) => state)
  yield* EventLogger.log("Info", "fleet.started", { runner })
  // Before the layers are released: until then `/readyz` says that the runner stops, and its accounts stay its own.
  return yield* Effect.onInterrupt(Effect.never, () => stop)
})
