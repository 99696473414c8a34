/**
 * That bytes which unpack to far more than any feed does are given up in time.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Gzip from "@plaza/tabular/Gzip"
import * as StreamingParser from "@plaza/tabular/StreamingParser"
import { Effect, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { containing, inPieces } from "./support/reading.js"

const mebibyte = 1024 * 1024

const unpacked = (bytes: Uint8Array) =>
  Effect.gen(function*() {
    const sizes: Array<number> = []
    const end = yield* inPieces(bytes, 65_536).pipe(
      StreamingParser.upTo(Gzip.pieceSize),
      StreamingParser.rows(() => Gzip.reader("stock.csv.gz")),
      Stream.runForEach((piece) => Effect.sync(() => sizes.push(piece.length))),
      Effect.either
    )
    return { end, size: sizes.reduce((sum, size) => sum + size, 0) }
  })

describe("gzip", () => {
  it.effect("is given up where it unpacks to hundreds of times its size", () =>
    Effect.gen(function*() {
      const { end, size } = yield* unpacked(gzipSync(Buffer.alloc(200 * mebibyte)))
      expect(end).toMatchObject({
        _tag: "Left",
        left: { _tag: "SourceError", message: containing("unpacks to more than 300 times its size") }
      })
      expect(size).toBeLessThanOrEqual(64 * mebibyte)
    }))

  it.effect("is read where a large feed repeats itself as much as rows do", () =>
    Effect.gen(function*() {
      const row = (id: number) =>
        `{"productId":"P${id}","name":"${"A warm woollen sock. ".repeat(8)}","warehouse":"Main street","stock":5}\n`
      const text = Buffer.from(Array.from({ length: 350_000 }, (_, id) => row(id)).join(""))
      expect(text.length).toBeGreaterThan(64 * mebibyte)
      const { end, size } = yield* unpacked(gzipSync(text))
      expect(end._tag).toBe("Right")
      expect(size).toBe(text.length)
    }))

  it.effect("is no reason to read ahead: bytes that are not packed pass as they come", () =>
    Effect.gen(function*() {
      expect(yield* unpacked(Buffer.from("productId,stock\n"))).toMatchObject({ end: { _tag: "Right" }, size: 16 })
      expect(yield* unpacked(Buffer.of(0x1f))).toMatchObject({ end: { _tag: "Right" }, size: 1 })
    }))
})
