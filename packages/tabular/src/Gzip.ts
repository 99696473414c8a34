/** Decompresses gzip, and passes other bytes through. */
import * as Effect from "effect/Effect"
import { createGunzip, type Gunzip } from "node:zlib"
import * as SourceError from "./SourceError.ts"
import type * as StreamingParser from "./StreamingParser.ts"

/** Bytes per write to zlib. Deflate expands one byte to at most 1,032, so a decompression bomb takes at most 17 MB of memory. */
export const chunkSize = 16_384

// Real sources compress by a factor of 3 to 100, because each row has its own id. Only long runs of one byte come near deflate's limit of
// 1,032. Small sources are accepted at any ratio.
const uncheckedBytes = 64 * 1024 * 1024
const maxRatio = 300

export const parser = (source: string): StreamingParser.Parser<Uint8Array> => new Parser(source)

class Parser implements StreamingParser.Parser<Uint8Array> {
  private readonly source: string
  private head: Uint8Array = new Uint8Array(0)
  private gunzip: Gunzip | undefined
  private isKnown = false
  private compressedBytes = 0
  private decompressedBytes = 0
  private decompressed: Array<Uint8Array> = []
  /** Whether the gzip data has ended and padding follows. */
  private padded = false
  private failure: Error | undefined
  private settle: () => void = () => undefined

  constructor(source: string) {
    this.source = source
  }

  push(chunk: Uint8Array): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    if (this.isKnown) return this.gunzip === undefined ? Effect.succeed([chunk]) : this.write(this.gunzip, chunk)
    this.head = this.head.length === 0 ? chunk : Buffer.concat([this.head, chunk])
    const [one, two] = this.head
    if (one === undefined || (one === 0x1f && two === undefined)) return Effect.succeed([])
    this.isKnown = true
    if (one === 0x1f && two === 0x8b) this.gunzip = this.open()
    return this.push(this.head)
  }

  get end(): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    return Effect.suspend(() => {
      const { gunzip } = this
      if (gunzip === undefined) return Effect.succeed(this.isKnown ? [] : [this.head])
      return this.step((done) => {
        // Padding with zeros ends the gzip data before the source ends.
        if (gunzip.readableEnded) return done()
        gunzip.once("end", done)
        gunzip.end()
      })
    })
  }

  private open(): Gunzip {
    const gunzip = createGunzip()
    gunzip.on("data", (chunk: Uint8Array) => {
      this.decompressedBytes += chunk.length
      this.decompressed.push(chunk)
    })
    // zlib does not call back the write that fails.
    gunzip.on("error", (error) => {
      this.failure = error
      this.settle()
    })
    return gunzip
  }

  private write(gunzip: Gunzip, chunk: Uint8Array) {
    this.compressedBytes += chunk.length
    return Effect.filterOrElse(
      this.padded ? Effect.succeed([]) : this.step((done) => gunzip.write(chunk, done)),
      // zlib ignores what follows a zero after the end, and how much of it depends on the chunks.
      () => {
        const padding = chunk.subarray(chunk.length - Math.min(chunk.length, this.compressedBytes - gunzip.bytesWritten))
        this.padded ||= padding.length > 0
        return padding.every((byte) => byte === 0)
      },
      () => this.fail("there is more data behind the end of the gzip data: export or transfer it again")
    )
  }

  private step(act: (done: () => void) => void): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    return Effect.callback((resume) => {
      this.settle = () => {
        const { decompressed } = this
        this.decompressed = []
        if (this.failure !== undefined) resume(this.fail(reasonOf(this.failure)))
        else if (this.decompressedBytes > uncheckedBytes && this.decompressedBytes > this.compressedBytes * maxRatio) {
          this.gunzip?.destroy()
          resume(this.fail(`it decompresses to more than ${maxRatio} times its size: provide it uncompressed`))
        } else resume(Effect.succeed(decompressed))
      }
      act(() => this.settle())
    })
  }

  private fail(reason: string) {
    return Effect.fail(SourceError.content(this.source, reason))
  }
}

const reasonOf = (error: Error): string =>
  "code" in error && error.code === "Z_BUF_ERROR"
    ? "the gzip data is truncated: export or transfer it again"
    : `the gzip data is damaged (${error.message}): export or transfer it again`
