/** Decompresses bytes that begin as gzip does, and passes all others through. */
import * as Effect from "effect/Effect"
import { createGunzip, type Gunzip } from "node:zlib"
import * as SourceError from "./SourceError.js"
import type * as StreamingParser from "./StreamingParser.js"

/**
 * Bytes that are given to zlib at once. Deflate makes at most 1,032 bytes of one, so no more than 17 MB are in memory, even of a
 * decompression bomb.
 */
export const pieceSize = 16_384

// A feed shrinks to between a third and a hundredth: each row has an id of its own, which takes some bytes. Only long runs of one byte come
// near deflate's own limit of 1,032. Below the first bound nothing can do harm, and short feeds may be as regular as they like.
const harmless = 64 * 1024 * 1024
const largestRatio = 300

export const reader = (source: string): StreamingParser.Reader<Uint8Array> => new Reader(source)

class Reader implements StreamingParser.Reader<Uint8Array> {
  private readonly source: string
  private head: Uint8Array = new Uint8Array(0)
  private gunzip: Gunzip | undefined
  private isKnown = false
  private packed = 0
  private unpacked = 0
  private taken: Array<Uint8Array> = []
  private failure: Error | undefined
  private settle: () => void = () => undefined

  constructor(source: string) {
    this.source = source
  }

  take(piece: Uint8Array): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    if (this.isKnown) return this.gunzip === undefined ? Effect.succeed([piece]) : this.write(this.gunzip, piece)
    this.head = this.head.length === 0 ? piece : Buffer.concat([this.head, piece])
    const [one, two] = this.head
    if (one === undefined || (one === 0x1f && two === undefined)) return Effect.succeed([])
    this.isKnown = true
    if (one === 0x1f && two === 0x8b) this.gunzip = this.open()
    return this.take(this.head)
  }

  get end(): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    return Effect.suspend(() => {
      const { gunzip } = this
      if (gunzip === undefined) return Effect.succeed(this.isKnown ? [] : [this.head])
      return this.step((done) => {
        // Zeros behind the data, which tapes and blocks are filled with, end it before its bytes do.
        if (gunzip.readableEnded) return done()
        gunzip.once("end", done)
        gunzip.end()
      })
    })
  }

  private open(): Gunzip {
    const gunzip = createGunzip()
    gunzip.on("data", (piece: Uint8Array) => {
      this.unpacked += piece.length
      this.taken.push(piece)
    })
    // zlib does not call back the write that fails.
    gunzip.on("error", (error) => {
      this.failure = error
      this.settle()
    })
    return gunzip
  }

  private write(gunzip: Gunzip, piece: Uint8Array) {
    this.packed += piece.length
    return this.step((done) => gunzip.write(piece, done))
  }

  private step(act: (done: () => void) => void): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    return Effect.async((resume) => {
      this.settle = () => {
        const { taken } = this
        this.taken = []
        if (this.failure !== undefined) resume(this.refuse(complaint(this.failure)))
        else if (this.unpacked > harmless && this.unpacked > this.packed * largestRatio) {
          this.gunzip?.destroy()
          resume(this.refuse(`it unpacks to more than ${largestRatio} times its size, as no feed does: give the file unpacked`))
        } else resume(Effect.succeed(taken))
      }
      act(() => this.settle())
    })
  }

  private refuse(what: string) {
    return Effect.fail(SourceError.content(this.source, what))
  }
}

const complaint = (error: Error): string =>
  "code" in error && error.code === "Z_BUF_ERROR"
    ? "the gzip data is cut short: export or transfer it again"
    : `the gzip data is damaged (${error.message}): export or transfer it again`
