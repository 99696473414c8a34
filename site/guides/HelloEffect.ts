import { NodeRuntime } from "@effect/platform-node"
import { Plaza, Posts } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { Effect, Layer } from "effect"

const program = Effect.gen(function*() {
  const posts = yield* Posts
  const { id } = yield* posts.create({ text: "Hello from Plaza." })
  yield* Effect.log(`created the post ${id}`)
})

// Reads PLAZA_BASE_URL and PLAZA_API_KEY.
const live = Layer.provide(Plaza.layerConfig, NodeClient.layer)

program.pipe(Effect.provide(live), NodeRuntime.runMain)
