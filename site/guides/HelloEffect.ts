import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Plaza, Posts } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { DateTime, Effect, Layer } from "effect"

const program = Effect.gen(function*() {
  const posts = yield* Posts
  const now = yield* DateTime.now
  const { id } = yield* posts.create({ text: `Hello at ${DateTime.formatIso(now)}.` })
  yield* Effect.log(`created the post ${id}`)
})

// Reads PLAZA_BASE_URL and PLAZA_API_KEY.
const live = Layer.provide(Plaza.layerConfig, NodeClient.layer)

program.pipe(Effect.provide(live), NodeRuntime.runMain)
