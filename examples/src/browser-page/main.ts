/** Serves the page on `PORT` of this machine. Reads `PLAZA_BASE_URL`. */
import { FetchHttpClient, HttpServer } from "@effect/platform"
import { NodeContext, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Layer } from "effect"
import { createServer } from "node:http"
import { serve } from "./PageServer.ts"

const server = Layer.unwrapEffect(
  Effect.map(Config.port("PORT").pipe(Config.withDefault(8080)),
    (port) => NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port }))
)

const program = Effect.gen(function*() {
  yield* serve(yield* Config.nonEmptyString("PLAZA_BASE_URL"))
  yield* HttpServer.logAddress
  return yield* Effect.never
})

program.pipe(Effect.scoped, Effect.provide(Layer.mergeAll(server, FetchHttpClient.layer, NodeContext.layer)), NodeRuntime.runMain)
