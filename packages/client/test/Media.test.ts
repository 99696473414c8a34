/** What the service receives of an upload, and how an upload fails. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Media } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { text } from "@plaza/testing/Generators"
import { Arbitrary, Effect, Exit, FileSystem, Random, Schedule, Stream } from "effect"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { TestTime } from "../src/index.ts"
import * as FakeService from "./support/FakeService.ts"
import * as OnSandbox from "./support/OnSandbox.ts"
import * as RawServer from "./support/RawServer.ts"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const stored = (mediaId: string) =>
  Effect.flatMap(Sandbox.Sandbox, ({ state }) => Effect.map(state, ({ media }) => media.find(({ id }) => id === mediaId)))

const names = [
  "photo.png",
  "a \"quoted\" name.jpg",
  "line\r\nContent-Type: text/html\r\n\r\nbreak.png",
  "Grüße, 世界 🛒.jpeg",
  "semi;colon=1.gif",
  "back\\slash.png"
]

/** The name as the service receives it if it doesn't decode what browsers encode. */
const encoded = (name: string) => name.replaceAll("\"", "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A")

const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 251)
const streamed = Stream.fromIterable([bytes.subarray(0, 40_000), bytes.subarray(40_000, 40_000), bytes.subarray(40_000)])

const arrives = () =>
  Effect.gen(function*() {
    const { upload } = yield* Media
    for (const fileName of names) {
      for (const file of [{ content: bytes }, { content: streamed }, { content: streamed, size: bytes.length }]) {
        const { mediaId } = yield* upload({ fileName, ...file })
        const found = yield* stored(mediaId)
        expect(found).toMatchObject({ size: bytes.length, sha256: sha256(bytes) })
        expect([fileName, encoded(fileName)]).toContain(found?.name)
      }
    }
  })

