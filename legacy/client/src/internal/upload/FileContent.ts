/**
 * The content of a file as a stream of pieces: short pieces on a slow connection, for frequent progress, and long pieces on a fast
 * connection, for low overhead.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as BufferPool from "./BufferPool.ts"

const minLength = 64 * 1024
// For reused buffers: each piece takes the same CPU, whatever its length. Longer ones take more memory than an upload may.
const maxReusedLength = 4 * 1024 * 1024
// For buffers that are used once. Longer buffers make V8 mark the heap more often.
const maxFreshLength = 256 * 1024

// Thresholds for the time between two pieces. The length doubles only after the connection has accepted a piece, so socket buffers
// make a slow connection look fast for a short time only.
const fastMillis = 50
const slowMillis = 250

const lengthAfter = (length: number, millis: number): number =>
  millis < fastMillis ? length * 2 : millis > slowMillis ? Math.max(length / 2, minLength) : length

/**
 * A stream that opens and reads the file in each run. A piece may be overwritten after a socket has written it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (fs: FileSystem.FileSystem, path: string): Stream.Stream<Uint8Array, PlatformError> =>
  Stream.unwrapScoped(Effect.map(fs.open(path, { flag: "r" }), (file) => {
    const pool = BufferPool.make()
    let length = minLength
    let previousAt: number | undefined
    const nextBuffer = (now: number) => {
      const wanted = previousAt === undefined ? minLength : lengthAfter(length, now - previousAt)
      length = Math.min(wanted, pool.isRecycling() ? maxReusedLength : maxFreshLength)
      previousAt = now
      return pool.acquire(length)
    }
    const next = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const buffer = nextBuffer(now)
      return Effect.matchEffect(file.read(buffer), {
        onFailure: (error) => Effect.fail(Option.some(error)),
        onSuccess: (size) => {
          if (size === FileSystem.Size(0)) {
            return Effect.fail(Option.none())
          }
          const piece = buffer.subarray(0, Number(size))
          pool.lend(piece)
          return Effect.succeed(Chunk.of(piece))
        }
      })
    })
    return Stream.repeatEffectChunkOption(next)
  }))
