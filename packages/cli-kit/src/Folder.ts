/** Creates folders. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { type PlatformError, systemError } from "effect/PlatformError"
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
      Effect.catchTag(fs.makeDirectory(folder, options), "PlatformError", (error) =>
        Effect.gen(function*() {
          const parent = Path.dirname(folder)
          if (error.reason._tag === "AlreadyExists" && (yield* fs.stat(folder)).type === "Directory") return
          if (error.reason._tag !== "NotFound" || parent === folder || isLast) return yield* error
          const hasParent = yield* fs.exists(parent)
          if (!hasParent) yield* create(parent)
          // Another process may have created the parent in between: once more, but no further time.
          yield* create(folder, hasParent)
        }))
    return Effect.try({
      try: () => Path.resolve(folder),
      catch: () =>
        systemError({
          _tag: "NotFound",
          module: "FileSystem",
          method: "makeDirectory",
          pathOrDescriptor: `the current folder, in which ${folder} would be,`
        })
    }).pipe(Effect.flatMap((folder) => create(folder)))
  })
