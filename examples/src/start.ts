/** `pnpm start`: runs the demonstration. Its data stays in `.demo`, or in the folder of the first argument, for a second run. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { demonstrate } from "./demonstration.ts"

const kept = process.argv[2] ?? ".demo"

demonstrate(kept).pipe(
  Effect.provide(Layer.merge(NodeServices.layer, FetchHttpClient.layer)),
  Effect.catch(Effect.fnUntraced(function*({ message }) {
    yield* Console.error(`\nThe demonstration failed: ${message}. Remove the folder ${kept} and start again.`)
    process.exitCode = 1
  })),
  NodeRuntime.runMain
)
