/**
 * The first thing a newcomer runs: the main job, from a file to the shop, on this machine alone. Its data stays in `.demo`, or in
 * the folder named as first argument, so that a second run goes on from there.
 */
import { FetchHttpClient } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { demonstrate } from "./demonstration.js"

const kept = process.argv[2] ?? ".demo"

demonstrate(kept).pipe(
  Effect.provide(Layer.merge(NodeContext.layer, FetchHttpClient.layer)),
  Effect.catchAll((error) =>
    Effect.zipRight(
      Console.error(`\nThe demonstration failed: ${error.message}. Removing the folder ${kept} begins it anew.`),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )),
  NodeRuntime.runMain
)
