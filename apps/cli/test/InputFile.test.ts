/** Files and pipes that a user names: a pipe is read once, to its end, and a command that waits for one can be interrupted. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import * as InputFile from "@plaza/cli-kit/InputFile"
import { Effect, Fiber, FileSystem, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { createServer } from "node:net"
import * as Input from "../src/commands/Input.ts"

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "plaza-input-" }))

/** A new pipe. */
const pipe = Effect.map(folder, (folder) => {
  execFileSync("mkfifo", [`${folder}/pipe`])
  return `${folder}/pipe`
})

/** Writes parts to a pipe, and closes it. Waits for its reader. */
const write = (path: string, parts: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.open(path, { flag: "a" })
    yield* Effect.forEach(parts, (part) => file.writeAll(Buffer.from(part)))
  }))

describe("a folder in place of a file", () => {
  it.effect("is named in the failure", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const error = yield* Effect.flip(Stream.runDrain(InputFile.bytes(path)))
      expect(FileProblem.describe(error)).toBe(`${path} can't be used as a file: check the path`)
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("a pipe", () => {
  it.effect("is read to its end, whoever opens it first and in how many parts it is written", () =>
    Effect.gen(function*() {
      const path = yield* pipe
      // More than a pipe holds.
      const title = "ä".repeat(100_000)
      const parts = [`{"title":"`, title, `"}`]
      const reading = yield* Effect.forkChild(Input.jsonObject(path))
      yield* write(path, parts)
      expect(yield* Fiber.join(reading)).toEqual({ title })
      const writing = yield* Effect.forkChild(write(path, parts))
      expect(yield* Input.jsonObject(path)).toEqual({ title })
      yield* Fiber.join(writing)
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("that nobody writes is left when the command is interrupted", () =>
    Effect.gen(function*() {
      const pipes = () => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length
      const before = pipes()
      const reading = yield* Effect.forkChild(Stream.runDrain(InputFile.bytes(yield* pipe)))
      yield* Effect.repeat(Effect.yieldNow, { until: () => pipes() > before })
      yield* Fiber.interrupt(reading)
      yield* Effect.repeat(Effect.yieldNow, { until: () => pipes() === before })
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("is closed when the reader has enough", () =>
    Effect.gen(function*() {
      const path = yield* pipe
      const writing = yield* Effect.forkChild(Effect.exit(write(path, Array.from({ length: 100 }, () => "x".repeat(100_000)))))
      expect(yield* Stream.runCollect(Stream.take(InputFile.bytes(path), 1))).toHaveLength(1)
      expect(yield* Fiber.join(writing)).toMatchObject({ _tag: "Failure" })
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})

describe("a path", () => {
  it.effect("leads to a file, a folder, a device or a pipe", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const home = yield* folder
      yield* fs.writeFileString(`${home}/file`, "text")
      const server = createServer().listen(`${home}/socket`)
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      yield* Effect.callback<void>((resume) => {
        server.once("listening", () => resume(Effect.void))
      })
      const kinds = yield* Effect.forEach([`${home}/file`, home, "/dev/null", yield* pipe, `${home}/socket`], InputFile.kindOf)
      expect(kinds).toEqual(["file", "folder", "device", "pipe", "device"])
      expect(yield* Input.text(`${home}/file`)).toBe("text")
      for (const path of [`${home}/none`, `${home}/file/none`, home]) {
        expect(yield* Effect.flip(Input.text(path))).toMatchObject({ _tag: "PlatformError" })
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
