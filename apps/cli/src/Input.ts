/** Reads a file or standard input as text or JSON. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { text as readAll } from "node:stream/consumers"

export type Json = Readonly<Record<string, unknown>>

const standardInput = Effect.tryPromise({
  try: () => readAll(process.stdin),
  catch: () => new UsageError({ message: "standard input can't be read: give the name of a file instead of -" })
})

/** The text of a file, or of standard input for `-`. */
export const text = (path: string): Effect.Effect<string, UsageError | PlatformError, FileSystem.FileSystem> =>
  path === "-" ? standardInput : Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path))

/** Parses text as JSON. `origin` names it in the error. */
export const parse = (text: string, origin: string): Either.Either<unknown, UsageError> =>
  Either.try({
    try: (): unknown => JSON.parse(text.replace(/^\ufeff/, "")),
    catch: (error) => new UsageError({ message: `${origin} is not JSON: ${error instanceof Error ? error.message : String(error)}` })
  })

const nameOf = (path: string): string => path === "-" ? "standard input" : path

/** The JSON of a file, or of standard input for `-`. */
export const json = (path: string): Effect.Effect<unknown, UsageError | PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(text(path), (content) => parse(content, nameOf(path)))

/** The JSON object of a file, or of standard input for `-`. */
export const jsonObject = (path: string): Effect.Effect<Json, UsageError | PlatformError, FileSystem.FileSystem> =>
  Effect.filterOrFail(json(path), Predicate.isReadonlyRecord, () =>
    new UsageError({ message: `${nameOf(path)} has to hold a JSON object, in braces` }))
