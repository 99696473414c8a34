/** The client with a sandbox in process, and the writes that the sandbox has carried out. */
import { Plaza } from "@plaza/client"
import * as Sqlite from "@plaza/client/sqlite"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"

export const world = (options: Partial<Plaza.Options> = {}, sandbox: Sandbox.Options = {}) =>
  Layer.provideMerge(
    Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl, ...options }))),
    Sandbox.layerHttpClient(sandbox)
  )

export const journal = (filename = ":memory:") => Sqlite.layer({ filename })

/** The writes of an operation, oldest first. */
export const commitsOf = (operation: string) =>
  Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ commits }) => commits), (all) => all.filter((commit) => commit.operation === operation))
