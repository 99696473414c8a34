/**
 * Reads a text file that a user names. A pipe, such as a shell's `<(command)`, is read to its end. The platform opens it in a thread, which
 * would keep the process from ending until the pipe has a writer.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import { constants, openSync } from "node:fs"
import { Socket } from "node:net"
import { addAbortSignal, type Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { SandboxError } from "./SandboxError.ts"

// By name, because a socket, which is what a program of Node passes on as standard input, can't be opened by its path.
const standardInput: ReadonlySet<string> = new Set(["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])

/** Opens without waiting for the writer of a pipe. */
const open = (path: string): Readable =>
  standardInput.has(path)
    ? process.stdin
    : new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false })

const problems: Readonly<Record<string, string>> = {
  NotFound: "it does not exist",
  PermissionDenied: "its owner and mode do not permit to read it",
  BadResource: "it is not a file"
}

/** What is wrong with a file that can't be read. The reason of an unusual problem is in the words of Node. */
const problemOf = (error: PlatformError | Cause.UnknownError): string => {
  const { _tag, cause } = error._tag === "PlatformError" ? error.reason : error
  return problems[_tag] ?? (cause instanceof Error ? cause.message : _tag)
}

// Programs of Windows write UTF-16 too. Its mark begins no other text.
const decode = (bytes: Uint8Array): string => {
  const [one, two] = bytes
  const encoding = one === 0xff && two === 0xfe ? "utf-16le" : one === 0xfe && two === 0xff ? "utf-16be" : "utf-8"
  return new TextDecoder(encoding).decode(bytes)
}

/** Reads a file or a pipe as text without a byte order mark. `subject` begins the error, such as `the fixtures`. */
export const read = (subject: string, path: string): Effect.Effect<string, SandboxError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { type } = yield* fs.stat(path)
    const content = yield* type === "FIFO" || type === "Socket"
      ? Effect.tryPromise((signal) => buffer(addAbortSignal(signal, open(path))))
      : fs.readFile(path)
    return decode(content)
  }).pipe(Effect.mapError((cause) => new SandboxError({ message: `${subject} ${path} can't be used: ${problemOf(cause)}`, cause })))
