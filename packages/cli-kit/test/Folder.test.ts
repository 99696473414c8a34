/** Folders are created with those above them, and failures are reported instead of repeated. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FileSystem, PlatformError } from "effect"
import * as Folder from "../src/Folder.ts"

const inFolder = <A, E>(test: (folder: string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return yield* test(yield* fs.makeTempDirectoryScoped(), fs)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

describe("a folder", () => {
  it.effect("is created with the missing ones above it, and may exist", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        const path = `${folder}/a/b/c`
        yield* Folder.make(path, { mode: 0o700 })
        yield* Folder.make(path)
        for (const each of ["a", "a/b", "a/b/c"]) {
          const { mode, type } = yield* fs.stat(`${folder}/${each}`)
          expect({ mode: mode & 0o777, type }).toEqual({ mode: 0o700, type: "Directory" })
        }
      })
    ))

  it.effect("is created once by callers at the same time", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        yield* Effect.all(Array.from({ length: 20 }, () => Folder.make(`${folder}/a/b/c`)), { concurrency: "unbounded" })
        expect(yield* fs.exists(`${folder}/a/b/c`)).toBe(true)
      })
    ))

  it.effect("is created although another process creates those above it in between", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        // Exactly after the first call has failed.
        const raced = FileSystem.FileSystem.of({
          ...fs,
          exists: (path) => Effect.andThen(fs.makeDirectory(`${folder}/a`, { recursive: true }), fs.exists(path))
        })
        yield* Effect.provideService(Folder.make(`${folder}/a/b`), FileSystem.FileSystem, raced)
        expect(yield* fs.exists(`${folder}/a/b`)).toBe(true)
      })
    ))

  it.effect("fails on a drive that does not exist", () =>
    inFolder((_, fs) =>
      Effect.gen(function*() {
        const missing = PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "makeDirectory" })
        const drive = FileSystem.FileSystem.of({ ...fs, makeDirectory: () => Effect.fail(missing), exists: () => Effect.succeed(false) })
        expect(yield* Effect.flip(Effect.provideService(Folder.make("/a/b"), FileSystem.FileSystem, drive))).toBe(missing)
      })
    ))

  it.effect("is not created in the place of a file, below one, or through a broken link", () =>
    inFolder((folder, fs) =>
      Effect.gen(function*() {
        yield* fs.writeFileString(`${folder}/file`, "")
        yield* fs.symlink(`${folder}/nowhere`, `${folder}/link`)
        for (const each of ["file", "file/a", "file/a/b", "link", "link/a"]) {
          expect(yield* Effect.flip(Folder.make(`${folder}/${each}`))).toMatchObject({ _tag: "PlatformError" })
        }
      })
    ))

  it.effect("is not tried again and again where the system allows none", () =>
    inFolder(() =>
      Effect.gen(function*() {
        expect(yield* Effect.flip(Folder.make("/proc/plaza"))).toMatchObject({ _tag: "PlatformError" })
        expect(yield* Effect.flip(Folder.make("/proc/plaza/a/b"))).toMatchObject({ _tag: "PlatformError" })
      })
    ))
})
