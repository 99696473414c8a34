/**
 * Reads fixtures from a file, JSON or YAML by its ending. Whatever is wrong with it is told in one sentence that names
 * the file and the way to the field. Knows nothing of what becomes of them.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Fixtures } from "./Fixtures.js"
import { decode } from "./Fixtures.js"
import { SandboxError } from "../SandboxError.js"

/** The parser of YAML takes a while to load and is rarely needed. */
const parserOf = (path: string): Effect.Effect<(text: string) => unknown> =>
  /\.ya?ml$/i.test(path)
    ? Effect.map(Effect.promise(() => import("yaml")), ({ parse }) => (text: string): unknown => parse(text))
    // Some editors begin a file with a mark that JSON doesn't know.
    : Effect.succeed((text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, "")))

const firstLine = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).split("\n", 1)[0] ?? ""

/** @since 0.1.0 @category reading */
export const read = (path: string): Effect.Effect<Fixtures, SandboxError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const parse = yield* parserOf(path)
    const refuse = (problem: string, cause?: unknown) => new SandboxError({ message: `the fixtures ${path} can't be used: ${problem}`, cause })
    const text = yield* Effect.mapError(fs.readFileString(path), (cause) => refuse("the file can't be read", cause))
    const data = yield* Effect.try({ try: () => parse(text), catch: (cause) => refuse(firstLine(cause), cause) })
    return yield* Either.mapLeft(decode(data), (problem) => refuse(problem))
  })
