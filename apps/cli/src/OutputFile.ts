/** Writes the files that a user names. They are checked before a command does anything, because a long one must not end with a lost result. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import { excerpt } from "@plaza/cli-kit/Text"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"

/** Checks that the file of a flag can be written: writes an empty one and removes it, or opens an existing one and leaves it unchanged. */
export const check = Effect.fnUntraced(function*(flag: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  const existing = yield* Effect.option(fs.stat(path))
  if (/^\s*$|\/$/.test(path) || Option.exists(existing, ({ type }) => type === "Directory")) {
    return yield* new UsageError({ message: `${flag} requires a file, but "${excerpt(path)}" is none: name a file` })
  }
  const attempt = Option.isNone(existing)
    ? Effect.andThen(fs.writeFileString(path, "\n", { flag: "wx" }), fs.remove(path))
    : existing.value.type === "File"
    ? Effect.scoped(fs.open(path, { flag: "a" }))
    // To open a pipe waits for its reader.
    : fs.access(path, { writable: true })
  yield* Effect.mapError(attempt,
    (error) => new UsageError({ message: `${flag} can't be written to ${path}: ${FileProblem.wordsOf(error)}; use another file` }))
})

/** Writes a file. Its failure names the path also if the disk is full. */
export const write = (path: string, text: string): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.mapError(fs.writeFileString(path, text), FileProblem.at(path)))
