/**
 * The SQLite file through which the processes of a key share its rate limit. `plaza mcp` creates it. Other commands use it if it
 * exists: loading SQLite makes a short command take 1.4 times as long, which only users of the file should pay.
 */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Folder from "@plaza/cli-kit/Folder"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "node:path"
import * as Folders from "../Folders.ts"

/** Returns the path of the file, or none if the process has a rate limit of its own. */
export type RateLimitFile = Effect.Effect<Option.Option<string>, Config.ConfigError | UsageError, FileSystem.FileSystem>

const path = Effect.map(Folders.find("XDG_STATE_HOME"), Option.map((folder) => Path.join(folder, "rate-limit.sqlite")))

/** The file, if a process has created it. A user who can't search the folder didn't create it, and shares nothing. */
export const find: RateLimitFile = Effect.gen(function*() {
  const file = yield* path
  const fs = yield* FileSystem.FileSystem
  return Option.isSome(file) && (yield* Effect.orElseSucceed(fs.exists(file.value), () => false)) ? file : Option.none()
})

/** The file, in a folder that exists; none for a user without a home folder. */
export const get: RateLimitFile = Effect.tap(path, (file) =>
  Option.isNone(file) ? Effect.void : Effect.mapError(
    Folder.make(Path.dirname(file.value), { mode: 0o700 }),
    ({ message }) =>
      new UsageError({ message: `the folder of the shared rate limit can't be created: ${message}. Set XDG_STATE_HOME to another folder.` })
  ))
