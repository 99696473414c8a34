/** The pages of a runner over a fleet's database that a test writes: requests in process. */
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Layer } from "effect"
import type { FleetDatabase } from "../../src/fleet/FleetDatabase.ts"
import type { AccountActivity, FleetRunner } from "../../src/fleet/FleetRunner.ts"
import type { FleetLedger } from "../../src/fleet/ledger/FleetLedger.ts"
import * as FleetLedgerLive from "../../src/fleet/ledger/FleetLedgerLive.ts"
import * as FleetRoutes from "../../src/fleet/operations/FleetRoutes.ts"
import * as FleetSampler from "../../src/fleet/operations/FleetSampler.ts"
import * as Support from "./fleetStatus.ts"

export type Fleet = FleetDatabase | FleetLedger | FleetRunner | FleetSampler.FleetSampler

/** A ready runner over a fleet's database. `prepare` runs before the runner takes its first sample. */
export const layer = <A, E>(
  prepare: Effect.Effect<A, E, FleetDatabase>,
  activities: Readonly<Record<string, AccountActivity>> = {}
) =>
  Layer.provideMerge(
    FleetSampler.layer,
    Layer.merge(Support.layerReadyWith(activities), Layer.provideMerge(FleetLedgerLive.layer, Layer.effectDiscard(prepare)))
  )

export interface Response {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

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

export type Requests = Effect.Effect.Success<typeof requests>

/** A server for all tests of a file. Returns what runs a test with the pages of a fleet of its own. */
export const fleets = () => {
  const inFleet = Support.fleets()
  return <A, E, E2>(
    prepare: Effect.Effect<unknown, E2, FleetDatabase>,
    use: (request: Requests) => Effect.Effect<A, E, Fleet>,
    activities?: Readonly<Record<string, AccountActivity>>
  ) => inFleet(Effect.provide(Effect.flatMap(requests, use), layer(prepare, activities)))
}
