/**
 * `plaza --sandbox`: runs one command against an in-process sandbox, which ends with it and leaves nothing behind.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const flag = "--sandbox"

/** A temporary folder, created only if the command writes to it, and removed at the end. */
const folder: Effect.Effect<string, never, FileSystem.FileSystem | Scope.Scope> = Effect.acquireRelease(
  Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (number) => join(tmpdir(), `plaza-kept-${number.toString(36)}`)),
  (path) => Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.ignore(fs.remove(path, { recursive: true, force: true })))
)

/** Runs a command on the shop of a new sandbox. */
export const sandboxed = <A, E, R>(
  argv: ReadonlyArray<string>,
  command: Effect.Effect<A, E, R>
): Effect.Effect<A, E | UsageError, Exclude<R, Scope.Scope> | FileSystem.FileSystem> =>
  Effect.scoped(Effect.gen(function*() {
    const other = argv.find((word) => /^--(base-url|profile)(=|$)/.test(word))
    if (other !== undefined) {
      return yield* new UsageError({
        message: `${flag} and ${other.replace(/=.*/, "")} don't go together: a sandbox of its own has its own address and key`
      })
    }
    const kept = yield* folder
    const { serve } = yield* Effect.promise(() => import("./Serve.js"))
    const { apiKey, baseUrl } = yield* serve({ port: 0 })
    const settings = ConfigProvider.fromMap(
      new Map([
        ["PLAZA_BASE_URL", baseUrl],
        ["PLAZA_API_KEY", apiKey],
        ["PLAZA_API_KEY_FILE", ""],
        ["PLAZA_PROFILE", ""],
        ["XDG_CONFIG_HOME", join(kept, "config")],
        ["XDG_STATE_HOME", join(kept, "state")]
      ]),
      { pathDelim: "_" }
    )
    return yield* Effect.configProviderWith((environment) =>
      Effect.withConfigProvider(command, ConfigProvider.orElse(settings, () => environment))
    )
  }))
