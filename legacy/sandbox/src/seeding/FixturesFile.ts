/**
 * Reads fixtures from a JSON or YAML file, by its extension. An error is one sentence that names the file and the
 * field.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { SandboxError } from "../SandboxError.ts"
import type { Fixtures } from "./Fixtures.ts"
import { decode } from "./Fixtures.ts"

/** Imports the YAML parser only when needed, because it takes a while to load. */
const parserOf = (path: string): Effect.Effect<(text: string) => unknown> =>
  /\.ya?ml$/i.test(path)
    ? Effect.map(Effect.promise(() => import("yaml")), ({ parse }) => (text: string): unknown => parse(text))
    // Some editors write a byte order mark, which JSON doesn't allow.
    : Effect.succeed((text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, "")))

const firstLine = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).split("\n", 1)[0] ?? ""

/**
 * Reads fixtures from a file.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (path: string): Effect.Effect<Fixtures, SandboxError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const parse = yield* parserOf(path)
    const refuse = (problem: string, cause?: unknown) =>
      new SandboxError({ message: `the fixtures ${path} can't be used: ${problem}`, cause })
    const text = yield* Effect.mapError(fs.readFileString(path), (cause) => refuse("the file can't be read", cause))
    const data = yield* Effect.try({ try: () => parse(text), catch: (cause) => refuse(firstLine(cause), cause) })
    return yield* Either.mapLeft(decode(data), (problem) => refuse(problem))
  })
