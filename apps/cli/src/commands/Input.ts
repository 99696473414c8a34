/** Reads a file, a pipe or standard input as text or JSON. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as InputFile from "@plaza/cli-kit/InputFile"
import * as Text from "@plaza/cli-kit/Text"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

/** The text of a file, or of standard input for `-`. */
export const text = (path: string): Effect.Effect<string, PlatformError, FileSystem.FileSystem> =>
  Effect.map(Stream.runCollect(InputFile.bytes(path)), (chunks) => Text.decode(Buffer.concat(chunks)))

/** Parses text as JSON. `origin` names the text in the error. */
export const parse = (text: string, origin: string): Result.Result<unknown, UsageError> =>
  Result.try({
    try: (): unknown => JSON.parse(text.replace(/^\ufeff/, "")),
    catch: (error) => new UsageError({ message: `${origin} is not valid JSON: ${error instanceof Error ? error.message : String(error)}` })
  })

/** The JSON of a file, or of standard input for `-`. */
export const json = (path: string): Effect.Effect<unknown, UsageError | PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(text(path), (content) => Effect.fromResult(parse(content, InputFile.nameOf(path))))

/** The JSON object of a file, or of standard input for `-`. */
export const jsonObject = (
  path: string
): Effect.Effect<Readonly<Record<string, unknown>>, UsageError | PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(json(path), (value) =>
    Predicate.isReadonlyObject(value)
      ? Effect.succeed(value)
      : Effect.fail(new UsageError({ message: `${InputFile.nameOf(path)} must contain a JSON object` })))
