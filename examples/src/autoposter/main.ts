/** Posts new files of the folder `MEDIA_FOLDER` every minute. Reads `PLAZA_BASE_URL` and `PLAZA_API_KEY`. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Sqlite from "@plaza/client/sqlite"
import { Config, Effect, Layer, Schedule } from "effect"
import * as Autoposter from "./Autoposter.ts"

const program = Effect.gen(function*() {
  const folder = yield* Config.String("MEDIA_FOLDER").pipe(Config.withDefault("media"))
  const pass = Effect.flatMap(Autoposter.pass(folder), (entries) =>
    Effect.logInfo("autoposter.pass", {
      posted: entries.filter(({ state }) => state === "posted").length,
      attention: Autoposter.attention(entries)
    }))
  yield* pass.pipe(
    Effect.catch((failure) => Effect.logError("autoposter.pass_failed", failure)),
    Effect.repeat(Schedule.spaced("1 minute"))
  )
})

const live = Layer.mergeAll(
  Layer.provide(Plaza.layerConfig, NodeClient.layer),
  Layer.provide(
    Autoposter.Journal.layer,
    Sqlite.layerConfig({ filename: Config.String("JOURNAL").pipe(Config.withDefault("autoposter.sqlite")) })
  ),
  NodeServices.layer
)

program.pipe(Effect.provide(live), NodeRuntime.runMain)
