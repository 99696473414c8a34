/**
 * A folder of files in memory, whose times follow the clock of the test.
 */
import { Error, FileSystem, Path } from "@effect/platform"
import { Clock, Effect, Layer, Option, Stream } from "effect"

interface Content {
  readonly bytes: Uint8Array
  readonly mtime: number
  readonly ino: number
}

const missing = (path: string) =>
  new Error.SystemError({ reason: "NotFound", module: "FileSystem", method: "stat", pathOrDescriptor: path })

export const make = () => {
  const folder = new Map<string, Content>()
  const watchers = new Set<() => void>()
  let created = 0
  const content = (path: string) =>
    Effect.suspend(() => {
      const found = folder.get(path)
      return found === undefined ? Effect.fail(missing(path)) : Effect.succeed(found)
    })
  const put = (path: string, text: string | Uint8Array, inPlace: boolean, mtime?: number) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const old = folder.get(path)
      const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text
      folder.set(path, { bytes, mtime: mtime ?? now, ino: inPlace && old !== undefined ? old.ino : ++created })
      for (const notify of watchers) notify()
    })

  const system = FileSystem.makeNoop({
    stat: (path) =>
      Effect.map(content(path), ({ bytes, ino, mtime }) => ({
        type: "File" as const,
        mtime: Option.some(new Date(mtime)),
        atime: Option.none(),
        birthtime: Option.none(),
        dev: 1,
        ino: Option.some(ino),
        mode: 0o600,
        nlink: Option.none(),
        uid: Option.none(),
        gid: Option.none(),
        rdev: Option.none(),
        size: FileSystem.Size(bytes.length),
        blksize: Option.none(),
        blocks: Option.none()
      })),
    stream: (path) => Stream.map(Stream.fromEffect(content(path)), ({ bytes }) => bytes),
    open: (path) =>
      Effect.map(content(path), ({ bytes }) => {
        let position = 0
        const file: Partial<FileSystem.File> = {
          seek: (offset) => Effect.sync(() => void (position = Number(offset))),
          readAlloc: (size) =>
            Effect.sync(() => {
              const piece = bytes.slice(position, position + Number(size))
              position += piece.length
              return piece.length === 0 ? Option.none() : Option.some(piece)
            })
        }
        // The code under test uses these two methods of a file only.
        return file as FileSystem.File
      }),
    watch: (path) =>
      Stream.async<FileSystem.WatchEvent>((emit) => {
        const notify = () => void emit.single(FileSystem.WatchEventUpdate({ path }))
        watchers.add(notify)
        return Effect.sync(() => void watchers.delete(notify))
      })
  })

  return {
    layer: Layer.merge(Layer.succeed(FileSystem.FileSystem, system), Path.layer),
    /** Writes into the file, or creates it. */
    write: (path: string, text: string | Uint8Array, mtime?: number) => put(path, text, true, mtime),
    /** Puts another file in its place. */
    replace: (path: string, text: string, mtime?: number) => put(path, text, false, mtime),
    remove: (path: string) => Effect.sync(() => void folder.delete(path))
  }
}
