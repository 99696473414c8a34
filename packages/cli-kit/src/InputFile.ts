/**
 * Reads the files that a user names. A pipe, such as a shell's `<(command)`, is read once, from its beginning to its end. The platform reads
 * at positions, which a pipe doesn't have.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as PlatformError from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { constants, openSync } from "node:fs"
import { Socket } from "node:net"
import * as FileProblem from "./FileProblem.ts"

/** What a path of a file leads to. */
type Kind = "file" | "pipe" | "folder" | "device"

// By name, because a socket, which is what a program of Node passes on as standard input, can't be opened by its path.
const standardInput: ReadonlySet<string> = new Set(["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])

/** Whether a path is standard input, under its own name or as `-`. */
const isStandardInput = (path: string): boolean => path === "-" || standardInput.has(path)

/** The name of a file for messages. */
export const nameOf = (path: string): string => path === "-" ? "standard input" : path

/** What a path leads to. Fails if the user may not read it. */
export const kindOf = (path: string): Effect.Effect<Kind, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { type } = yield* fs.stat(path)
    if (type === "File" || type === "FIFO") yield* fs.access(path, { readable: true })
    return type === "File"
      ? "file"
      : type === "Directory"
      ? "folder"
      : type === "FIFO" || (type === "Socket" && isStandardInput(path))
      ? "pipe"
      : "device"
  })

const errorOf = (path: string, method: string) => (cause: unknown) =>
  PlatformError.systemError({ module: "FileSystem", method, _tag: "Unknown", pathOrDescriptor: nameOf(path), cause })

const readable = (path: string, evaluate: () => NodeJS.ReadableStream) =>
  NodeStream.fromReadable<Uint8Array, PlatformError.PlatformError>({ evaluate, onError: errorOf(path, "read") })

/** Opens a pipe without waiting for its writer. A thread that waits for one would keep the process from ending. */
const openPipe = (path: string) =>
  Effect.try({ try: () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), catch: errorOf(path, "open") })

/** The bytes of a file, of a pipe or, for `-`, of standard input. */
export const bytes = (path: string): Stream.Stream<Uint8Array, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Stream.unwrap(Effect.gen(function*() {
    if (path !== "-" && (yield* kindOf(path)) !== "pipe") {
      return Stream.mapError((yield* FileSystem.FileSystem).stream(path), FileProblem.at(path))
    }
    if (isStandardInput(path)) return readable(path, () => process.stdin)
    const fd = yield* openPipe(path)
    return readable(path, () => new Socket({ fd, readable: true, writable: false }))
  }))
