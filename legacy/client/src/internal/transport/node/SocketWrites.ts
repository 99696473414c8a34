/**
 * Overrides `_write` and `_writev` of undici's sockets, because undici has no option for two needs: to release the buffers of uploads
 * after a write, and to read a response that the service sends before it closes the connection.
 *
 * @since 0.1.0
 */
import type { Socket } from "node:net"
import * as BufferPool from "../../upload/BufferPool.ts"

type Done = (error?: Error | null) => void

// The codes of a write after the other side has closed the connection.
const isPeerClosed = (error: NodeJS.ErrnoException): boolean => error.code === "EPIPE" || error.code === "ECONNRESET"

/**
 * Only the callback of a write reports that its bytes are written; the end of a request or undici's `drain` doesn't. After a failed
 * write the socket may still use the bytes, so their buffers are not released.
 *
 * A service may refuse an upload and close the connection while the client still sends. The next write then fails before the client
 * has read the refusal, and Node would destroy the socket. Such a write stays pending instead: the socket continues to read, and the
 * end or the error of reading ends the request.
 */
const after = (chunks: ReadonlyArray<unknown>, done: Done): Done => (error) => {
  if (error === undefined || error === null) {
    for (const chunk of chunks) {
      if (chunk instanceof Uint8Array) {
        BufferPool.release(chunk)
      }
    }
    done()
  } else if (!isPeerClosed(error)) {
    done(error)
  }
}

/** @since 0.1.0 @category constructors */
export const prepare = (socket: Socket): Socket => {
  const write = socket._write.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, after([chunk], done))
  const writev = socket._writev?.bind(socket)
  if (writev !== undefined) {
    socket._writev = (chunks, done) => writev(chunks, after(chunks.map(({ chunk }): unknown => chunk), done))
  }
  return socket
}
