/** Uploads of several files: checks before the first byte, and the report of failures. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Progress from "@plaza/cli-kit/Progress"
import { Plaza, TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Fiber, FileSystem, Layer, Option, Stream } from "effect"
import { execFileSync } from "node:child_process"
import * as Uploads from "../src/commands/media/Uploads.ts"

const world = Layer.mergeAll(
  Layer.provideMerge(
    Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl }))),
    Sandbox.layerHttpClient({ assumptions: { maxFileBytes: 100 } })
  ),
  NodeFileSystem.layer,
  Progress.layerSilent
)

/** A folder with files of these lengths. */
const folderOf = (files: Readonly<Record<string, number>>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-uploads-" })
    yield* Effect.forEach(Object.entries(files), ([name, length]) => fs.writeFileString(`${folder}/${name}`, "x".repeat(length)))
    return folder
  })

const make = (folder: string, ...names: ReadonlyArray<string>) => Uploads.make(names.map((name) => `${folder}/${name}`))

const requests = Effect.map(Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.requests), (all) => all.length)

describe("a pipe", () => {
  it.effect("is uploaded like a file of its name and content, also again after a fault", () =>
    Effect.gen(function*() {
      const { addFault, state } = yield* Sandbox.Sandbox
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderOf({})
      execFileSync("mkfifo", [`${folder}/photo.png`])
      yield* addFault({ kind: "status", when: "after", status: 503, method: "POST" })
      const writing = yield* Effect.forkChild(fs.writeFileString(`${folder}/photo.png`, "x".repeat(90)))
      yield* Effect.scoped(Effect.gen(function*() {
        const { failure, stream, uploaded } = yield* make(folder, "photo.png")
        yield* Fiber.join(writing)
        expect(yield* Stream.runCollect(stream)).toEqual(uploaded())
        expect(failure("")).toEqual(Option.none())
        expect(uploaded()).toMatchObject([{ file: `${folder}/photo.png` }])
      }))
      const stored = (yield* state).media.filter(({ name }) => name === "photo.png")
      // One of the fault, too.
      expect(stored).toMatchObject([{ contentType: "image/png", size: 90 }, { contentType: "image/png", size: 90 }])
    }).pipe(Effect.provide(world), TestTime.advancing))

  it.effect("without content is refused before the first byte is sent", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderOf({ "a.png": 10 })
      execFileSync("mkfifo", [`${folder}/pipe`])
      yield* Effect.forkChild(fs.writeFileString(`${folder}/pipe`, ""))
      expect((yield* Effect.flip(make(folder, "a.png", "pipe"))).message).toBe(`${folder}/pipe is empty`)
      expect(yield* requests).toBe(0)
    }).pipe(Effect.provide(world)))
})

