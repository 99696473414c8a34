import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Media } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FastCheck as fc, Schedule, Stream } from "effect"
import { createHash } from "node:crypto"
import * as OnSandbox from "./support/OnSandbox.js"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const uploaded = (mediaId: string) =>
  Effect.flatMap(Sandbox.Sandbox, ({ state }) => Effect.map(state, ({ media }) => media.find(({ id }) => id === mediaId)))

const names = [
  "photo.png",
  "a \"quoted\" name.jpg",
  "line\r\nContent-Type: text/html\r\n\r\nbreak.png",
  "Grüße, 世界 🛒.jpeg",
  "semi;colon=1.gif",
  "back\\slash.png"
]

// How a name that breaks lines or quotes stands after the encoding that browsers use.
const asSent = (name: string) => name.replaceAll("\"", "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A")

const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 251)
const streamed = Stream.fromIterable([bytes.subarray(0, 40_000), bytes.subarray(40_000, 40_000), bytes.subarray(40_000)])

const arrives = () => Effect.gen(function*() {
  const { upload } = yield* Media
  for (const fileName of names) {
    for (const file of [{ content: bytes }, { content: streamed }, { content: streamed, size: bytes.length }]) {
      const { mediaId } = yield* upload({ fileName, ...file })
      const found = yield* uploaded(mediaId)
      expect(found).toMatchObject({ size: bytes.length, sha256: sha256(bytes) })
      expect([fileName, asSent(fileName)]).toContain(found?.name)
    }
  }
})

describe("an upload", () => {
  const world = { sandbox: { assumptions: { requestsPerWindow: 1_000 } }, client: { retry: Schedule.recurs(2) } }

  it.effect("arrives whole under any file name, in process", () => Effect.provide(arrives(), OnSandbox.inProcess(world)))
  OnSandbox.itOnSockets("arrives whole under any file name", arrives(), world)

  it.live("is told by its ending what it is, unless told", () =>
    Effect.gen(function*() {
      const { upload } = yield* Media
      const typeOf = (fileName: string, contentType?: string) =>
        Effect.flatMap(upload({ fileName, content: bytes, contentType }), ({ mediaId }) => uploaded(mediaId))
      expect(yield* typeOf("a.png")).toMatchObject({ contentType: "image/png" })
      expect(yield* typeOf("a.unheard-of")).toMatchObject({ contentType: "application/octet-stream" })
      expect(yield* typeOf("a.png", "image/x-special")).toMatchObject({ contentType: "image/x-special" })
    }).pipe(Effect.provide(OnSandbox.onSocket(world))))

  it.live("is repeated from its beginning, and tells how far it is", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { upload } = yield* Media
      yield* sandbox.addFault({ kind: "status", when: "after", status: 500, path: "/media" })
      const told: Array<number> = []
      const { mediaId } = yield* upload({
        fileName: "a.png",
        content: streamed,
        size: bytes.length,
        onProgress: (sent) => Effect.sync(() => told.push(sent))
      })
      expect((yield* uploaded(mediaId))?.sha256).toBe(sha256(bytes))
      expect(told).toEqual([40_000, 40_000, 100_000, 40_000, 40_000, 100_000])
    }).pipe(Effect.provide(OnSandbox.onSocket(world))))

  it.live("of a file of the file system arrives, and a missing one or a folder is said to be so", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { uploadFile } = yield* Media
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFile(`${folder}/picture.jpg`, bytes)
      const { mediaId } = yield* uploadFile(`${folder}/picture.jpg`)
      expect(yield* uploaded(mediaId)).toMatchObject({ name: "picture.jpg", contentType: "image/jpeg", sha256: sha256(bytes) })
      expect(yield* Effect.flip(uploadFile(`${folder}/nothing.jpg`))).toMatchObject({ _tag: "SystemError", reason: "NotFound" })
      expect(yield* Effect.flip(uploadFile(folder))).toMatchObject({ _tag: "InvalidInput", field: "path" })
    }).pipe(Effect.scoped, Effect.provide([NodeFileSystem.layer, OnSandbox.onSocket(world)])))

  it.live("whose source fails, or isn't as long as said, fails for just that", () =>
    Effect.gen(function*() {
      const { upload } = yield* Media
      const broken = Stream.concat(Stream.succeed(bytes), Stream.fail("disk gone" as const))
      expect(yield* Effect.flip(upload({ fileName: "a.png", content: broken }))).toBe("disk gone")
      for (const size of [bytes.length - 1, bytes.length + 1]) {
        expect(yield* Effect.flip(upload({ fileName: "a.png", content: streamed, size }))).toMatchObject({
          _tag: "InvalidInput",
          field: "size"
        })
      }
    }).pipe(Effect.provide(OnSandbox.onSocket(world))))

  it.effect.prop(
    "is refused before anything is sent when its content type could break the header",
    [fc.string().filter((text) => !/^[!-~]+\/[ -~]+$/.test(text))],
    ([contentType]) =>
      Effect.gen(function*() {
        const { upload } = yield* Media
        expect(yield* Effect.flip(upload({ fileName: "a", content: bytes, contentType }))).toMatchObject({
          _tag: "InvalidInput",
          field: "contentType"
        })
      }).pipe(Effect.provide(OnSandbox.inProcess())),
    { fastCheck: { numRuns: 5 } }
  )
})
