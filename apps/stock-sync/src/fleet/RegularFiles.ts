/**
 * A file system that opens regular files and folders only. Opening a named pipe may never end, and reading a device neither. Node opens all
 * files of the process in four threads, so four such accounts would stop the reads of all others.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { systemError } from "effect/PlatformError"

const isOpened = (type: FileSystem.File.Type): boolean => type === "File" || type === "Directory"

export const make = (files: FileSystem.FileSystem): FileSystem.FileSystem => {
  const check = (path: string, method: string) =>
    Effect.filterOrFail(files.stat(path), ({ type }) => isOpened(type), () =>
      systemError({ _tag: "BadResource", module: "FileSystem", method, pathOrDescriptor: path }))
  return FileSystem.make({
    ...files,
    open: (path, options) => Effect.andThen(check(path, "open"), files.open(path, options)),
    readFile: (path) => Effect.andThen(check(path, "readFile"), files.readFile(path))
  })
}

export const layer: Layer.Layer<FileSystem.FileSystem, never, FileSystem.FileSystem> = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, make)
)
