/** How the content of a file is read: the lengths of its chunks, and the reuse of its buffers. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FileSystem, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as FileContent from "../src/internal/upload/FileContent.ts"

const KiB = 1024
const bytes = Uint8Array.from({ length: 20_000 * KiB }, (_, index) => (index * 31 + (index >> 10)) % 251)

/** The chunks of a file: their lengths in KiB, and the number of their buffers. */
const consumed = (consume: (chunk: Uint8Array, index: number) => Effect.Effect<void>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* fs.makeTempFileScoped()
    yield* fs.writeFile(path, bytes)
    const lengths: Array<number> = []
    const seen: Array<Uint8Array> = []
    const buffers = new Set<ArrayBufferLike>()
    yield* Stream.runForEach(FileContent.make(fs, path, () => Effect.void), (chunk) => {
      seen.push(chunk.slice())
      buffers.add(chunk.buffer)
      return consume(chunk, lengths.push(chunk.length / KiB) - 1)
    })
    expect(Buffer.concat(seen).equals(bytes)).toBe(true)
    return { lengths, buffers: buffers.size }
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

const release = (chunk: Uint8Array) => Effect.sync(() => FileContent.release(chunk))

describe("the content of a file", () => {
  it.effect("comes in chunks that grow while the connection is fast", () =>
    Effect.gen(function*() {
      const { lengths } = yield* consumed(release)
      expect(lengths.slice(0, 6)).toEqual([64, 128, 256, 512, 1_024, 2_048])
      expect(new Set(lengths.slice(5, -1))).toEqual(new Set([2_048]))
    }))

  it.effect("comes in short chunks on a slow connection, so that progress is visible", () =>
    Effect.gen(function*() {
      const { lengths } = yield* consumed((chunk, index) => Effect.andThen(release(chunk), TestClock.adjust(index < 4 ? 0 : "300 millis")))
      expect(lengths.slice(0, 9)).toEqual([64, 128, 256, 512, 1_024, 512, 256, 128, 64])
      expect(new Set(lengths.slice(8, -1))).toEqual(new Set([64]))
    }))

  it.effect("comes in chunks of about a tenth of a second", () =>
    Effect.gen(function*() {
      let longest = 0
      const { lengths } = yield* consumed((chunk) => {
        const millis = chunk.length / KiB / 2
        longest = Math.max(longest, millis)
        return Effect.andThen(release(chunk), TestClock.adjust(millis))
      })
      expect(Math.min(...lengths.slice(3, -1))).toBeGreaterThanOrEqual(128)
      expect(longest).toBeLessThanOrEqual(200)
    }))

  it.effect("reuses the buffers of released chunks", () =>
    Effect.gen(function*() {
      // One of each length while the chunks grow.
      expect((yield* consumed(release)).buffers).toBe(6)
    }))

  it.effect("doesn't change for a consumer that keeps the chunks", () =>
    Effect.gen(function*() {
      const kept: Array<Uint8Array> = []
      const { buffers, lengths } = yield* consumed((chunk) => Effect.sync(() => kept.push(chunk)))
      expect(Buffer.concat(kept).equals(bytes)).toBe(true)
      expect(buffers).toBe(lengths.length)
    }))

  it.effect("doesn't change before the last part of a chunk is released", () =>
    Effect.gen(function*() {
      const kept: Array<Uint8Array> = []
      const { buffers, lengths } = yield* consumed((chunk) => {
        kept.push(chunk)
        return release(chunk.subarray(0, chunk.length / 2))
      })
      expect(Buffer.concat(kept).equals(bytes)).toBe(true)
      expect(buffers).toBe(lengths.length)
    }))

  it.effect("reuses the buffer of a chunk that is released as another view, in parts, and several times", () =>
    Effect.gen(function*() {
      const { buffers } = yield* consumed((chunk) => {
        const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        FileContent.release(view.subarray(0, 9))
        FileContent.release(view.subarray(9))
        FileContent.release(view)
        FileContent.release(new Uint8Array(8))
        return Effect.void
      })
      expect(buffers).toBe(6)
    }))

  it.effect("doesn't share buffers with another run", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* fs.makeTempFileScoped()
      yield* fs.writeFile(path, bytes.subarray(0, 64 * KiB))
      const content = FileContent.make(fs, path, () => Effect.void)
      const [first] = yield* Stream.runCollect(Stream.tap(content, release))
      const [second] = yield* Stream.runCollect(content)
      expect(first?.buffer).not.toBe(second?.buffer)
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))

  it.effect("fails with the file's error", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      expect(yield* Effect.flip(Stream.runDrain(FileContent.make(fs, `${folder}/nothing`, () => Effect.void)))).toMatchObject({
        reason: { _tag: "NotFound" }
      })
      expect(yield* Effect.flip(Stream.runDrain(FileContent.make(fs, folder, () => Effect.void)))).toMatchObject({
        reason: { method: "read" }
      })
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))
})
