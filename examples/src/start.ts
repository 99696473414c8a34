/** `pnpm start`: runs the demonstration. Its data stays in `.demo`, or in the folder of the first argument, for a second run. */
import { FetchHttpClient } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { demonstrate } from "./demonstration.ts"

const kept = process.argv[2] ?? ".demo"

demonstrate(kept).pipe(
  Effect.provide(Layer.merge(NodeContext.layer, FetchHttpClient.layer)),
  Effect.catchAll((error) =>
    Effect.zipRight(
      Console.error(`\nThe demonstration failed: ${error.message}. Remove the folder ${kept} and start again.`),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  ),
  NodeRuntime.runMain
)
