/** Greets in new conversations every five minutes. Reads `PLAZA_BASE_URL`, `PLAZA_API_KEY`, `GREETING` and `GREET_EXISTING`. */
import { NodeRuntime } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Sqlite from "@plaza/client/sqlite"
import { Config, Effect, Layer, Record, Schedule } from "effect"
import { groupBy } from "effect/Array"
import * as Greeter from "./Greeter.ts"

const options = Config.all({
  text: Config.NonEmptyString("GREETING").pipe(Config.withDefault("Hello! Ask us anything about the shop.")),
  greetExisting: Config.Boolean("GREET_EXISTING").pipe(Config.withDefault(false))
})

const program = Effect.gen(function*() {
  const pass = Effect.flatMap(Greeter.pass(yield* options), (entries) =>
    Effect.logInfo("greeter.pass", {
      ...Record.map(groupBy(entries, ({ state }): string => state), (group) => group.length),
      attention: entries.filter(({ state }) => state === "unknown").map(({ conversation }) => conversation)
    }))
  yield* pass.pipe(
    Effect.catch((failure) => Effect.logError("greeter.pass_failed", failure)),
    Effect.repeat(Schedule.spaced("5 minutes"))
  )
})

const live = Layer.merge(
  Layer.provide(Plaza.layerConfig, NodeClient.layer),
  Layer.provide(
    Greeter.Journal.layer,
    Sqlite.layerConfig({ filename: Config.String("JOURNAL").pipe(Config.withDefault("greeter.sqlite")) })
  )
)

program.pipe(Effect.provide(live), NodeRuntime.runMain)
