/**
 * The folder of `--uploads`: the only one that `plaza mcp` reads files from. A model can be talked into uploading any file, so the rules
 * are checked on the opened file, and its content is read from the same descriptor.
 */
import { UsageError } from "@plaza/cli-kit/CliError"
import { InvalidInput } from "@plaza/client/ClientError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { constants } from "node:fs"
import * as Files from "node:fs/promises"
import * as Path from "node:path"

/** An open file of the folder. */
export interface UploadFile {
  /** The last part of its path. */
  readonly fileName: string
  readonly size: number
  /** Reads the opened file from its start in each run, also if another file has its name by then. */
  readonly content: Stream.Stream<Uint8Array, InvalidInput>
}

export interface UploadFolder {
  /** Opens a regular file by its path within the folder. */
  readonly open: (path: string) => Effect.Effect<UploadFile, InvalidInput, Scope.Scope>
}

const invalid = (problem: string) => new InvalidInput({ field: "path", message: `path: ${problem}` })

/** A path of a model, which can have any length. */
const shown = (path: string): string => JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}...` : path)

// The same sentence for a link that leads out of the folder, so that it does not show whether a file exists there.
const missing = (path: string) => invalid(`there is no file ${shown(path)} in the folder for uploads`)

const codeOf = (error: unknown): string => error instanceof Error && "code" in error ? String(error.code) : ""

// Devices on Windows, in every folder and with any extension.
const windowsDevice = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?:[ .:]|$)/i

const isHidden = (relative: string, separator: string): boolean => relative.split(separator).some((name) => name.startsWith("."))

/** The path relative to the folder, by its text alone: nothing outside is touched, which a network share would notice. */
export const locate = (
  folder: string,
  path: string,
  platform: Path.PlatformPath = Path
): Result.Result<string, InvalidInput> => {
  if (/[\p{Control}\p{Surrogate}]/u.test(path)) return Result.fail(invalid("must not contain control characters"))
  const inside = platform.relative(folder, platform.resolve(folder, path))
  if (inside === "") return Result.fail(invalid("must be the path of a file in the folder for uploads"))
  const names = inside.split(platform.sep)
  if (platform.isAbsolute(inside) || names[0] === "..") return Result.fail(invalid(`${shown(path)} is outside of the folder for uploads`))
  if (isHidden(inside, platform.sep)) return Result.fail(invalid(`${shown(path)} is hidden: hidden files and folders are not uploaded`))
  // A colon is an alternate data stream.
  return platform.sep === "\\" && names.some((name) => name.includes(":") || windowsDevice.test(name))
    ? Result.fail(missing(path))
    : Result.succeed(inside)
}

/** The path of an open file as the kernel knows it; undefined where there is no `/proc`. */
const kernelPathOf = ({ fd }: Files.FileHandle): Promise<Buffer | undefined> =>
  Files.readlink(`/proc/self/fd/${fd}`, { encoding: "buffer" }).catch(() => undefined)

/**
 * Opens a file and checks what was opened. A folder on the way can be replaced by a link between a check of the path and the opening.
 * Without `/proc`, the path must lead to the opened file both before and afterwards.
 */
const openChecked = async (folder: string, relative: string, path: string): Promise<Files.FileHandle | InvalidInput> => {
  const asked = Path.join(folder, relative)
  const isInside = (real: string) => real.startsWith(folder + Path.sep) && !isHidden(Path.relative(folder, real), Path.sep)
  const real = await Files.realpath(asked)
  if (!isInside(real)) return missing(path)
  const special = invalid(`${shown(path)} is not a regular file`)
  if (!(await Files.lstat(real)).isFile()) return special
  // Without waiting for the writer of a pipe that has replaced the file. Windows has neither flag.
  const file = await Files.open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  const refusal = async () => {
    const opened = await file.stat({ bigint: true })
    if (!opened.isFile()) return special
    if (opened.size === 0n) return invalid(`${shown(path)} is empty`)
    const kernelPath = await kernelPathOf(file)
    // Compares bytes, because other bytes that are not UTF-8 decode to the same text.
    if (kernelPath !== undefined) {
      return kernelPath.indexOf(Buffer.from(folder + Path.sep)) === 0 && isInside(kernelPath.toString()) ? undefined : missing(path)
    }
    const again = await Files.stat(real, { bigint: true })
    return again.dev === opened.dev && again.ino === opened.ino && await Files.realpath(asked) === real ? undefined : missing(path)
  }
  const refused = await refusal().catch(() => missing(path))
  if (refused === undefined) return file
  await file.close()
  return refused
}

// As in the file streams of Node. Those close the descriptor, which a retry reads again.
const chunkSize = 64 * 1024

const contentOf = (file: Files.FileHandle, path: string): UploadFile["content"] =>
  Stream.unfold(0, (position) =>
    Effect.map(
      Effect.tryPromise({
        try: () => file.read(new Uint8Array(chunkSize), 0, chunkSize, position),
        catch: () => invalid(`${shown(path)} can't be read`)
      }),
      ({ buffer, bytesRead }) => bytesRead === 0 ? undefined : [buffer.subarray(0, bytesRead), position + bytesRead] as const
    ))

const open = (folder: string, path: string): Effect.Effect<UploadFile, InvalidInput, Scope.Scope> =>
  Effect.gen(function*() {
    const relative = yield* Effect.fromResult(locate(folder, path))
    const file = yield* Effect.acquireRelease(
      Effect.flatMap(
        Effect.tryPromise({
          try: () => openChecked(folder, relative, path),
          catch: (error) =>
            ["EACCES", "EPERM"].includes(codeOf(error)) ? invalid(`${shown(path)} can't be read: permission denied`) : missing(path)
        }),
        (opened) => opened instanceof InvalidInput ? Effect.fail(opened) : Effect.succeed(opened)
      ),
      (opened) => Effect.promise(() => opened.close().catch(() => {}))
    )
    const { size } = yield* Effect.promise(() => file.stat())
    // A name may contain a path of Windows.
    const name = Path.basename(relative)
    return { fileName: name.replace(/^.*\\(?=.)/s, ""), size, content: contentOf(file, path) }
  })

const problems: Readonly<Record<string, string>> = {
  ENOENT: "does not exist: name an existing folder",
  ENOTDIR: "is not a folder: name a folder",
  EACCES: "can't be read: check its owner and mode",
  EPERM: "can't be read: check its owner and mode"
}

/** The folder at a path. Links in this path are resolved once, here. */
export const make = (directory: string): Effect.Effect<UploadFolder, UsageError> =>
  Effect.gen(function*() {
    // Without a current folder, there is no whole path to name.
    const named = yield* Effect.orElseSucceed(Effect.try(() => Path.resolve(directory)), () => directory)
    const refuse = (problem: string) => new UsageError({ message: `--uploads ${named} ${problem}` })
    if (directory.trim() === "") return yield* new UsageError({ message: "--uploads requires the path of a folder" })
    const folder = yield* Effect.tryPromise({
      try: async () => {
        const real = await Files.realpath(directory)
        if (!(await Files.stat(real)).isDirectory()) return undefined
        await Files.access(real, constants.R_OK | constants.X_OK)
        return real
      },
      catch: (error) => refuse(problems[codeOf(error)] ?? `can't be used: ${error instanceof Error ? error.message : String(error)}`)
    })
    if (folder === undefined) return yield* refuse("is not a folder: name a folder")
    if (Path.parse(folder).root === folder) return yield* refuse("contains every file of the machine: name a folder only for uploads")
    return { open: (path) => open(folder, path) }
  })
