/** A minimal program that embeds a sandbox: starts it on a socket, makes one call by the client and ends. */
import { Plaza, Profiles } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { Sandbox } from "@plaza/sandbox"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const client = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl }))).pipe(
  Layer.provide(Layer.merge(NodeClient.layer, Sandbox.layerServer()))
)

Effect.flatMap(Profiles, ({ me }) => me).pipe(Effect.provide(client), Effect.runPromise).then(() => process.exit(0), () => process.exit(1))
