/** What `uploadMedia` of `plaza mcp` reads: regular files of one folder, and nothing else. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Plaza } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import * as Generate from "@plaza/testing/Generators"
import { Effect, FileSystem, Layer, Option, Predicate, Result, Stream } from "effect"
import { spawn, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { createServer } from "node:net"
import * as Path from "node:path"
import { offered } from "../../src/mcp/Tools.ts"
import * as UploadFolder from "../../src/mcp/UploadFolder.ts"

const world = Layer.provideMerge(
  Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl }))),
  Layer.merge(Sandbox.layerHttpClient(), NodeFileSystem.layer)
)

const secret = "private notes"

/** A folder for uploads in a home folder with a secret beside it. */
const home = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = Fs.realpathSync(yield* fs.makeTempDirectoryScoped({ prefix: "plaza-home-" }))
  const uploads = `${path}/uploads`
  Fs.mkdirSync(`${uploads}/sub/.git`, { recursive: true })
  Fs.mkdirSync(`${path}/uploads-of-others`)
  for (const name of ["notes.txt", "uploads-of-others/notes.txt", "uploads/.env", "uploads/sub/.git/config"]) {
    Fs.writeFileSync(`${path}/${name}`, secret)
  }
  Fs.writeFileSync(`${uploads}/mug.png`, "mug")
  Fs.writeFileSync(`${uploads}/sub/cap.png`, "cap")
  return { path, uploads }
})

/** Calls the tool as `plaza mcp --uploads` offers it. */
const uploader = (folder: string) =>
  Effect.map(UploadFolder.make(folder), (made) => {
    const tool = offered(["uploadMedia"], Option.some(made)).find(({ name }) => name === "uploadMedia")
    return (path: unknown) =>
      tool === undefined ? Effect.die(new Error("uploadMedia is not offered")) : Effect.flatten(tool.prepare({ path }))
  })

const sentFiles = Effect.map(
  Effect.flatMap(Sandbox.Sandbox, ({ state }) => state),
  ({ media }) => media.filter(({ name }) => name !== "welcome.jpg").map(({ name, size }) => ({ name, size }))
)

const messageOf = (refused: unknown): string =>
  Predicate.hasProperty(refused, "message") && Predicate.isString(refused.message) ? refused.message : "no message"

