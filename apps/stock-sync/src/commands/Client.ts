/** The client of the commands that call the service. */
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { CurrentLedger } from "../ledger/CurrentLedger.ts"
import * as CountedClient from "../sync/CountedClient.ts"
import { name, version } from "../version.ts"

/** Its requests are counted in the current ledger. */
const counted = Layer.effect(
  HttpClient.HttpClient,
  Effect.zipWith(HttpClient.HttpClient, CurrentLedger, (client, current) => CountedClient.make(client, Ref.get(current)))
)

export const layer = Plaza.layerConfigFor(`${name}/${version}`).pipe(
  Layer.provide(Layer.provide(counted, NodeClient.layerConfig))
)
