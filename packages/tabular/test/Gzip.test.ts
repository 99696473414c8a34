/**
 * Decompression and its limit.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Gzip from "@plaza/tabular/Gzip"
import * as StreamingParser from "@plaza/tabular/StreamingParser"
import { Effect, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { containing, inChunks } from "./support/reading.js"

const mebibyte = 1024 * 1024

const unpacked = (bytes: Uint8Array) =>
  Effect.gen(function*() {
    const sizes: Array<number> = []
    const end = yield* inChunks(bytes, 65_536).pipe(
      StreamingParser.rechunk(Gzip.chunkSize),
      StreamingParser.decode(() => Gzip.parser("stock.csv.gz")),
      Stream.runForEach((chunk) => Effect.sync(() => sizes.push(chunk.length))),
      Effect.either
    )
    return { end, size: sizes.reduce((sum, size) => sum + size, 0) }
  })

describe("gzip", () => {
  it.effect("fails when it decompresses to hundreds of times its size", () =>
    Effect.gen(function*() {
      const { end, size } = yield* unpacked(gzipSync(Buffer.alloc(200 * mebibyte)))
      expect(end).toMatchObject({
        _tag: "Left",
        left: { _tag: "SourceError", message: containing("decompresses to more than 300 times its size") }
      })
      expect(size).toBeLessThanOrEqual(64 * mebibyte)
    }))

  it.effect("accepts a large source that repeats as much as rows do", () =>
    Effect.gen(function*() {
      const row = (id: number) =>
        `{"productId":"P${id}","name":"${"A warm woollen sock. ".repeat(8)}","warehouse":"Main street","stock":5}\n`
      const text = Buffer.from(Array.from({ length: 350_000 }, (_, id) => row(id)).join(""))
      expect(text.length).toBeGreaterThan(64 * mebibyte)
      const { end, size } = yield* unpacked(gzipSync(text))
      expect(end._tag).toBe("Right")
      expect(size).toBe(text.length)
    }))

  it.effect("passes uncompressed bytes through without reading ahead", () =>
    Effect.gen(function*() {
      expect(yield* unpacked(Buffer.from("productId,stock\n"))).toMatchObject({ end: { _tag: "Right" }, size: 16 })
      expect(yield* unpacked(Buffer.of(0x1f))).toMatchObject({ end: { _tag: "Right" }, size: 1 })
    }))
})