describe("uploadMedia", () => {
  it.effect("uploads a file of the folder, and sends only the name of the file", () =>
    Effect.gen(function*() {
      const { path, uploads } = yield* home
      const before = (yield* sentFiles).length
      Fs.writeFileSync(`${uploads}/C:\\Users\\me\\pen.png`, "pen!!")
      Fs.symlinkSync("sub/cap.png", `${uploads}/newest.png`)
      // A hard link is the file itself.
      Fs.linkSync(`${path}/notes.txt`, `${uploads}/hard.txt`)
      const upload = yield* uploader(uploads)
      for (
        const path of [
          "mug.png",
          "sub/cap.png",
          `${uploads}/mug.png`,
          "sub/../mug.png",
          "./mug.png",
          "newest.png",
          "hard.txt",
          "C:\\Users\\me\\pen.png"
        ]
      ) {
        expect(yield* upload(path)).toMatchObject({ mediaId: expect.any(String) as unknown })
      }
      expect((yield* sentFiles).slice(before).map(({ name }) => name)).toEqual(
        ["mug.png", "cap.png", "mug.png", "mug.png", "mug.png", "newest.png", "hard.txt", "pen.png"]
      )
    }).pipe(Effect.provide(world)))

  it.effect("refuses everything else with one sentence that shows no other path, and sends nothing", () =>
    Effect.gen(function*() {
      const { path, uploads } = yield* home
      Fs.symlinkSync("../notes.txt", `${uploads}/link.txt`)
      Fs.symlinkSync("..", `${uploads}/parent`)
      Fs.symlinkSync("/", `${uploads}/root`)
      Fs.symlinkSync(`${path}/uploads-of-others`, `${uploads}/others`)
      Fs.symlinkSync(".env", `${uploads}/environment`)
      Fs.symlinkSync("loop", `${uploads}/loop`)
      Fs.symlinkSync("nowhere", `${uploads}/dangling`)
      Fs.symlinkSync("/proc/self/environ", `${uploads}/environ`)
      Fs.symlinkSync("/proc/self/fd", `${uploads}/descriptors`)
      Fs.symlinkSync("/proc/self/cwd", `${uploads}/cwd`)
      Fs.symlinkSync("/dev/zero", `${uploads}/zero`)
      Fs.writeFileSync(`${uploads}/empty.png`, "")
      spawnSync("mkfifo", [`${uploads}/pipe.png`])
      yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const server = createServer().listen(`${uploads}/socket.png`, () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const upload = yield* uploader(uploads)
      const { requests } = yield* Sandbox.Sandbox
      const before = (yield* requests).length
      const paths = [
        "/etc/passwd",
        "etc/passwd",
        "../notes.txt",
        "sub/../../notes.txt",
        `${path}/notes.txt`,
        `${uploads}/../notes.txt`,
        `${uploads}`,
        `${uploads}-of-others/notes.txt`,
        "../uploads-of-others/notes.txt",
        "~/notes.txt",
        "file:///etc/passwd",
        "",
        ".",
        "./",
        "sub",
        "sub/",
        "..",
        "/",
        "//",
        ".env",
        "sub/.git/config",
        `${uploads}/.env`,
        "mug.png/x",
        "mug.png/../../notes.txt",
        "mug.png\0",
        "mug.png\0.txt",
        "\0",
        "mug\n.png",
        "mug.png\u001b[2J",
        "mug\u0085.png",
        "\ud800.png",
        "\ufffd.png",
        "MUG.PNG/x",
        "x".repeat(255),
        "x".repeat(5_000),
        "x/".repeat(3_000),
        "../".repeat(3_000),
        "link.txt",
        "parent/notes.txt",
        `root${path}/notes.txt`,
        "root/etc/passwd",
        "others/notes.txt",
        "environment",
        "loop",
        "loop/x",
        "dangling",
        "environ",
        "descriptors/0",
        "cwd/package.json",
        "zero",
        "empty.png",
        "pipe.png",
        "socket.png",
        "..\\notes.txt",
        "C:\\notes.txt",
        "\\\\server\\share\\notes.txt",
        "mug.png:stream",
        "mug.png::$DATA",
        "NUL"
      ]
      for (const written of paths) {
        const message = messageOf(yield* Effect.flip(upload(written)))
        const withoutArgument = message.replace(JSON.stringify(written.slice(0, 100)).slice(1, -1), "")
        expect({ written, message, showsPath: withoutArgument.includes(path) }).toEqual({
          written,
          message: expect.stringMatching(/^path: [^\n]{1,250}$/) as unknown,
          showsPath: false
        })
      }
      for (const value of [undefined, null, 7, ["mug.png"], { path: "mug.png" }]) {
        expect(messageOf(yield* Effect.flip(upload(value)))).toMatch(/^path(?:: | is missing)/)
      }
      expect((yield* requests).length).toBe(before)
    }).pipe(Effect.provide(world)))

  it.effect("does not show which files exist outside", () =>
    Effect.gen(function*() {
      const { uploads } = yield* home
      Fs.symlinkSync("../notes.txt", `${uploads}/present`)
      Fs.symlinkSync("../missing.txt", `${uploads}/absent`)
      const upload = yield* uploader(uploads)
      const refusalOf = (name: string) => Effect.map(Effect.flip(upload(name)), (error) => messageOf(error).replace(name, "NAME"))
      expect(yield* refusalOf("present")).toBe(yield* refusalOf("absent"))
      expect(yield* refusalOf("../notes.txt")).toBe(yield* refusalOf("../missing.txt"))
    }).pipe(Effect.provide(world)))

  it.effect("takes a folder that is a link as the folder of that time, whatever replaces the link or the folder", () =>
    Effect.gen(function*() {
      const { path, uploads } = yield* home
      Fs.symlinkSync("uploads", `${path}/current`)
      const upload = yield* uploader(`${path}/current`)
      Fs.rmSync(`${path}/current`)
      Fs.symlinkSync("uploads-of-others", `${path}/current`)
      expect(yield* upload("mug.png")).toHaveProperty("mediaId")
      expect(messageOf(yield* Effect.flip(upload("notes.txt")))).toMatch(/there is no file/)
      Fs.renameSync(uploads, `${path}/old`)
      Fs.symlinkSync("uploads-of-others", uploads)
      expect(messageOf(yield* Effect.flip(upload("notes.txt")))).toMatch(/there is no file/)
      Fs.rmSync(uploads)
      expect(messageOf(yield* Effect.flip(upload("mug.png")))).toMatch(/there is no file/)
    }).pipe(Effect.provide(world)))

  it.effect("sends the opened file, also when another one takes its name during the upload", () =>
    Effect.gen(function*() {
      const { path, uploads } = yield* home
      const { open } = yield* UploadFolder.make(uploads)
      const file = yield* open("mug.png")
      Fs.rmSync(`${uploads}/mug.png`)
      Fs.symlinkSync(`${path}/notes.txt`, `${uploads}/mug.png`)
      for (let attempt = 1; attempt <= 2; attempt++) {
        const content = (yield* Stream.runCollect(file.content)).map((piece) => Buffer.from(piece).toString())
        expect(content.join("")).toBe("mug")
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("fails for a file that changes its length during the upload", () =>
    Effect.gen(function*() {
      const { uploads } = yield* home
      const made = yield* UploadFolder.make(uploads)
      const [tool] = offered(["uploadMedia"], Option.some({
        open: (path) => Effect.tap(made.open(path), () => Effect.sync(() => Fs.appendFileSync(`${uploads}/${path}`, "more")))
      })).filter(({ name }) => name === "uploadMedia")
      expect(messageOf(yield* Effect.flip(tool === undefined ? Effect.void : Effect.flatten(tool.prepare({ path: "mug.png" }))))).toBe(
        "path: the file changed while it was uploaded"
      )
    }).pipe(Effect.provide(world)))

  it.effect("reads nothing outside while folders and files are replaced by links", () =>
    Effect.gen(function*() {
      const { path, uploads } = yield* home
      Fs.mkdirSync(`${path}/outside`)
      Fs.writeFileSync(`${path}/outside/cap.png`, secret)
      Fs.symlinkSync(`${path}/outside`, `${path}/link`)
      // Another process, because only then each step of the check can meet each state.
      const swapper = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn(process.execPath, [
            "-e",
            `
            const { renameSync } = require("node:fs")
            process.chdir(${JSON.stringify(path)})
            for (;;) for (const [from, to] of [["uploads/sub", "real"], ["link", "uploads/sub"], ["uploads/sub", "link"], ["real", "uploads/sub"]])
              renameSync(from, to)
          `
          ], { stdio: "ignore" })
        ),
        (child) =>
          Effect.callback<void>((resume) => {
            child.once("exit", () => resume(Effect.void))
            child.kill("SIGKILL")
          })
      )
      const { open } = yield* UploadFolder.make(uploads)
      const seen = new Set<string>()
      const once = Effect.scoped(Effect.gen(function*() {
        const file = yield* Effect.result(open("sub/cap.png"))
        if (Result.isFailure(file)) return seen.add("refused")
        const pieces = yield* Stream.runCollect(file.success.content)
        return seen.add(Buffer.concat(pieces).toString())
      }))
      yield* Effect.repeat(once, { until: ({ size }) => size > 1 })
      yield* Effect.repeat(once, { times: 1_500 })
      expect(swapper.exitCode).toBe(null)
      expect([...seen].toSorted()).toEqual(["cap", "refused"])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  const parts = Generate.arrayOf(
    Generate.anyOf(["..", ".", "/", "\\", "a", "C:", "//", "\\\\", "?", "NUL", " ", ":", "uploads", "notes.txt", "~", "%2e%2e", "．．"]),
    { maxLength: 12 }
  )

  it.prop("finds no file outside by any text", [parts], ([parts]) => {
    const path = parts.join("")
    for (const [platform, folder] of [[Path.posix, "/srv/uploads"], [Path.win32, "C:\\srv\\uploads"]] as const) {
      const located = UploadFolder.locate(folder, path, platform)
      if (Result.isFailure(located)) continue
      expect(platform.join(folder, located.success)).toSatisfy((full: string) => full.startsWith(folder + platform.sep))
      expect(located.success.split(platform.sep).filter((name) => name.startsWith("."))).toEqual([])
    }
  })

  it("refuses the names of Windows that mean a device, a stream, a drive or a server there", () => {
    const paths = [
      "C:\\Windows\\win.ini",
      "D:\\x",
      "D:x",
      "\\x",
      "/x",
      "\\\\server\\share\\x",
      "//server/share/x",
      "\\\\?\\C:\\x",
      "\\\\.\\pipe\\x",
      "..\\x",
      "../x",
      "sub\\..\\..\\x",
      "a.png:stream",
      "a.png::$DATA",
      "NUL",
      "nul.png",
      "sub\\CON",
      "com1",
      "LPT9.txt",
      "COM\u00b9",
      "aux ",
      "CONIN$",
      ".env",
      "sub\\.env"
    ]
    const isRefused = (path: string) => Result.isFailure(UploadFolder.locate("C:\\photos", path, Path.win32))
    expect(paths.filter((path) => !isRefused(path))).toEqual([])
    expect(["a.png", "sub\\a.png", "sub/a.png", "C:\\photos\\a.png", "c:\\PHOTOS\\a.png", "console.png", "nullable.png"].filter(isRefused))
      .toEqual([])
  })
})

describe("--uploads", () => {
  it.effect("refuses what is no folder only for uploads, with a sentence that names it", () =>
    Effect.gen(function*() {
      const { path } = yield* home
      Fs.symlinkSync("/", `${path}/root`)
      Fs.symlinkSync("loop", `${path}/loop`)
      const refusal = (folder: string) => Effect.map(Effect.flip(UploadFolder.make(folder)), ({ message }) => message)
      expect(yield* refusal(`${path}/missing`)).toBe(`--uploads ${path}/missing does not exist: name an existing folder`)
      expect(yield* refusal(`${path}/notes.txt`)).toBe(`--uploads ${path}/notes.txt is not a folder: name a folder`)
      expect(yield* refusal(`${path}/notes.txt/x`)).toBe(`--uploads ${path}/notes.txt/x is not a folder: name a folder`)
      expect(yield* refusal("/")).toBe("--uploads / contains every file of the machine: name a folder only for uploads")
      expect(yield* refusal(`${path}/root`)).toMatch(/contains every file of the machine/)
      expect(yield* refusal(`${path}/loop`)).toMatch(/^--uploads .*\/loop can't be used: /)
      expect(yield* refusal("no\0folder")).toMatch(/^--uploads /)
      expect(yield* refusal(" ")).toBe("--uploads requires the path of a folder")
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
