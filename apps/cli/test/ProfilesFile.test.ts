/**
 * The file of profiles on a real file system: who may read it, what becomes of it when two write at once or one is killed, and that
 * nothing it says has a key in it.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Fiber, FileSystem, Option, PlatformError, Redacted, Result } from "effect"
import { dirname } from "node:path"
import { expect } from "vitest"
import * as Profiles from "../src/profiles/Profiles.ts"
import * as File from "../src/profiles/ProfilesFile.ts"
import * as SqliteFile from "../src/SqliteFile.ts"

const secret = `key_${"s".repeat(36)}wxyz`
const profile = (id: string, baseUrl = "https://host/open/v1"): Profiles.Profile => ({
  baseUrl,
  apiKey: Redacted.make(secret),
  account: { id, username: `user-${id}` }
})
const put = (name: string, id = name) => (profiles: Profiles.Profiles) => Profiles.put(profiles, name, profile(id))

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "plaza-profiles-" }))
const file = Effect.map(folder, (folder) => `${folder}/plaza/config.json`)

const modeOf = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.map(fs.stat(path), ({ mode }) => (mode & 0o777).toString(8)))
const namesIn = (path: string) => Effect.map(File.read(path), Profiles.names)
const refusal = <A, R>(effect: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

layer(NodeFileSystem.layer, { excludeTestServices: true })("the file of profiles", (it) => {
  it.effect("is in XDG_CONFIG_HOME, or in .config of the home folder", () =>
    Effect.gen(function*() {
      const at = (variables: Readonly<Record<string, string>>) =>
        Effect.provideService(File.location, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: variables }))
      expect(yield* at({ XDG_CONFIG_HOME: "/x/y", HOME: "/home/me" })).toBe("/x/y/plaza/config.json")
      expect(yield* at({ HOME: "/home/me" })).toBe("/home/me/.config/plaza/config.json")
      expect(yield* at({ XDG_CONFIG_HOME: "not/absolute", HOME: "/home/me" })).toBe("/home/me/.config/plaza/config.json")
    }))

  it.effect("opens to its owner alone, in a folder that does, and so it stays", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* file
      expect(yield* File.read(path)).toEqual(Profiles.none)
      yield* File.update(path, put("a"))
      expect([yield* modeOf(path), yield* modeOf(dirname(path))]).toEqual(["600", "700"])
      yield* fs.chmod(dirname(path), 0o755)
      yield* File.update(path, put("b"))
      expect([yield* modeOf(path), yield* modeOf(dirname(path))]).toEqual(["600", "700"])
      expect(yield* fs.readDirectory(dirname(path))).toEqual(["config.json", "config.json.lock"])
      const read = yield* File.read(path)
      expect(Option.map(Profiles.find(read, "b"), ({ apiKey }) => Redacted.value(apiKey))).toEqual(Option.some(secret))
      expect(read.default).toBe("a")
    }))

  it.effect("is refused when others can open it, with the command that mends it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* folder}/it's here/config.json`
      yield* File.update(path, put("a"))
      for (const mode of [0o640, 0o604, 0o620, 0o601, 0o666]) {
        yield* fs.chmod(path, mode)
        const said = `other users can read ${path}, which contains keys: run chmod 600 '${path.replace("'", `'\\''`)}'`
        expect(yield* refusal(File.read(path))).toBe(said)
        expect(yield* refusal(File.update(path, put("b")))).toBe(said)
      }
      yield* fs.chmod(path, 0o400)
      expect(yield* namesIn(path)).toEqual(["a"])
    }))

  it.effect("is refused when it is another user's", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* file
      yield* File.update(path, put("a"))
      const elsewhere: FileSystem.FileSystem = {
        ...fs,
        stat: (path) => Effect.map(fs.stat(path), (info) => ({ ...info, uid: Option.some(4_242_424) }))
      }
      expect(yield* refusal(Effect.provideService(File.read(path), FileSystem.FileSystem, elsewhere))).toContain(
        `${path} belongs to another user`
      )
    }))

  it.effect.each([
    `{ "version": 1, "profiles": { "a": { "apiKey": "${secret}", }`,
    `{ "version": 1, "profiles": { "a": { "apiKey": "${secret}", "baseUrl": 7, "account": { "id": "1" } } } }`,
    `{ "version": 2, "profiles": {}, "apiKey": "${secret}" }`,
    secret,
    "",
    "[]"
  ])("that can't be understood is refused without repeating a word of it: %s", (text) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* folder}/config.json`
      yield* fs.writeFileString(path, text, { mode: 0o600 })
      const said = yield* refusal(File.read(path))
      expect(said).toBe(
        `${path} is not a valid profiles file: correct it, or delete it and run plaza auth login`
      )
      expect(yield* refusal(File.update(path, put("b")))).toBe(said)
      expect(yield* fs.readFileString(path)).toBe(text)
    }))

  it.effect("that is a folder, or under a file, is refused in a sentence that names it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* folder}/config.json`
      yield* fs.makeDirectory(path)
      expect(yield* refusal(File.read(path))).toContain(`${path} is not a file`)
      const other = `${yield* folder}/file`
      yield* fs.writeFileString(other, "")
      expect(yield* refusal(File.read(`${other}/config.json`))).toContain(`${other}/config.json can't be read`)
      expect(yield* refusal(File.update(`${other}/config.json`, put("a")))).toContain(`${other}/config.json can't be written`)
    }))

  it.effect("may be a link: what it leads to is checked and changed, and the link stays", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const [own, dotfiles] = [yield* folder, yield* folder]
      const [path, real] = [`${own}/config.json`, `${dotfiles}/plaza.json`]
      yield* fs.symlink(real, path)
      expect(yield* namesIn(path)).toEqual([])
      yield* File.update(path, put("a"))
      expect(yield* fs.readLink(path)).toBe(real)
      expect([yield* namesIn(real), yield* modeOf(real)]).toEqual([["a"], "600"])
      yield* File.update(path, put("b"))
      expect(yield* fs.readLink(path)).toBe(real)
      expect(yield* namesIn(real)).toEqual(["a", "b"])
      yield* fs.chmod(real, 0o644)
      expect(yield* refusal(File.read(path))).toContain("chmod 600")
    }))

  it.effect("keeps what two change at once, and what one changes while another is killed", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* file
      yield* File.update(path, put("first"))
      const names = Array.from({ length: 12 }, (_, index) => `p${index}`)
      yield* Effect.forEach(names, (name) => File.update(path, put(name)), { concurrency: "unbounded", discard: true })
      expect(yield* namesIn(path)).toEqual(["first", ...names].toSorted())

      // What a program that was killed leaves: half of a file.
      yield* fs.writeFileString(`${path}.plaza-new`, `{"vers`, { mode: 0o600 })
      yield* Effect.all([File.update(path, put("x")), File.update(path, put("y"))], { concurrency: 2 })
      expect(yield* namesIn(path)).toEqual(["first", ...names, "x", "y"].toSorted())
      expect(yield* fs.readDirectory(dirname(path))).toEqual(["config.json", "config.json.lock"])
    }))

  it.effect("lets nobody wait for another program who would rather stop", () =>
    Effect.gen(function*() {
      const path = yield* file
      yield* File.update(path, put("a"))
      yield* SqliteFile.lock(`${path}.lock`)
      const waiting = yield* Effect.forkChild(File.update(path, put("b")))
      yield* Effect.repeat(Effect.yieldNow, { times: 100 })
      yield* Fiber.interrupt(waiting)
      expect(Exit.hasInterrupts(yield* Fiber.await(waiting))).toBe(true)
      expect(yield* namesIn(path)).toEqual(["a"])
    }))

  it.effect("is as it was when a change is refused or can't be written whole", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* file
      yield* File.update(path, put("a"))
      const before = yield* fs.readFileString(path)
      expect(yield* refusal(File.update(path, put("a", "2")))).toContain(
        "profile a belongs to account a, but this key belongs to account 2"
      )
      const reason = PlatformError.systemError({
        _tag: "Unknown",
        module: "FileSystem",
        method: "rename",
        pathOrDescriptor: path,
        cause: new Error("ENOSPC: no space left on device, rename")
      })
      const full: FileSystem.FileSystem = { ...fs, rename: () => Effect.fail(reason) }
      expect(yield* refusal(Effect.provideService(File.update(path, put("b")), FileSystem.FileSystem, full))).toBe(
        `${path} can't be written: no space left on the device`
      )
      expect(yield* fs.readDirectory(dirname(path))).toEqual(["config.json", "config.json.lock"])
      expect(yield* fs.readFileString(path)).toBe(before)
      yield* File.update(path, put("c"))
      expect(yield* namesIn(path)).toEqual(["a", "c"])
    }))
})

layer(NodeFileSystem.layer)("profiles", (it) => {
  it.effect("leave no other in the place of a default that is removed", () =>
    Effect.sync(() => {
      const both = Result.flatMap(put("a")(Profiles.none), put("b"))
      expect(Result.map(both, (all) => all.default)).toEqual(Result.succeed("a"))
      expect(Result.map(Result.flatMap(both, (all) => Profiles.remove(all, "a")), (all) => [all.default, Profiles.names(all)])).toEqual(
        Result.succeed([undefined, ["b"]])
      )
      expect(Result.map(Result.flatMap(both, (all) => Profiles.remove(all, "b")), (all) => all.default)).toEqual(Result.succeed("a"))
      expect(Result.map(Result.flatMap(both, (all) => Profiles.use(all, "b")), (all) => all.default)).toEqual(Result.succeed("b"))
    }))

  it.effect.each(["", "-x", "a b", "../x", "__proto__", "x".repeat(65), "a/b", "ä"])("can't be called %j",
    (name) => Effect.sync(() => expect(Result.isFailure(Profiles.nameOf(name))).toBe(true)))

  it.effect.each(["constructor", "toString", "nobody"])("that nobody made is not there, even if it is called %s",
    (name) => Effect.sync(() => expect(Result.isFailure(Profiles.get(Profiles.none, name))).toBe(true)))
})
