/**
 * A folder of files in memory, whose times follow the clock of the test.
 */
import { ByteSize, Clock, Effect, FileSystem, Layer, Option, Path, PlatformError, Queue, Stream } from "effect"

interface Content {
  readonly bytes: Uint8Array
  readonly mtime: number
  readonly ino: bigint
}

const missing = (path: string) =>
  PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "stat", pathOrDescriptor: path })

export const make = () => {
  const folder = new Map<string, Content>()
  const watchers = new Set<() => void>()
  let created = 0n
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
        dev: 1n,
        ino: Option.some(ino),
        mode: 0o600,
        nlink: Option.none(),
        uid: Option.none(),
        gid: Option.none(),
        rdev: Option.none(),
        size: ByteSize.bytes(bytes.length),
        blksize: Option.none(),
        blocks: Option.none()
      })),
    stream: (path) => Stream.map(Stream.fromEffect(content(path)), ({ bytes }) => bytes),
    open: (path) =>
      Effect.map(content(path), ({ bytes }) => {
        const file: Partial<FileSystem.File> = {
          readAlloc: (size, { position = 0n } = {}) =>
            Effect.sync(() => {
              const piece = bytes.slice(Number(position), Number(position) + size)
              return piece.length === 0 ? Option.none() : Option.some(piece)
            })
        }
        // The code under test uses this method of a file only.
        return file as FileSystem.File
      }),
    watch: (path) =>
      Stream.callback<FileSystem.WatchEvent>((queue) => {
        const notify = () => void Queue.offerUnsafe(queue, { _tag: "Update", path })
        watchers.add(notify)
        return Effect.addFinalizer(() => Effect.sync(() => void watchers.delete(notify)))
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
