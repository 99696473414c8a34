/** Creates folders. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Path from "node:path"

/**
 * Creates a folder and the missing ones above it, one by one. With `recursive`, Node never returns for a folder that can't be created
 * although its parent exists, as below `/proc`.
 */
export const make = (
  folder: string,
  options: { readonly mode?: number } = {}
): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => {
    const create = (folder: string, isLast = false): Effect.Effect<void, PlatformError> =>
      Effect.catchTag(fs.makeDirectory(folder, options), "SystemError", (error) =>
        Effect.gen(function*() {
          const parent = Path.dirname(folder)
          if (error.reason === "AlreadyExists" && (yield* fs.stat(folder)).type === "Directory") return
          if (error.reason !== "NotFound" || parent === folder || isLast) return yield* error
          const hasParent = yield* fs.exists(parent)
          if (!hasParent) yield* create(parent)
          // Another process may have created the parent in between: once more, but no further time.
          yield* create(folder, hasParent)
        }))
    return create(Path.resolve(folder))
  })
