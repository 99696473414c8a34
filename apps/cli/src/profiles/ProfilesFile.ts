/**
 * The file of profiles. It holds keys, so it must be readable only by its owner. Changes are atomic and serialised
 * between programs.
 */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import * as Folder from "@plaza/cli-kit/Folder"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Path from "node:path"
import * as Folders from "../Folders.ts"
import { none, Profiles } from "./Profiles.ts"
import * as Lock from "./ProfilesLock.ts"

const fileIn = (folder: string): string => Path.join(folder, "config.json")

/** The path of the file, which may not exist. Fails for a user without a home folder. */
export const location: Effect.Effect<string, Config.ConfigError | UsageError> = Effect.map(Folders.get("XDG_CONFIG_HOME"), fileIn)

/** The profiles of the user; none for a user without a home folder. */
export const ofUser: Effect.Effect<Profiles, Config.ConfigError | UsageError, FileSystem.FileSystem> = Effect.suspend(() =>
  Effect.flatMap(Folders.find("XDG_CONFIG_HOME"), Option.match({
    onNone: () => Effect.succeed(none),
    onSome: (folder) => read(fileIn(folder))
  }))
)

const quoted = (path: string): string => /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`

const fail = (message: string) => Effect.fail(new UsageError({ message }))

const othersMask = 0o077

/** Windows has neither POSIX owners nor modes. */
const ownId = (): number | undefined => process.getuid?.()

const checkPrivate = (path: string, { mode, type, uid }: FileSystem.File.Info): Effect.Effect<void, UsageError> => {
  const own = ownId()
  if (type !== "File") return fail(`${path} is not a file: move it away`)
  if (own === undefined) return Effect.void
  if (Option.exists(uid, (uid) => uid !== own)) {
    return fail(
      `${path} belongs to another user: run the command as that user, or set XDG_CONFIG_HOME to another folder`
    )
  }
  return (mode & othersMask) === 0 ? Effect.void : fail(`other users can read ${path}, which contains keys: run chmod 600 ${quoted(path)}`)
}

const isReason = (reason: string) => (error: PlatformError): boolean => error.reason._tag === reason

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Profiles))

// The parser's message may contain the text, and with it a key.
const parse = (path: string, text: string): Effect.Effect<Profiles, UsageError> =>
  Effect.mapError(decode(text), () =>
    new UsageError({
      message: `${path} is not a valid profiles file: correct it, or delete it and run plaza auth login`
    }))

type Files = FileSystem.FileSystem

const content = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.scoped(Effect.gen(function*() {
      // Checked before opening, because opening a FIFO can block; and again after opening, because the file may have been replaced.
      yield* checkPrivate(path, yield* fs.stat(path))
      const file = yield* fs.open(path, { flag: "r" })
      const info = yield* file.stat
      yield* checkPrivate(path, info)
      const bytes = info.size === 0n ? Option.none<Uint8Array>() : yield* file.readAlloc(Number(info.size))
      return new TextDecoder().decode(Option.getOrElse(bytes, () => new Uint8Array()))
    })))

/** Reads the profiles of a file; none if it doesn't exist. */
export const read = (path: string): Effect.Effect<Profiles, UsageError, Files> =>
  Effect.flatMap(content(path), (text) => parse(path, text)).pipe(
    Effect.catchTag("PlatformError", (error) =>
      isReason("NotFound")(error)
        ? Effect.succeed(none)
        : fail(
          `${path} can't be read (${
            isReason("PermissionDenied")(error) ? "this user may not" : FileProblem.wordsOf(error)
          }), and profiles are kept there`
        ))
  )

/** Resolves a symlink, so that its target is changed. */
const target = (path: string): Effect.Effect<string, PlatformError | UsageError, Files> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.catchIf(fs.realPath(path), isReason("NotFound"), () =>
      Effect.matchEffect(fs.readLink(path), {
        onFailure: () =>
          Effect.succeed(path),
        onSuccess: (to) => fail(`${path} is a link to ${to}, which does not exist: create that file, or remove the link`)
      })))

const makeFolder = (folder: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    yield* Folder.make(folder, { mode: 0o700 })
    const { mode, uid } = yield* fs.stat(folder)
    if ((mode & othersMask) !== 0 && Option.contains(uid, ownId() ?? -1)) yield* fs.chmod(folder, 0o700)
  })

/** Writes atomically: a reader sees the old file or the new one. */
const replace = (path: string, text: string, stillOwned: Effect.Effect<void, UsageError | PlatformError>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const to = yield* target(path)
    const written = `${to}.new`
    // A killed process may have left it.
    yield* fs.remove(written, { force: true })
    yield* Effect.scoped(Effect.gen(function*() {
      const file = yield* fs.open(written, { flag: "wx", mode: 0o600 })
      yield* file.writeAll(new TextEncoder().encode(text))
      yield* file.sync
    })).pipe(
      Effect.andThen(stillOwned),
      Effect.andThen(fs.rename(written, to)),
      Effect.onError(() => Effect.ignore(fs.remove(written, { force: true })))
    )
    // Syncs the folder, so that the rename survives a power cut. Not every system supports it.
    yield* Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(Path.dirname(to), { flag: "r" }), (folder) => folder.sync)))
  })

const encode = Schema.encodeEffect(Profiles)

/**
 * Changes the profiles of a file and returns the new ones. Keeps concurrent changes of other programs.
 */
export const update = (
  path: string,
  change: (profiles: Profiles) => Result.Result<Profiles, UsageError>
): Effect.Effect<Profiles, UsageError, Files> =>
  Effect.gen(function*() {
    yield* makeFolder(Path.dirname(path))
    return yield* Lock.held(`${path}.lock`, (stillOwned) =>
      Effect.gen(function*() {
        const changed = yield* Effect.fromResult(change(yield* read(path)))
        yield* replace(path, `${JSON.stringify(yield* Effect.orDie(encode(changed)), null, 2)}\n`, stillOwned)
        return changed
      }))
  }).pipe(
    Effect.catchTag("PlatformError", (error) => fail(`${path} can't be written: ${FileProblem.wordsOf(error)}`))
  )
