/**
 * The content of a file, in pieces that are as long as goes out in a moment: so short on a slow line that progress is
 * seen and nothing seems to hang, so long on a fast one that they cost little. Knows nothing of uploads.
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
import * as Buffers from "./Buffers.js"

const shortest = 64 * 1024
// Of buffers that are used again: more takes more memory and is no faster.
const longest = 1024 * 1024
// Of others, whose collection costs more the longer they are.
const longestOnce = 256 * 1024

// Between one piece and the next. A line that was quick until now has taken as much as the next piece holds already, so
// that no buffer on the way makes a slow one look quick for long.
const quickMillis = 50
const slowMillis = 250

const lengthAfter = (length: number, millis: number): number =>
  millis < quickMillis ? length * 2 : millis > slowMillis ? Math.max(length / 2, shortest) : length

/**
 * A stream that reads the file anew each time it is run. What it gives may be overwritten once it went out over a
 * connection that tells so.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (fs: FileSystem.FileSystem, path: string): Stream.Stream<Uint8Array, PlatformError> =>
  Stream.unwrapScoped(Effect.map(fs.open(path, { flag: "r" }), (file) => {
    const buffers = Buffers.make()
    let length = shortest
    let askedAt: number | undefined
    const nextBuffer = (now: number) => {
      const wanted = askedAt === undefined ? shortest : lengthAfter(length, now - askedAt)
      length = Math.min(wanted, buffers.areGivenBack() ? longest : longestOnce)
      askedAt = now
      return buffers.take(length)
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
          buffers.lend(piece)
          return Effect.succeed(Chunk.of(piece))
        }
      })
    })
    return Stream.repeatEffectChunkOption(next)
  }))
