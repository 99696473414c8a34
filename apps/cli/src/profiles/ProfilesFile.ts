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
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Path from "node:path"
import * as Folders from "../Folders.ts"
import * as OutputFile from "../OutputFile.ts"
import { none, Profiles } from "./Profiles.ts"

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

const content = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  // Before it is opened, because opening a FIFO can block.
  yield* checkPrivate(path, yield* fs.stat(path))
  return yield* fs.readFileString(path)
})

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

const makeFolder = (folder: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    yield* Folder.make(folder, { mode: 0o700 })
    const { mode, uid } = yield* fs.stat(folder)
    if ((mode & othersMask) !== 0 && Option.contains(uid, ownId() ?? -1)) yield* fs.chmod(folder, 0o700)
  })

// Five seconds. A change takes milliseconds.
const whileLocked = Schedule.max([Schedule.spaced("20 millis"), Schedule.recurs(250)])

/** Locks a file until the scope closes, so that one program at a time changes the profiles. */
const lock = (path: string) =>
  Effect.promise(() => import("../SqliteFile.ts")).pipe(
    Effect.flatMap((SqliteFile) => SqliteFile.lock(path)),
    Effect.retry({ schedule: whileLocked, while: ({ _tag }) => _tag === "Locked" }),
    Effect.catchTag("Locked", () => fail("another program changes the profiles: wait for it, or stop it"))
  )

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
    yield* lock(`${path}.lock`)
    const changed = yield* Effect.fromResult(change(yield* read(path)))
    yield* Effect.uninterruptible(
      OutputFile.replace(path, `${JSON.stringify(yield* Effect.orDie(encode(changed)), null, 2)}\n`, { mode: 0o600 })
    )
    return changed
  }).pipe(
    Effect.scoped,
    Effect.catchTag("PlatformError", (error) => fail(`${path} can't be written: ${FileProblem.wordsOf(error)}`))
  )
