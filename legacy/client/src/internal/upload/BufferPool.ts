/**
 * Reuses the buffers of a file's content after the socket has written them. V8 runs a full mark phase for every few dozen MiB of new
 * buffers, which costs more than sending them. Decision 022 has the figures.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category models */
export interface BufferPool {
  /** Returns a buffer of a length. Its bytes are arbitrary. */
  readonly acquire: (length: number) => Uint8Array
  /** Marks the filled start of a buffer as passed to a socket. Only {@link release} returns the buffer to the pool. */
  readonly lend: (filled: Uint8Array) => void
  /** Whether any buffer has been released. Most HTTP clients don't report when bytes are written. */
  readonly isRecycling: () => boolean
}

interface Loan {
  /** The end of the lent bytes in the buffer. */
  readonly end: number
  readonly receive: (buffer: Uint8Array) => void
}

// By `ArrayBuffer`, because a socket receives another view of it.
const loans = new WeakMap<ArrayBufferLike, Loan>()

/** @since 0.1.0 @category constructors */
export const make = (): BufferPool => {
  const spare: Array<Uint8Array> = []
  let isRecycling = false
  const receive = (buffer: Uint8Array) => {
    isRecycling = true
    spare.push(buffer)
  }
  return {
    acquire: (length) => {
      const buffer = spare.pop()
      return buffer !== undefined && buffer.length >= length ? buffer.subarray(0, length) : new Uint8Array(length)
    },
    lend: ({ buffer, byteLength, byteOffset }) => {
      loans.set(buffer, { end: byteOffset + byteLength, receive })
    },
    isRecycling: () => isRecycling
  }
}

/**
 * Returns the buffer of a written part to its pool, if the part is the last of the lent bytes. The earlier parts must be written too,
 * and no code may still use them.
 *
 * @since 0.1.0
 * @category recycling
 */
export const release = ({ buffer, byteLength, byteOffset }: Uint8Array): void => {
  const loan = loans.get(buffer)
  if (loan?.end === byteOffset + byteLength) {
    loans.delete(buffer)
    loan.receive(new Uint8Array(buffer))
  }
}
