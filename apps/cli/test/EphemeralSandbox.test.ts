/**
 * `plaza --sandbox`: any command against a new sandbox, which leaves no files.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { expect } from "vitest"
import { run } from "./support/Plaza.ts"

/** Runs in an empty home folder, and lists its content afterwards. */
const alone = (argv: ReadonlyArray<string>, stdin = "") =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const home = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-alone-" })
    const env = { TMPDIR: home, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home }
    const ended = yield* run(argv, { cwd: home, env, stdin })
    return { ...ended, left: yield* fs.readDirectory(home) }
  }))

layer(NodeFileSystem.layer, { excludeTestServices: true })("plaza --sandbox", (it) => {
  it.effect("runs a command against a new shop, wherever the flag is", () =>
    Effect.gen(function*() {
      const first = yield* alone(["--sandbox", "me", "--json"])
      expect(first).toEqual({ code: 0, stdout: `{"id":"1001","username":"corner-shop"}\n`, stderr: "", left: [] })
      expect(yield* alone(["me", "--json", "--sandbox"])).toEqual(first)
    }))

  it.effect("leaves no files, and starts anew each time", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const shop = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-import-" })
      yield* fs.writeFileString(`${shop}/stock.csv`, "productId,stock\n0042,5\n")
      const once = () => alone(["--sandbox", "stock", "import", `${shop}/stock.csv`, "--json"])
      const first = yield* once()
      expect(first).toMatchObject({ code: 0, left: [] })
      expect(JSON.parse(first.stdout)).toMatchObject({ rows: 1, sent: 1 })
      expect(yield* once()).toEqual(first)
      expect(yield* fs.readDirectory(shop)).toEqual(["stock.csv"])
    }).pipe(Effect.scoped))

  it.effect("rejects --base-url and --profile", () =>
    Effect.gen(function*() {
      for (const other of ["--base-url=http://127.0.0.1:1/open/v1", "--profile=shop"]) {
        expect(yield* alone(["--sandbox", "me", other])).toEqual({
          code: 2,
          stdout: "",
          stderr: `plaza: --sandbox and ${other.split("=")[0]} can't be used together: the sandbox has its own base URL and key\n`,
          left: []
        })
      }
    }))

  it.effect("says what it lacks without a folder for temporary files", () =>
    Effect.gen(function*() {
      expect(yield* run(["--sandbox", "me"], { env: { TMPDIR: "/dev/null" } })).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: --sandbox needs a folder for temporary files, and /dev/null can't be used: not a directory; set TMPDIR\n"
      })
      expect(yield* run(["--sandbox", "schema", "me", "--json"], { env: { TMPDIR: "/dev/null" } })).toMatchObject({ code: 0, stderr: "" })
    }))

  it.effect("loads code that an earlier run compiled, and runs without a folder for it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const caches = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-cache-" })
      const runWith = (cache: string) => run(["--sandbox", "me", "--json"], { env: { XDG_CACHE_HOME: cache } })
      const compiled = Effect.map(fs.readDirectory(`${caches}/plaza`, { recursive: true }), (names) => names.toSorted())
      const first = yield* runWith(caches)
      expect(first).toEqual({ code: 0, stdout: `{"id":"1001","username":"corner-shop"}\n`, stderr: "" })
      const written = yield* compiled
      expect(written.length).toBeGreaterThan(1)
      expect(yield* runWith(caches)).toEqual(first)
      expect(yield* compiled).toEqual(written)
      expect(yield* runWith("/dev/null")).toEqual(first)
    }))
})
