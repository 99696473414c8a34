/** Serves the API on `PORT` of this machine. Reads `PLAZA_BASE_URL` and `PLAZA_API_KEY`. Callers need no key, so don't expose it. */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { Config, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { createServer } from "node:http"
import { ShopApi } from "./ShopApi.ts"
import { ShopHandlers } from "./ShopHandlers.ts"

const server = NodeHttpServer.layerConfig(createServer, {
  host: Config.succeed("127.0.0.1"),
  port: Config.Port("PORT").pipe(Config.withDefault(8080))
})

const routes = HttpApiBuilder.layer(ShopApi).pipe(
  Layer.provide(ShopHandlers),
  Layer.provide(Plaza.layerConfig),
  Layer.provide(NodeClient.layer)
)

HttpRouter.serve(routes).pipe(Layer.provide(server), Layer.launch, NodeRuntime.runMain)