describe("an upload", () => {
  const world = { sandbox: { assumptions: { requestsPerWindow: 1_000 } }, client: { retry: Schedule.recurs(2) } }

  it.effect("arrives complete under any file name, in process", () => Effect.provide(arrives(), OnSandbox.inProcess(world)))
  OnSandbox.itOnSockets("arrives complete under any file name", arrives(), world)

  it.live("has the media type of its file extension, unless one is given", () =>
    Effect.gen(function*() {
      const { upload } = yield* Media
      const typeOf = (fileName: string, contentType?: string) =>
        Effect.flatMap(upload({ fileName, content: bytes, contentType }),
          ({ mediaId }) => Effect.map(stored(mediaId), (file) => file?.contentType))
      expect(yield* typeOf("a.png")).toBe("image/png")
      expect(yield* typeOf("folder.d/A.JPG")).toBe("image/jpeg")
      expect(yield* typeOf("clip.tar.mp4")).toBe("video/mp4")
      expect(yield* typeOf("a.unheard-of")).toBe("application/octet-stream")
      expect(yield* typeOf("no-extension")).toBe("application/octet-stream")
      expect(yield* typeOf("a.png", "image/x-special")).toBe("image/x-special")
    }).pipe(Effect.provide(OnSandbox.onSocket(world))))

  const watched = (reports: Array<number>) => ({
    fileName: "a.png",
    onProgress: (sent: number) => Effect.sync(() => reports.push(sent))
  })

  const repeats = () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { upload } = yield* Media
      for (const file of [{ content: streamed, size: bytes.length }, { content: streamed }]) {
        yield* sandbox.addFault({ kind: "status", when: "after", status: 500, path: "/media" })
        const reports: Array<number> = []
        const { mediaId } = yield* upload({ ...watched(reports), ...file })
        expect((yield* stored(mediaId))?.sha256).toBe(sha256(bytes))
        expect(reports).toEqual([40_000, 40_000, 100_000, 40_000, 40_000, 100_000])
      }
      yield* sandbox.addFault({ kind: "drop", when: "after", path: "/media" })
      const reports: Array<number> = []
      const { mediaId } = yield* upload({ ...watched(reports), content: bytes })
      expect((yield* stored(mediaId))?.sha256).toBe(sha256(bytes))
      expect(reports).toEqual([65_536, 100_000, 65_536, 100_000])
    })
  OnSandbox.itOnSockets("is repeated from its beginning, and reports its progress", repeats(), world)

  it.live("of an empty file arrives", () =>
    Effect.gen(function*() {
      const { upload } = yield* Media
      for (const file of [{ content: new Uint8Array(0) }, { content: Stream.empty }, { content: Stream.empty, size: 0 }]) {
        for (const options of [watched([]), { fileName: "a.png" }]) {
          const { mediaId } = yield* upload({ ...options, ...file })
          expect(yield* stored(mediaId)).toMatchObject({ size: 0 })
        }
      }
    }).pipe(Effect.provide(OnSandbox.onSocket(world))))

  const filesArrive = () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { uploadFile } = yield* Media
      const folder = yield* fs.makeTempDirectoryScoped()
      const path = `${folder}/picture.jpg`
      yield* fs.writeFile(path, bytes)
      const reports: Array<number> = []
      const { mediaId } = yield* uploadFile(path, watched(reports))
      expect(yield* stored(mediaId)).toMatchObject({ name: "picture.jpg", contentType: "image/jpeg", sha256: sha256(bytes) })
      expect(reports.at(-1)).toBe(bytes.length)
      expect(yield* Effect.flip(uploadFile(`${folder}/nothing.jpg`))).toMatchObject({ _tag: "PlatformError", reason: { _tag: "NotFound" } })
      expect(yield* Effect.flip(uploadFile(folder))).toMatchObject({
        _tag: "InvalidInput",
        field: "path",
        message: `path must be the path of a file; ${folder} is not a file`
      })
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  OnSandbox.itOnSockets("of a path arrives, and fails for a missing file or a folder", filesArrive(), world)

  const failsOnce = () =>
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
        expect(failure).toMatchObject({
          _tag: "InvalidInput",
          field: "size",
          message: `size must be the length of the content, and that is not ${size} bytes`
        })
      }
      const dying = counted(Stream.die("out of luck"))
      expect(yield* Effect.exit(upload({ fileName: "a.png", content: dying }))).toEqual(Exit.die("out of luck"))
      expect(runs).toBe(4)
      expect((yield* sandbox.state).media).toEqual(before)
    })
  OnSandbox.itOnSockets("whose source fails or has another length than its size fails with that, without a retry", failsOnce(), world)

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
    [Arbitrary.filter(text, (text) => !/^[!-~]+\/[ -~]+$/.test(text))],
    ([contentType]) => {
      const { calls, layer } = FakeService.scripted([])
      return Effect.gen(function*() {
        const { upload } = yield* Media
        expect(yield* Effect.flip(upload({ fileName: "a", content: bytes, contentType }))).toMatchObject({
          _tag: "InvalidInput",
          field: "contentType"
        })
        expect(calls).toEqual([])
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("has a boundary of 128 random bits", () =>
    Effect.gen(function*() {
      const { calls, layer } = FakeService.scripted([FakeService.json({ mediaId: "1" })])
      const upload = Effect.provide(Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a", content: bytes })), layer)
      yield* Effect.replicateEffect(Random.withSeed(upload, "one"), 2)
      yield* Random.withSeed(upload, "two")
      const boundaries = calls.map(({ headers }) => headers["content-type"])
      expect(boundaries[0]).toMatch(/^multipart\/form-data; boundary=plaza-[0-9a-f]{32}$/)
      expect(boundaries[1]).toBe(boundaries[0])
      expect(boundaries[2]).not.toBe(boundaries[0])
    }))

  const halfMinute = { timeout: "30 seconds" } as const
  const pausing = (pieces: number) =>
    Stream.mapEffect(Stream.range(1, pieces), () => Effect.delay(Effect.succeed(new Uint8Array(9)), "20 seconds"))

  it.effect("may take longer than the timeout of an attempt, while its stream emits bytes", () =>
    Effect.gen(function*() {
      const { calls, layer } = FakeService.scripted([FakeService.json({ mediaId: "1" })], halfMinute)
      const upload = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a", content: pausing(10) }))
      expect(yield* Effect.provide(upload, layer)).toMatchObject({ mediaId: "1" })
      expect(calls).toHaveLength(1)
    }).pipe(TestTime.advancing))

  it.effect("fails with a timeout if its stream emits nothing for that time", () =>
    Effect.gen(function*() {
      const { layer } = FakeService.scripted([FakeService.json({ mediaId: "1" })], { ...halfMinute, retry: Schedule.recurs(0) })
      const content = Stream.concat(pausing(10), Stream.drain(Stream.fromEffect(Effect.sleep("40 seconds"))))
      const upload = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a", content }))
      expect(yield* Effect.flip(Effect.provide(upload, layer))).toMatchObject({ _tag: "AttemptTimeout" })
    }).pipe(TestTime.advancing))

  // In Node, fetch keeps a copy of the body until the end of the request.
  for (const client of ["undici", "node:http"]) {
    it.live(`of 300 MB doesn't take the memory for it, by ${client}`, () =>
      Effect.gen(function*() {
        let received = 0
        const server = yield* RawServer.make((request, response) => {
          request.on("data", (chunk: Buffer) => {
            received += chunk.length
          })
          request.on("end", () => RawServer.answerJson(response, { mediaId: "1" }))
        })
        const program = fileURLToPath(new URL("support/UploadChild.ts", import.meta.url))
        const { stdout } = yield* Effect.promise(() =>
          promisify(execFile)(process.execPath, [
            "--expose-gc",
            "--conditions=@plaza/source",
            program,
            server.baseUrl,
            client,
            "300"
          ])
        )
        expect(received).toBeGreaterThan(364 * 1_048_576)
        expect(stdout).toMatch(/^\d/)
        expect(Number(stdout)).toBeLessThan(64)
      }))
  }
})
