/** `plaza --sandbox`: runs one command against an in-process sandbox, and removes it with all its files at the end. */
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import { tmpdir } from "node:os"

/** Whether the command runs against an ephemeral sandbox. */
export class EphemeralSandbox extends Context.Reference<boolean>("@plaza/cli/EphemeralSandbox", { defaultValue: () => false }) {}

/**
 * A new sandbox, and the configuration that leads to it. It starts when a command first reads that configuration. Profiles and journals are
 * in a temporary folder, which is made in the same way.
 */
export const layer: Layer.Layer<never, never, FileSystem.FileSystem | Path.Path> = Layer.unwrap(Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const environment = yield* ConfigProvider.ConfigProvider
  const scope = yield* Effect.scope
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-sandbox-" }).pipe(
    Effect.provideService(Scope.Scope, scope),
    Effect.mapError((error) =>
      new ConfigProvider.SourceError({
        message: `--sandbox needs a folder for temporary files, and ${tmpdir()} can't be used: ${FileProblem.wordsOf(error)}; set TMPDIR`
      })
    ),
    Effect.cached
  )
  const address = yield* Effect.promise(() => import("./SandboxServer.ts")).pipe(
    Effect.flatMap(({ serve }) => serve({ port: 0 })),
    Effect.provideService(Scope.Scope, scope),
    Effect.mapError(({ message }) => new ConfigProvider.SourceError({ message })),
    Effect.cached
  )
  const settings: Readonly<Record<string, Effect.Effect<string | undefined, ConfigProvider.SourceError>>> = {
    PLAZA_BASE_URL: Effect.map(address, ({ baseUrl }) => baseUrl),
    PLAZA_API_KEY: Effect.map(address, ({ apiKey }) => apiKey),
    PLAZA_API_KEY_FILE: Effect.succeed(undefined),
    PLAZA_PROFILE: Effect.succeed(undefined),
    XDG_CONFIG_HOME: Effect.map(folder, (folder) => path.join(folder, "config")),
    XDG_STATE_HOME: Effect.map(folder, (folder) => path.join(folder, "state"))
  }
  const provider = ConfigProvider.make((path) => {
    const name = path.join("_")
    const setting = Object.hasOwn(settings, name) ? settings[name] : undefined
    return setting === undefined
      ? environment.load(path)
      : Effect.map(setting, (value) => value === undefined ? undefined : ConfigProvider.makeValue(value))
  })
  return Layer.mergeAll(Layer.succeed(ConfigProvider.ConfigProvider, provider), Layer.succeed(EphemeralSandbox, true))
}))
