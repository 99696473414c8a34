/** The pages of a runner over a fleet's database that a test writes: requests in process. */
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Layer, Ref } from "effect"
import type { FleetDatabase } from "../../src/fleet/FleetDatabase.js"
import type { AccountActivity, FleetRunner } from "../../src/fleet/FleetRunner.js"
import type { FleetLedger } from "../../src/fleet/ledger/FleetLedger.js"
import * as FleetLedgerLive from "../../src/fleet/ledger/FleetLedgerLive.js"
import * as FleetRoutes from "../../src/fleet/operations/FleetRoutes.js"
import * as FleetSampler from "../../src/fleet/operations/FleetSampler.js"
import * as Support from "./fleetStatus.js"

export type Fleet = FleetDatabase | FleetLedger | FleetRunner | FleetSampler.FleetSampler

/** A ready runner over a new database if the layer is built fresh. `prepare` runs before the runner takes its first sample. */
export const layer = <A, E>(
  server: Effect.Effect.Success<typeof Support.server>,
  prepare: Effect.Effect<A, E, FleetDatabase>,
  activities: Readonly<Record<string, AccountActivity>> = {}
) =>
  FleetSampler.layer.pipe(
    Layer.provideMerge(Layer.merge(
      Layer.unwrapEffect(Effect.map(Effect.flatMap(Support.readyState, Ref.make), (state) => Support.layerRunner(state, activities))),
      Layer.provideMerge(FleetLedgerLive.layer, Layer.effectDiscard(prepare))
    )),
    Layer.provideMerge(server.database)
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
