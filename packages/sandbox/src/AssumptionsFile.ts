/**
 * Reads assumptions from a JSON file. An error is one sentence that names the file and the field.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Assumptions } from "./Assumptions.js"
import { decode } from "./Assumptions.js"
import { SandboxError } from "./SandboxError.js"

/**
 * Reads assumptions from a file.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (path: string): Effect.Effect<Partial<Assumptions>, SandboxError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const refuse = (problem: string, cause?: unknown) =>
      new SandboxError({ message: `the assumptions ${path} can't be used: ${problem}`, cause })
    const text = yield* Effect.mapError(fs.readFileString(path), (cause) => refuse("the file can't be read", cause))
    const data = yield* Effect.try({
      // Some editors write a byte order mark, which JSON doesn't allow.
      try: (): unknown => JSON.parse(text.replace(/^\uFEFF/, "")),
      catch: (cause) => refuse("the file is not valid JSON", cause)
    })
    return yield* Either.mapLeft(decode(data), (problem) => refuse(problem))
  })
