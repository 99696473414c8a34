import { Command, FileSystem } from "@effect/platform"
import { NodeContext, NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Media } from "@plaza-legacy/client"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Exit, FastCheck as fc, Schedule, Stream } from "effect"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import * as OnSandbox from "./support/OnSandbox.ts"
import * as RawServer from "./support/RawServer.ts"

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

const arrives = () =>
  Effect.gen(function*() {
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

  it.effect("arrives complete under any file name, in process", () => Effect.provide(arrives(), OnSandbox.inProcess(world)))
  OnSandbox.itOnSockets("arrives whole under any file name", arrives(), world)

  it.live("has the media type of its file extension, unless one is given", () =>
    Effect.gen(function*() {
      const { upload } = yield* Media
      const typeOf = (fileName: string, contentType?: string) =>
        Effect.flatMap(upload({ fileName, content: bytes, contentType }), ({ mediaId }) => uploaded(mediaId))
      expect(yield* typeOf("a.png")).toMatchObject({ contentType: "image/png" })
      expect(yield* typeOf("a.unheard-of")).toMatchObject({ contentType: "application/octet-stream" })
      expect(yield* typeOf("a.png", "image/x-special")).toMatchObject({ contentType: "image/x-special" })
    }).pipe(Effect.provide(OnSandbox.onSocket(world))))

  const watched = (told: Array<number>) => ({
    fileName: "a.png",
    onProgress: (sent: number) => Effect.sync(() => told.push(sent))
  })

  const repeats = () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { upload } = yield* Media
      for (const file of [{ content: streamed, size: bytes.length }, { content: streamed }]) {
        yield* sandbox.addFault({ kind: "status", when: "after", status: 500, path: "/media" })
        const told: Array<number> = []
        const { mediaId } = yield* upload({ ...watched(told), ...file })
        expect((yield* uploaded(mediaId))?.sha256).toBe(sha256(bytes))
        expect(told).toEqual([40_000, 40_000, 100_000, 40_000, 40_000, 100_000])
      }
      yield* sandbox.addFault({ kind: "drop", when: "after", path: "/media" })
      const told: Array<number> = []
      const { mediaId } = yield* upload({ ...watched(told), content: bytes })
      expect((yield* uploaded(mediaId))?.sha256).toBe(sha256(bytes))
      expect(told).toEqual([65_536, 100_000, 65_536, 100_000])
    })
  OnSandbox.itOnSockets("is repeated from its beginning, and tells how far it is", repeats(), world)

  it.live("of an empty file arrives too", () =>
    Effect.gen(function*() {
      const { upload } = yield* Media
      for (const file of [{ content: new Uint8Array(0) }, { content: Stream.empty }, { content: Stream.empty, size: 0 }]) {
        const { mediaId } = yield* upload({ ...watched([]), ...file })
        expect(yield* uploaded(mediaId)).toMatchObject({ size: 0 })
      }
    }).pipe(Effect.provide(OnSandbox.onSocket(world))))

  const filesArrive = () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { uploadFile } = yield* Media
      const folder = yield* fs.makeTempDirectoryScoped()
      const path = `${folder}/picture.jpg`
      yield* fs.writeFile(path, bytes)
      const told: Array<number> = []
      const { mediaId } = yield* uploadFile(path, watched(told))
      expect(yield* uploaded(mediaId)).toMatchObject({ name: "picture.jpg", contentType: "image/jpeg", sha256: sha256(bytes) })
      expect(told.at(-1)).toBe(bytes.length)
      expect(yield* Effect.flip(uploadFile(`${folder}/nothing.jpg`))).toMatchObject({ _tag: "SystemError", reason: "NotFound" })
      expect(yield* Effect.flip(uploadFile(folder))).toMatchObject({ _tag: "InvalidInput", field: "path" })
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  OnSandbox.itOnSockets("of a file of the file system arrives, and a missing one or a folder is said to be so", filesArrive(), world)

  const changingFileIsRefused = () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const sandbox = yield* Sandbox.Sandbox
      const { uploadFile } = yield* Media
      const folder = yield* fs.makeTempDirectoryScoped()
      const path = `${folder}/growing.jpg`
      for (const length of [500_000, 4_000_000]) {
        yield* fs.writeFile(path, new Uint8Array(2_000_000))
        const before = (yield* sandbox.state).media.length
        const onProgress = () => Effect.orDie(fs.writeFile(path, new Uint8Array(length)))
        const failure = yield* Effect.flip(uploadFile(path, { onProgress }))
        expect(failure._tag).toBe("InvalidInput")
        expect(failure.message).toBe(`path must be a file that doesn't change during the upload; the length of ${path} changed`)
        expect((yield* sandbox.state).media.length).toBe(before)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  OnSandbox.itOnSockets("of a file that grows or shrinks meanwhile is not made", changingFileIsRefused(), world)

  const failsAtOnce = () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { upload } = yield* Media
      const before = (yield* sandbox.state).media
      let runs = 0
      const counted = <E>(content: Stream.Stream<Uint8Array, E>) =>
        Stream.suspend(() => {
          runs++
          return content
        })
      const broken = counted(Stream.concat(Stream.succeed(bytes), Stream.fail("disk gone" as const)))
      expect(yield* Effect.flip(upload({ fileName: "a.png", content: broken }))).toBe("disk gone")
      for (const size of [bytes.length - 1, bytes.length + 1]) {
        const failure = yield* Effect.flip(upload({ fileName: "a.png", content: counted(streamed), size }))
        expect(failure).toMatchObject({ _tag: "InvalidInput", field: "size" })
      }
      const dying = counted(Stream.die("out of luck"))
      expect(yield* Effect.exit(upload({ fileName: "a.png", content: dying }))).toEqual(Exit.die("out of luck"))
      expect(runs).toBe(4)
      expect((yield* sandbox.state).media).toEqual(before)
    })
  OnSandbox.itOnSockets("whose source fails, or isn't as long as said, fails for just that and at once", failsAtOnce(), {
    ...world,
    client: { retry: Schedule.recurs(2) }
  })

  const wrong: ReadonlyArray<readonly [field: string, file: { fileName: string; content: Uint8Array | typeof streamed; size?: number }]> = [
    ["fileName", { fileName: "", content: bytes }],
    ["fileName", { fileName: "", content: streamed }],
    ["size", { fileName: "a", content: streamed, size: -1 }],
    ["size", { fileName: "a", content: streamed, size: 0.5 }],
    ["size", { fileName: "a", content: streamed, size: Number.NaN }],
    ["size", { fileName: "a", content: streamed, size: Number.POSITIVE_INFINITY }],
    ["size", { fileName: "a", content: bytes, size: bytes.length - 1 }]
  ]
  it.effect("without a name or with an invalid size fails without a request", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { upload } = yield* Media
      for (const [field, file] of wrong) {
        const failure = yield* Effect.flip(upload(file))
        expect(failure).toMatchObject({ _tag: "InvalidInput", field })
        expect(failure.message.startsWith(`${field} must `)).toBe(true)
      }
      expect(yield* sandbox.requests).toEqual([])
    }).pipe(Effect.provide(OnSandbox.inProcess())))

  it.effect.prop(
    "fails without a request if its content type could inject a header",
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

  // Fetch is left out: in Node it keeps what it has sent until the request is over.
  for (const client of ["undici", "node:http"]) {
    it.scopedLive(`of 300 MB takes no memory for it, by ${client}`, () =>
      Effect.gen(function*() {
        let received = 0
        const server = yield* RawServer.make((request, response) => {
          request.on("data", (chunk: Buffer) => {
            received += chunk.length
          })
          request.on("end", () => RawServer.answerJson(response, { mediaId: "1" }))
        })
        const program = fileURLToPath(new URL("support/UploadChild.ts", import.meta.url))
        const grown = yield* Command.make(
          process.execPath,
          "--expose-gc",
          "--conditions=@plaza/source",
          program,
          server.baseUrl,
          client,
          "300"
        ).pipe(Command.stderr("inherit"), Command.string)
        expect(received).toBeGreaterThan(364 * 1_048_576)
        expect(grown).toMatch(/^\d/)
        expect(Number(grown)).toBeLessThan(64)
      }).pipe(Effect.provide(NodeContext.layer)))
  }
})
