/**
 * Buffers that are filled again once what was in them has left the process. Collecting a large one makes Node mark the
 * whole heap now and then, which costs more than sending it. Knows nothing of what fills them, nor of how it is sent.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category models */
export interface Buffers {
  /** A buffer of a length, whose bytes may be anything. */
  readonly take: (length: number) => Uint8Array
  /** Sends the beginning of a buffer on its way. It is taken again if it is given back, and only then. */
  readonly lend: (filled: Uint8Array) => void
  /** Whether any was given back yet: most ways that bytes go out don't tell when they are gone. */
  readonly areGivenBack: () => boolean
}

interface Loan {
  /** Where in the buffer its last part ends. */
  readonly end: number
  readonly receive: (buffer: Uint8Array) => void
}

const loans = new WeakMap<ArrayBufferLike, Loan>()

/** @since 0.1.0 @category constructors */
export const make = (): Buffers => {
  const spare: Array<Uint8Array> = []
  let areGivenBack = false
  const receive = (buffer: Uint8Array) => {
    areGivenBack = true
    spare.push(buffer)
  }
  return {
    take: (length) => {
      const buffer = spare.pop()
      return buffer !== undefined && buffer.length >= length ? buffer.subarray(0, length) : new Uint8Array(length)
    },
    lend: ({ buffer, byteLength, byteOffset }) => {
      loans.set(buffer, { end: byteOffset + byteLength, receive })
    },
    areGivenBack: () => areGivenBack
  }
}

/**
 * Whether a part is the last one of what is in a buffer on loan.
 *
 * @since 0.1.0
 * @category recycling
 */
export const isLastPart = ({ buffer, byteLength, byteOffset }: Uint8Array): boolean =>
  loans.get(buffer)?.end === byteOffset + byteLength

/**
 * Gives a buffer back, told by any part of it. For whoever knows that all that was in it is gone and that nobody else
 * holds it.
 *
 * @since 0.1.0
 * @category recycling
 */
export const giveBack = ({ buffer }: Uint8Array): void => {
  loans.get(buffer)?.receive(new Uint8Array(buffer))
  loans.delete(buffer)
}
