/** The built program for a user without HOME and without an entry in the list of users, and in a working directory that is removed. */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer } from "effect"
import { spawn } from "node:child_process"
import { expect } from "vitest"
import { dist, environment, finished } from "./support/Plaza.ts"

const PATH = process.env["PATH"] ?? ""

/** Runs a program with only these variables. */
const ended = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const [file = "", ...args] = words
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(file, args, { env: { PATH, ...env } })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    child.stdin.end()
    return yield* finished(child)
  })

/** A copy of the program that every user may read. */
const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-no-home-" })
  yield* fs.copy(dist, `${folder}/dist`)
  yield* fs.chmod(folder, 0o755)
  return [process.execPath, `${folder}/dist/plaza.cjs`]
})

// No system has this user.
const stranger = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]

layer(Layer.merge(Sandbox.layerServer(), NodeFileSystem.layer), { excludeTestServices: true })("without a home folder", (it) => {
  /** Runs `plaza` as a user that does not exist. */
  const asStranger = (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
    Effect.flatMap(program, (program) =>
      // Only an administrator may become another user.
      ended([...process.getuid?.() === 0 ? [] : ["sudo", "--preserve-env"], ...stranger, ...program, ...argv], env))

  it.effect("a command works by the environment", () =>
    Effect.gen(function*() {
      const env = yield* environment
      const me = { code: 0, stdout: "id\t1001\nusername\tcorner-shop\n", stderr: "" }
      expect(yield* asStranger(["me"], env)).toEqual(me)
      expect(yield* asStranger(["--sandbox", "me"])).toEqual(me)
      for (const argv of [["--help"], ["--version"], ["completions", "bash"], ["doctor"], ["posts", "list", "--all", "--json"]]) {
        expect(yield* asStranger(argv, env)).toMatchObject({ code: 0, stderr: "" })
      }
    }))

  it.effect("a command that needs an account says what to set", () =>
    Effect.gen(function*() {
      expect(yield* asStranger(["me"])).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: no base URL is set: run plaza auth login, set PLAZA_BASE_URL or use --base-url\n"
      })
      expect(yield* asStranger(["auth", "list"])).toMatchObject({
        code: 0,
        stdout: "",
        stderr: expect.stringContaining("no profiles") as unknown
      })
    }))

  it.effect.each(["auth login", "auth use shop", "auth logout"])("%s names the variables", (line) =>
    Effect.gen(function*() {
      expect(yield* asStranger(line.split(" "), yield* environment)).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: this user has no home folder: set HOME or XDG_CONFIG_HOME to a folder\n"
      })
    }))

  it.effect("a folder in XDG_CONFIG_HOME takes its place", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.chmod(folder, 0o777)
      expect(yield* asStranger(["auth", "login"], { ...yield* environment, XDG_CONFIG_HOME: folder })).toMatchObject({
        code: 2,
        stderr: "plaza: no API key was given: pipe it to the command, or run the command in a terminal\n"
      })
    }))
})

layer(Layer.merge(Sandbox.layerServer(), NodeFileSystem.layer), { excludeTestServices: true })("in a working directory that is removed",
  (it) => {
    const inRemoved = (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const line = `mkdir "${folder}/gone" && cd "${folder}/gone" && rmdir "${folder}/gone" && exec "$@"`
        return yield* ended(["bash", "--norc", "-c", line, "bash", process.execPath, `${dist}/plaza.cjs`, ...argv], env)
      })

    it.effect.each([
      "--help",
      "posts",
      "--version",
      "version",
      "completions bash",
      "me",
      "--sandbox me",
      "schema me",
      "auth list --json",
      "doctor",
      "posts create --text hello",
      "verify --plan --quiet"
    ])("%s works", (line) =>
      Effect.gen(function*() {
        expect(yield* inRemoved(line.split(" "), yield* environment)).toMatchObject({ code: 0, stderr: "" })
      }))

    it.effect.each([
      "media upload x.png",
      "stock import x.csv",
      "stock import - --report x",
      "stories create --input x.json",
      "api POST /stories --input x.json",
      "skills install",
      "skills install --dir x",
      "mcp --uploads x",
      "verify --report x",
      "sandbox start --port 0 --data x",
      "sandbox faults add --input x"
    ])("%s names the file or folder that does not exist", (line) =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* inRemoved(line.split(" "), yield* environment)
        expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
        expect(stderr).toMatch(/^plaza: .*(?:\bx\b|skills\/plaza).*\n$/)
      }))
  })
