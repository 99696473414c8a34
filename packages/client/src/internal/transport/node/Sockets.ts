/**
 * Changes undici's sockets where undici has no option: to read a response that the service sends before it closes the connection, to skip
 * informational responses, and to report written chunks of files.
 *
 * @since 0.1.0
 */
import { Buffer } from "node:buffer"
import type { Socket } from "node:net"
import * as FileContent from "../../upload/FileContent.ts"

type Done = (error?: Error | null) => void

/**
 * A service may refuse an upload and close the connection while the client still sends. The next write then fails before the client has
 * read the refusal, and Node would destroy the socket. Such a write stays pending instead: the socket continues to read, and the end or
 * the error of reading ends the request.
 *
 * Only the callback of a write reports that its bytes are written; the end of a request or undici's `drain` doesn't. After a failed write
 * the socket may still use the bytes.
 */
const after = (done: Done, chunks: ReadonlyArray<unknown>) => (error?: NodeJS.ErrnoException | null): void => {
  if (error === undefined || error === null) {
    for (const chunk of chunks) {
      if (chunk instanceof Uint8Array) FileContent.release(chunk)
    }
    done()
  } else if (error.code !== "EPIPE" && error.code !== "ECONNRESET") {
    done(error)
  }
}

// Undici writes the head of a request as text. Its other texts, the lengths of chunks, begin with a line end.
const isRequest = (chunk: unknown): boolean => typeof chunk === "string" && /^[A-Z]/.test(chunk)

const nothing = Buffer.alloc(0)
const emptyLine = "\r\n\r\n"
const statusLength = "HTTP/1.1 100".length
// Node's limit for the head of a response.
const maxHeadLength = 16_384

const isInformational = (bytes: Buffer): boolean => /^HTTP\/1\.\d 1(?!01)/.test(bytes.toString("latin1", 0, statusLength))

/**
 * Skips informational responses, except 101. Undici closes the connection at a `100 Continue`, which some proxies send without being
 * asked.
 */
const skipInformational = (bytes: Buffer): Buffer => {
  const end = isInformational(bytes) ? bytes.indexOf(emptyLine) : -1
  return end < 0 ? bytes : skipInformational(bytes.subarray(end + emptyLine.length))
}

/** Whether more bytes decide if this is the beginning of the final response. */
const isUndecided = (bytes: Buffer): boolean => bytes.length < statusLength || (bytes.length < maxHeadLength && isInformational(bytes))

/** @since 0.1.0 @category constructors */
export const prepare = (socket: Socket): Socket => {
  /** The bytes before the response to a request; undefined after its beginning. */
  let before: Buffer | undefined
  const write = socket._write.bind(socket)
  socket._write = (chunk, encoding, done) => {
    if (isRequest(chunk)) before = nothing
    write(chunk, encoding, after(done, [chunk]))
  }
  const writev = socket._writev?.bind(socket)
  if (writev !== undefined) {
    socket._writev = (chunks, done) => {
      if (chunks.some(({ chunk }) => isRequest(chunk))) before = nothing
      writev(chunks, after(done, chunks.map(({ chunk }): unknown => chunk)))
    }
  }
  const push = socket.push.bind(socket)
  socket.push = (chunk: Buffer | null) => {
    if (before === undefined) return push(chunk)
    if (chunk === null) {
      push(before)
      before = undefined
      return push(null)
    }
    const bytes = skipInformational(before.length === 0 ? chunk : Buffer.concat([before, chunk]))
    before = isUndecided(bytes) ? bytes : undefined
    return before !== undefined || push(bytes)
  }
  return socket
}
