/** Serves the API on `PORT` of this machine. Reads `PLAZA_BASE_URL` and `PLAZA_API_KEY`. Callers need no key, so don't expose it. */
import { HttpApiBuilder, HttpServer } from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { Config, Effect, Layer } from "effect"
import { createServer } from "node:http"
import { ShopApi } from "./ShopApi.ts"
import { ShopHandlers } from "./ShopHandlers.ts"

const server = Layer.unwrapEffect(
  Effect.map(Config.port("PORT").pipe(Config.withDefault(8080)),
    (port) => NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port }))
)

HttpApiBuilder.serve().pipe(
  HttpServer.withLogAddress,
  Layer.provide(HttpApiBuilder.api(ShopApi)),
  Layer.provide(ShopHandlers),
  Layer.provide(Plaza.layerConfig),
  Layer.provide(NodeClient.layer),
  Layer.provide(server),
  Layer.launch,
  NodeRuntime.runMain
)
