/** The pages of a runner over a fleet's database that a test writes: requests in process. */
import { Effect, Layer, Metric } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { FleetDatabase } from "../../src/fleet/FleetDatabase.ts"
import * as FleetLedger from "../../src/fleet/FleetLedger.ts"
import type { AccountActivity, FleetRunner } from "../../src/fleet/FleetRunner.ts"
import * as FleetRoutes from "../../src/fleet/operations/FleetRoutes.ts"
import * as FleetSampler from "../../src/fleet/operations/FleetSampler.ts"
import * as Support from "./fleetStatus.ts"
import type { Response } from "./statusSampler.ts"

export type Fleet = FleetDatabase | FleetLedger.FleetLedger | FleetRunner | FleetSampler.FleetSampler

/** A ready runner over a fleet's database. `prepare` runs before the runner takes its first sample. */
export const layer = <A, E>(
  prepare: Effect.Effect<A, E, FleetDatabase>,
  activities: Readonly<Record<string, AccountActivity>> = {}
) =>
  Layer.provideMerge(
    FleetSampler.layer,
    Layer.merge(Support.layerReady(activities), Layer.provideMerge(FleetLedger.layer, Layer.effectDiscard(prepare)))
  )

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Requests a path of one runner, whose cache the requests share. */
export const requests: Effect.Effect<(path: string, asked?: Asked) => Effect.Effect<Response>, never, Fleet> = Effect.map(
  FleetRoutes.make,
  (handle) => (path, { headers = {}, method = "GET" } = {}) =>
    Effect.gen(function*() {
      // The platform reads the path of a request as it arrived.
      const request = HttpServerRequest.fromWeb(
        new Request("http://localhost/", { method, headers: { host: "localhost:9000", ...headers } })
      )
      const web = HttpServerResponse.toWeb(
        yield* Effect.provideService(handle(true), HttpServerRequest.HttpServerRequest, request.modify({ url: path }))
      )
      return { status: web.status, headers: web.headers, body: yield* Effect.promise(() => web.text()) }
    })
)

export type Requests = Effect.Success<typeof requests>

/** A server for all tests of a file. Returns what runs a test with the pages and the metrics of a fleet of its own. */
export const fleets = () => {
  const inFleet = Support.fleets()
  return <A, E, E2>(
    prepare: Effect.Effect<unknown, E2, FleetDatabase>,
    use: (request: Requests) => Effect.Effect<A, E, Fleet>,
    activities?: Readonly<Record<string, AccountActivity>>
  ) =>
    Effect.suspend(() =>
      Effect.provideService(
        inFleet(Effect.provide(Effect.flatMap(requests, use), layer(prepare, activities))),
        Metric.MetricRegistry,
        new Map()
      )
    )
}
