/** Replaces the files of users. Those that a flag names are checked before a command does anything, so that no result is lost at its end. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import { excerpt } from "@plaza/cli-kit/Text"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Path from "node:path"

type Files = FileSystem.FileSystem

/** The file behind a link, which may not exist, so that the link stays. */
export const target = (path: string): Effect.Effect<string, never, Files> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.realPath(path).pipe(
      Effect.catch(() => Effect.map(fs.readLink(path), (to) => Path.resolve(Path.dirname(path), to))),
      Effect.orElseSucceed(() => path)
    ))

// A fixed name, so that the next replacement removes the one that a killed process left.
const temporary = (path: string): string => `${path}.plaza-new`

/** Replaces a file atomically: a reader sees the old content or the new one. Keeps its mode; a new file gets the mode of the options. */
export const replace = (path: string, text: string, options: { readonly mode?: number } = {}): Effect.Effect<void, PlatformError, Files> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const to = yield* target(path)
    const written = temporary(to)
    const mode = yield* Effect.orElseSucceed(Effect.map(fs.stat(to), ({ mode }) => mode & 0o777), () => options.mode)
    yield* fs.remove(written, { force: true })
    yield* Effect.scoped(Effect.gen(function*() {
      const file = yield* fs.open(written, { flag: "wx", ...(mode === undefined ? {} : { mode }) })
      yield* file.writeAll(new TextEncoder().encode(text))
      yield* file.sync
    })).pipe(
      // The mask of the process applies to a new file.
      Effect.andThen(mode === undefined ? Effect.void : fs.chmod(written, mode)),
      Effect.andThen(fs.rename(written, to)),
      Effect.onError(() => Effect.ignore(fs.remove(written, { force: true })))
    )
    // Syncs the folder, so that the rename survives a power cut. Not every system supports it.
    yield* Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(Path.dirname(to), { flag: "r" }), (folder) => folder.sync)))
  }).pipe(Effect.mapError(FileProblem.at(path)))

// Standard output may be redirected to a regular file, whose replacement would lose what the command prints.
const isStream = (path: string): boolean => /^(-|\/dev\/std(in|out|err)|\/(dev|proc\/\w+)\/fd\/\d+)$/.test(path)

/** Checks that {@link replace} can replace the file of a flag: it is a regular file or does not exist, and its folder can be written. */
export const check = Effect.fnUntraced(function*(flag: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  const isOther = Option.exists(yield* Effect.option(fs.stat(path)), ({ type }) => type !== "File")
  if (isOther || isStream(path) || /^\s*$|\/$/.test(path)) {
    return yield* new UsageError({ message: `${flag} requires a regular file, not "${excerpt(path)}"` })
  }
  const probe = temporary(yield* target(path))
  yield* Effect.mapError(Effect.andThen(fs.writeFileString(probe, ""), fs.remove(probe)),
    (error) => new UsageError({ message: `${flag} can't be written to ${path}: ${FileProblem.wordsOf(error)}; use another file` }))
})
