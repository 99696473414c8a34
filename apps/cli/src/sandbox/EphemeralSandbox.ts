/** `plaza --sandbox`: runs one command against an in-process sandbox, and removes it with all its files at the end. */
import * as Options from "@effect/cli/Options"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type { UsageError } from "@plaza/cli-kit/CliError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Whether the command runs against an ephemeral sandbox. */
export class EphemeralSandbox extends Context.Reference<EphemeralSandbox>()("@plaza/cli/EphemeralSandbox", {
  defaultValue: () => false
}) {}

/** The option of the program. */
export const option: Options.Options<boolean> = Options.boolean("sandbox").pipe(
  Options.withDescription("Run the command against a new sandbox, and remove it afterwards.")
)

/** Runs a command against a new sandbox. Its profiles and journals are in a temporary folder. */
export const run = <A, E, R>(
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, E | UsageError, Exclude<R, Scope.Scope> | FileSystem.FileSystem | Path.Path> =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "plaza-sandbox-" }))
    const { serve } = yield* Effect.promise(() => import("./SandboxServer.ts"))
    const { apiKey, baseUrl } = yield* serve({ port: 0 })
    const settings = ConfigProvider.fromMap(
      new Map([
        ["PLAZA_BASE_URL", baseUrl],
        ["PLAZA_API_KEY", apiKey],
        ["PLAZA_API_KEY_FILE", ""],
        ["PLAZA_PROFILE", ""],
        ["XDG_CONFIG_HOME", path.join(folder, "config")],
        ["XDG_STATE_HOME", path.join(folder, "state")]
      ]),
      { pathDelim: "_" }
    )
    return yield* Effect.configProviderWith((environment) =>
      command.pipe(
        Effect.withConfigProvider(ConfigProvider.orElse(settings, () => environment)),
        Effect.provideService(EphemeralSandbox, true)
      )
    )
  }))
