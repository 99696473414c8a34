/**
 * The content of a file as a stream of chunks: long ones on a fast connection, for low cost, and short ones on a slow connection, for
 * frequent progress.
 *
 * It reuses each buffer after a socket has written it. V8 runs a full mark phase for every few dozen MiB of new buffers, which costs
 * more than sending them. Decision 050 has the figures.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { monotonicWith } from "../Time.ts"

const minLength = 64 * 1024
// Each chunk takes the same CPU, whatever its length. Longer ones take more memory, and more time if the connection becomes slow.
const maxLength = 2 * 1024 * 1024

// The time for one chunk on a slow connection, and so the time between two reports of progress.
const chunkMillis = 100

interface Loan {
  /** The end of the lent bytes in the buffer. */
  readonly end: number
  /** The buffers to reuse. */
  readonly spare: Array<ArrayBufferLike>
}

// By `ArrayBuffer`, because a socket receives another view of it.
const loans = new WeakMap<ArrayBufferLike, Loan>()

/**
 * Permits the reuse of the buffer of a written chunk, if it is one of {@link make} or the last part of one. The earlier parts must be
 * written too, and no code may still use them.
 *
 * @since 0.1.0
 * @category recycling
 */
export const release = ({ buffer, byteLength, byteOffset }: Uint8Array): void => {
  const loan = loans.get(buffer)
  if (loan?.end === byteOffset + byteLength) {
    loans.delete(buffer)
    loan.spare.push(buffer)
  }
}

/**
 * A stream that opens and reads the file in each run, and verifies it before the first and after the last chunk. A chunk may be
 * overwritten after its {@link release}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <E>(
  fs: FileSystem.FileSystem,
  path: string,
  verify: (info: FileSystem.File.Info) => Effect.Effect<void, E>
): Stream.Stream<Uint8Array, E | PlatformError> =>
  Stream.unwrap(Effect.flatMap(fs.open(path, { flag: "r" }), (file) => {
    // Of this run alone, so that no run overwrites the bytes of another one.
    const spare: Array<ArrayBufferLike> = []
    let length = minLength
    let readAt = Number.NEGATIVE_INFINITY
    const acquire = (): Uint8Array => {
      const buffer = spare.pop()
      return buffer !== undefined && buffer.byteLength >= length ? new Uint8Array(buffer, 0, length) : new Uint8Array(length)
    }
    const chunks = Stream.fromEffectRepeat(monotonicWith((now) => {
      length = now - readAt < chunkMillis ? Math.min(length * 2, maxLength) : Math.max(length / 2, minLength)
      readAt = now
      const buffer = acquire()
      return Effect.flatMap(file.read(buffer), (end) => {
        if (end === 0) {
          return Cause.done()
        }
        loans.set(buffer.buffer, { end, spare })
        return Effect.succeed(buffer.subarray(0, end))
      })
    }))
    const verified = Effect.flatMap(file.stat, verify)
    return Effect.as(verified, Stream.concat(chunks, Stream.fromEffectDrain(verified)))
  }))