describe("files", () => {
  it.effect("are checked before the first byte is sent", () =>
    Effect.gen(function*() {
      const folder = yield* folderOf({ "a.png": 10, "empty.png": 0 })
      const refused = yield* Effect.flip(make(folder, "a.png", "missing.png", "empty.png", "."))
      expect(refused.message.replaceAll(`${folder}/`, "")).toBe(
        "nothing was uploaded: missing.png does not exist: check the path; empty.png is empty; . is a folder: only files can be uploaded"
      )
      expect((yield* Effect.flip(make(folder, "empty.png"))).message).toBe(`${folder}/empty.png is empty`)
      expect(yield* requests).toBe(0)
    }).pipe(Effect.provide(world)))

  it.effect("are reported when each is uploaded, and listed in the order of the arguments", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      const folder = yield* folderOf({ "a.png": 1, "b.png": 2, "c.png": 3, "d.png": 4 })
      // One of the first three hangs, and the clock stands still.
      yield* addFault({ kind: "delay", when: "before", millis: 600_000, method: "POST", path: "/media" })
      const { failure, stream, uploaded } = yield* make(folder, "a.png", "b.png", "c.png", "d.png")
      const first = yield* Stream.runCollect(Stream.take(stream, 3))
      expect(new Set(first.map(({ file }) => file)).size).toBe(3)
      expect(uploaded().map(({ file }) => file)).toEqual(uploaded().map(({ file }) => file).toSorted())
      expect(failure("")).toEqual(Option.none())
    }).pipe(Effect.provide(world)))

  it.effect("that fail don't stop the others, and are reported together", () =>
    Effect.gen(function*() {
      const folder = yield* folderOf({ "a.png": 10, "large.png": 200, "b.png": 10, "larger.png": 300 })
      const { failure, stream, uploaded } = yield* make(folder, "a.png", "large.png", "b.png", "larger.png")
      const emitted = yield* Stream.runCollect(stream)
      expect(new Set(emitted.map(({ file }) => file))).toEqual(new Set([`${folder}/a.png`, `${folder}/b.png`]))
      const result = Option.getOrThrow(failure("Nothing was posted."))
      const [a, b] = uploaded().map(({ mediaId }) => mediaId)
      expect(result.explanation.replaceAll(`${folder}/`, "")).toMatch(new RegExp(
        `^large.png was not uploaded. larger.png was not uploaded \\(.+\\). Nothing was posted. Use --media-id with the files that are uploaded: ${a} \\(a.png\\), ${b} \\(b.png\\).$`
      ))
      expect(result).toMatchObject({
        cause: { _tag: "PayloadTooLarge" },
        details: { uploaded: [{ mediaId: a }, { mediaId: b }], failed: [{}, {}], left: [] }
      })
    }).pipe(Effect.provide(world)))

  it.effect("that may be stored all the same are reported as that, with no claim that none is uploaded", () =>
    Effect.gen(function*() {
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const folder = yield* folderOf({ "a.png": 10 })
      const html = "<html>"
      const doubtful = [
        [{ kind: "status", when: "after", status: 503 }, { kind: "status", when: "before", status: 404 }],
        [{ kind: "status", when: "after", status: 503 }, { kind: "status", when: "before", status: 413 }],
        [{ kind: "status", when: "after", status: 403, body: html }],
        [{ kind: "status", when: "after", status: 429, body: html, retryAfter: "80000" }]
      ] as const
      for (const outcomes of doubtful) {
        yield* addFault({ kind: "sequence", method: "POST", outcomes })
        const { failure, stream } = yield* make(folder, "a.png")
        yield* Stream.runDrain(stream)
        const { explanation } = Option.getOrThrow(failure("No post was created."))
        expect(explanation.replaceAll(`${folder}/`, "")).toBe("a.png may have been uploaded all the same. No post was created.")
        yield* clearFaults
      }
      yield* addFault({ kind: "status", when: "before", status: 404, method: "POST" })
      const { failure, stream } = yield* make(folder, "a.png")
      yield* Stream.runDrain(stream)
      expect(Option.getOrThrow(failure("")).explanation.replaceAll(`${folder}/`, "")).toBe("a.png was not uploaded. No file is uploaded.")
    }).pipe(Effect.scoped, Effect.provide(world), TestTime.advancing))

  it.effect("are not attempted after an error of the key or a quota", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "before", status: 401, times: 100 })
      const names = Array.from({ length: 20 }, (_, number) => `${number}.png`)
      const folder = yield* folderOf(Object.fromEntries(names.map((name) => [name, 1])))
      const { failure, stream } = yield* make(folder, ...names)
      yield* Stream.runDrain(stream)
      const { details } = Option.getOrThrow(failure(""))
      const sent = yield* requests
      expect(sent).toBeLessThanOrEqual(3)
      expect(details).toMatchObject({ left: names.slice(sent).map((name) => `${folder}/${name}`) })
    }).pipe(Effect.provide(world)))

  it.effect("that is interrupted names the file that the service may have", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "delay", when: "after", millis: 60_000, method: "POST", path: "/media" })
      const folder = yield* folderOf({ "a.png": 1 })
      const { interrupted, stream } = yield* make(folder, "a.png")
      const uploads = yield* Effect.forkChild(Stream.runDrain(stream))
      expect(interrupted("The post was not created.")).toBe("The post was not created. No file is uploaded.")
      yield* Effect.repeat(Effect.yieldNow, { until: () => interrupted("").includes("may have been uploaded") })
      yield* Fiber.interrupt(uploads)
      expect(interrupted("The post was not created.").replaceAll(`${folder}/`, "")).toBe(
        "a.png may have been uploaded all the same. The post was not created."
      )
    }).pipe(Effect.provide(world)))
})
