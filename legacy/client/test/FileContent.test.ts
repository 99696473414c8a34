import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream, TestClock } from "effect"
import * as BufferPool from "../src/internal/upload/BufferPool.ts"
import * as FileContent from "../src/internal/upload/FileContent.ts"

const KiB = 1024
const bytes = Uint8Array.from({ length: 20_000 * KiB }, (_, index) => (index * 31 + (index >> 10)) % 251)

/** The lengths in KiB of the pieces that a consumer received, and their content. */
const consumed = (consume: (piece: Uint8Array, index: number) => Effect.Effect<void>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* fs.makeTempFileScoped()
    yield* fs.writeFile(path, bytes)
    const lengths: Array<number> = []
    const seen: Array<Uint8Array> = []
    yield* Stream.runForEach(FileContent.make(fs, path), (piece) => {
      seen.push(piece.slice())
      return consume(piece, lengths.push(piece.length / KiB) - 1)
    })
    expect(Buffer.concat(seen).equals(bytes)).toBe(true)
    return lengths
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

const released = (piece: Uint8Array) => Effect.sync(() => BufferPool.release(piece))

describe("the content of a file", () => {
  it.effect("comes in pieces that grow while the connection is fast", () =>
    Effect.gen(function*() {
      const lengths = yield* consumed(released)
      expect(lengths).toEqual([64, 128, 256, 512, 1_024, 2_048, 4_096, 4_096, 4_096, 3_680])
    }))

  it.effect("comes in pieces of constant length on a connection of medium speed", () =>
    Effect.gen(function*() {
      const lengths = yield* consumed((piece, index) => Effect.zipRight(released(piece), TestClock.adjust(index < 2 ? 0 : "100 millis")))
      expect(new Set(lengths.slice(2, -1))).toEqual(new Set([256]))
    }))

  it.effect("comes in shorter pieces on a slow connection, so that progress is visible", () =>
    Effect.gen(function*() {
      const lengths = yield* consumed((piece, index) => Effect.zipRight(released(piece), TestClock.adjust(index < 4 ? 0 : "300 millis")))
      expect(lengths.slice(0, 9)).toEqual([64, 128, 256, 512, 1_024, 512, 256, 128, 64])
      expect(new Set(lengths.slice(8, -1))).toEqual(new Set([64]))
    }))

  it.effect("doesn't change for a consumer that keeps the pieces", () =>
    Effect.gen(function*() {
      const kept: Array<Uint8Array> = []
      const lengths = yield* consumed((piece) => Effect.sync(() => kept.push(piece)))
      expect(Buffer.concat(kept).equals(bytes)).toBe(true)
      expect(lengths.slice(0, 4)).toEqual([64, 128, 256, 256])
      expect(Math.max(...lengths)).toBe(256)
    }))

  it.effect("fails with the file's error", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      expect(yield* Effect.flip(Stream.runDrain(FileContent.make(fs, `${folder}/nothing`)))).toMatchObject({ reason: "NotFound" })
      expect(yield* Effect.flip(Stream.runDrain(FileContent.make(fs, folder)))).toMatchObject({ _tag: "SystemError", method: "read" })
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))
})
