/**
 * Reads a text file that a user names. A pipe, such as a shell's `<(command)`, is read to its end. The platform opens it in a thread, which
 * would keep the process from ending until the pipe has a writer.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { constants, openSync } from "node:fs"
import type { Readable } from "node:stream"
import { SandboxError } from "./SandboxError.ts"

// By name, because a socket, which is what a program of Node passes on as standard input, can't be opened by its path.
const standardInput: ReadonlySet<string> = new Set(["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])

const open = async (path: string): Promise<Readable> => {
  if (standardInput.has(path)) return process.stdin
  const { Socket } = await import("node:net")
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false })
}

const readPipe = async (path: string, signal: AbortSignal): Promise<string> => {
  const { addAbortSignal } = await import("node:stream")
  const { text } = await import("node:stream/consumers")
  return text(addAbortSignal(signal, await open(path)))
}

/** Reads a file or a pipe as text without a byte order mark. `subject` begins the error, such as `the fixtures`. */
export const read = (subject: string, path: string): Effect.Effect<string, SandboxError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const type = yield* Effect.orElseSucceed(Effect.map(fs.stat(path), ({ type }) => type), () => "Unknown")
    const text = type === "FIFO" || type === "Socket"
      ? Effect.tryPromise((signal) => readPipe(path, signal))
      : fs.readFileString(path)
    return (yield* text).replace(/^\uFEFF/, "")
  }).pipe(Effect.mapError((cause) => new SandboxError({ message: `${subject} ${path} can't be used: the file can't be read`, cause })))
