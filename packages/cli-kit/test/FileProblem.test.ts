/** What is wrong with a file, as the system reports it. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as FileProblem from "../src/FileProblem.ts"
import * as Report from "../src/Report.ts"

describe("a file", () => {
  it.effect("is described with what to do, or in the words of the system", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-file-" })
      const described = (operation: Effect.Effect<unknown, Parameters<typeof FileProblem.describe>[0]>) =>
        Effect.map(Effect.flip(operation), (error) => FileProblem.describe(error).replaceAll(folder, ""))
      expect(yield* described(fs.readFileString(`${folder}/none`))).toBe("/none does not exist: check the path")
      expect(yield* described(fs.makeDirectory(folder))).toBe(" already exists: use another name")
      expect(yield* described(fs.readFileString(folder))).toBe(" can't be used as a file: check the path")
      expect(yield* described(fs.writeFileString(`${folder}/${"x".repeat(300)}`, ""))).toMatch(/: name too long$/)
      expect(yield* described(fs.writeFileString("/dev/full", "x"))).toBe("/dev/full: no space left on the device")
      expect(yield* described(fs.makeDirectory(`${folder}/\0`))).toMatch(/without null bytes/)
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("that is open has no name of its own", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.open("/dev/full", { flag: "a" })
      const error = yield* Effect.flip(file.writeAll(Buffer.from("x")))
      expect(FileProblem.describe(error)).toBe("a file: no space left on the device")
      expect(FileProblem.describe(FileProblem.at("journal")(error))).toBe("journal: no space left on the device")
      expect(Report.ofFailure(FileProblem.at("journal")(error))).toMatchObject({
        tag: "FileError",
        message: "journal: no space left on the device",
        details: { path: "journal", reason: "Unknown" }
      })
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it("stays whole in a message, however narrow the terminal is", () => {
    const path = `/home/user/${"folder/".repeat(12)}stock.failed.csv`
    const medium = { isTerminal: true, colour: false, columns: () => 40 }
    const text = Report.toText("plaza", Report.ofFailure({ _tag: "UsageError", message: `the failed rows are in ${path} now` }), medium)
    expect(text).toBe(`plaza: the failed rows are in\n  ${path}\n  now\n`)
  })
})
