/** Reads assumptions and a `latitude` from a JSON file. Fails with one sentence that names the file and the field. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Assumptions } from "./Assumptions.ts"
import { decode } from "./Assumptions.ts"
import * as Latitude from "./Latitude.ts"
import { SandboxError } from "./SandboxError.ts"
import * as TextFile from "./TextFile.ts"

/** The content of a file: assumptions that differ from the defaults, and a change of the latitude from its field `latitude`. */
export interface Content {
  readonly assumptions: Partial<Assumptions>
  readonly latitude: Latitude.Change
}

/** Without a file. */
export const empty: Content = { assumptions: {}, latitude: {} }

const decodeContent = (data: unknown): Result.Result<Content, string> => {
  const { latitude = {}, ...rest } = Predicate.isReadonlyObject(data) ? data : {}
  return Result.all({
    assumptions: decode(Predicate.isReadonlyObject(data) ? rest : data),
    latitude: Result.mapError(Latitude.decode(latitude), (problem) => `the service variant in it is invalid: ${problem}`)
  })
}

/** Reads a file. */
export const read = (path: string): Effect.Effect<Content, SandboxError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const refuse = (problem: string, cause?: unknown) =>
      new SandboxError({ message: `the assumptions ${path} can't be used: ${problem}`, cause })
    const text = yield* TextFile.read("the assumptions", path)
    const data = yield* Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: (cause) => refuse("the file is not valid JSON", cause)
    })
    return yield* Effect.fromResult(Result.mapError(decodeContent(data), (problem) => refuse(problem)))
  })
