/** Reads a file or standard input as text or JSON. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"

const standardInput = Effect.mapError(
  Stream.mkString(Stream.decodeText(NodeStream.stdin)),
  () => new UsageError({ message: "standard input can't be read: use a file instead of -" })
)

/** The text of a file, or of standard input for `-`. */
export const text = (path: string): Effect.Effect<string, UsageError | PlatformError, FileSystem.FileSystem> =>
  path === "-" ? standardInput : Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path))

/** Parses text as JSON. `origin` names the text in the error. */
export const parse = (text: string, origin: string): Either.Either<unknown, UsageError> =>
  Either.try({
    try: (): unknown => JSON.parse(text.replace(/^\ufeff/, "")),
    catch: (error) => new UsageError({ message: `${origin} is not valid JSON: ${error instanceof Error ? error.message : String(error)}` })
  })

const nameOf = (path: string): string => path === "-" ? "standard input" : path

/** The JSON of a file, or of standard input for `-`. */
export const json = (path: string): Effect.Effect<unknown, UsageError | PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(text(path), (content) => parse(content, nameOf(path)))

/** The JSON object of a file, or of standard input for `-`. */
export const jsonObject = (
  path: string
): Effect.Effect<Readonly<Record<string, unknown>>, UsageError | PlatformError, FileSystem.FileSystem> =>
  Effect.filterOrFail(json(path), Predicate.isReadonlyRecord, () =>
    new UsageError({ message: `${nameOf(path)} must contain a JSON object` }))
