/**
 * Buffers that a file is read into again once their bytes have left the process. V8 marks the whole heap for every few dozen
 * MiB of new buffers, which costs more than sending them. Decision 022 has the figures.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category models */
export interface BufferPool {
  /** A buffer of a length, with arbitrary bytes in it. */
  readonly acquire: (length: number) => Uint8Array
  /** Marks the filled beginning of a buffer as on its way. {@link release} returns the buffer to the pool; nothing else does. */
  readonly lend: (filled: Uint8Array) => void
  /** Whether any buffer has been released. Most HTTP clients do not report when bytes are written. */
  readonly isRecycling: () => boolean
}

interface Loan {
  /** Where in the buffer the lent bytes end. */
  readonly end: number
  readonly receive: (buffer: Uint8Array) => void
}

// By the memory below, because what arrives at a socket is another view of it.
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
 * Returns the buffer of a part that has been written, if the part ends the lent bytes. The parts before it must have been
 * written, and nobody may hold them.
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
