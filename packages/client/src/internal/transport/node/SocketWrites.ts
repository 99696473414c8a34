/**
 * What undici's sockets do after a write: they release the buffers of uploads, and they still read a response that a service
 * sends before it closes the connection. Undici has no option for either, so `_write` and `_writev` of each socket are
 * overridden.
 *
 * @since 0.1.0
 */
import type { Socket } from "node:net"
import * as BufferPool from "../../upload/BufferPool.js"

type Done = (error?: Error | null) => void

// What a write fails with after the other side has closed the connection.
const isPeerClosed = (error: NodeJS.ErrnoException): boolean => error.code === "EPIPE" || error.code === "ECONNRESET"

/**
 * Only the callback of a write reports that its bytes are gone; the end of a request or a `drain` of undici does not. After a
 * failure they may still be on their way.
 *
 * A service may refuse an upload and close the connection while the upload is still going out. The next write then fails
 * while the refusal waits to be read, and Node would destroy the socket with it. Such a write stays pending instead: the
 * socket reads on, and the end or the error of reading ends the request.
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
