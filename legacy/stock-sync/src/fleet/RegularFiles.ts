/**
 * A file system that opens regular files and folders only. Opening a named pipe may never end, and reading a device neither. Node opens all
 * files of the process in four threads, so four such accounts would stop the reads of all others.
 */
import { SystemError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const isOpened = (type: FileSystem.File.Type): boolean => type === "File" || type === "Directory"

export const make = (files: FileSystem.FileSystem): FileSystem.FileSystem => {
  const check = (path: string, method: string) =>
    Effect.filterOrFail(files.stat(path), ({ type }) => isOpened(type), () =>
      new SystemError({ reason: "BadResource", module: "FileSystem", method, pathOrDescriptor: path }))
  return FileSystem.make({
    ...files,
    open: (path, options) => Effect.zipRight(check(path, "open"), files.open(path, options)),
    readFile: (path) => Effect.zipRight(check(path, "readFile"), files.readFile(path))
  })
}

export const layer: Layer.Layer<FileSystem.FileSystem, never, FileSystem.FileSystem> = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, make)
)
