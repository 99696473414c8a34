/**
 * Decompression and its limit.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Gzip from "@plaza/tabular/Gzip"
import * as StreamingParser from "@plaza/tabular/StreamingParser"
import { Effect, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { containing, inChunks } from "./support/reading.ts"

const mebibyte = 1024 * 1024

const unpacked = (bytes: Uint8Array, chunkSize = 65_536) =>
  Effect.gen(function*() {
    const sizes: Array<number> = []
    const end = yield* inChunks(bytes, chunkSize).pipe(
      StreamingParser.rechunk(Gzip.chunkSize),
      StreamingParser.decode(() => Gzip.parser("stock.csv.gz")),
      Stream.runForEach((chunk) => Effect.sync(() => sizes.push(chunk.length))),
      Effect.result
    )
    return { end, size: sizes.reduce((sum, size) => sum + size, 0) }
  })

describe("gzip", () => {
  it.effect("fails when it decompresses to hundreds of times its size", () =>
    Effect.gen(function*() {
      const { end, size } = yield* unpacked(gzipSync(Buffer.alloc(200 * mebibyte)))
      expect(end).toMatchObject({
        _tag: "Failure",
        failure: { _tag: "SourceError", message: containing("decompresses to more than 300 times its size") }
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
      expect(end._tag).toBe("Success")
      expect(size).toBe(text.length)
    }))

  const member = gzipSync("row\n")
  it.effect.each([
    ["accepts two members", Buffer.concat([member, member]), { _tag: "Success" }, 8],
    ["accepts padding with zeros", Buffer.concat([member, Buffer.alloc(20)]), { _tag: "Success" }, 4],
    ["refuses data behind padding", Buffer.concat([member, Buffer.alloc(3), member]), {
      _tag: "Failure",
      failure: { message: containing("gzip data") }
    }, 4],
    ["refuses data that is not gzip", Buffer.concat([member, Buffer.from("row\n")]), {
      _tag: "Failure",
      failure: { message: containing("gzip data") }
    }, 4]
  ] as const)("%s, however it is cut", ([, bytes, end, size]) =>
    Effect.gen(function*() {
      for (let chunkSize = 1; chunkSize <= bytes.length; chunkSize++) {
        const result = yield* unpacked(bytes, chunkSize)
        expect([chunkSize, result.end]).toMatchObject([chunkSize, end])
        if (result.end._tag === "Success") expect(result.size).toBe(size)
      }
    }))

  it.effect("passes uncompressed bytes through without reading ahead", () =>
    Effect.gen(function*() {
      expect(yield* unpacked(Buffer.from("productId,stock\n"))).toMatchObject({ end: { _tag: "Success" }, size: 16 })
      expect(yield* unpacked(Buffer.of(0x1f))).toMatchObject({ end: { _tag: "Success" }, size: 1 })
    }))
})
