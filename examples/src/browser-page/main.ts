/** Serves the page on `PORT` of this machine. Reads `PLAZA_BASE_URL`. */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Layer } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import { createServer } from "node:http"
import * as PageServer from "./PageServer.ts"

const server = NodeHttpServer.layerConfig(createServer, {
  host: Config.succeed("127.0.0.1"),
  port: Config.Port("PORT").pipe(Config.withDefault(8080))
})

const routes = Layer.unwrap(Effect.map(Config.NonEmptyString("PLAZA_BASE_URL"), PageServer.routes))

HttpRouter.serve(routes).pipe(
  Layer.provide(Layer.merge(server, FetchHttpClient.layer)),
  Layer.launch,
  NodeRuntime.runMain
)
