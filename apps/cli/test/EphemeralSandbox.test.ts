/**
 * `plaza --sandbox`: any command against a new sandbox, which leaves no files.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { dist, run } from "./support/Plaza.ts"

/** Runs in an empty home folder, and lists its content afterwards. */
const alone = (argv: ReadonlyArray<string>, stdin = "") =>
  Effect.scoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const home = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-alone-" })
    const env = { TMPDIR: home, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, NODE_DISABLE_COMPILE_CACHE: "1" }
    const ended = yield* run(argv, { cwd: home, env, stdin })
    return { ...ended, left: yield* fs.readDirectory(home) }
  }))

layer(NodeContext.layer, { excludeTestServices: true })("plaza --sandbox", (it) => {
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

  it.effect("loads compiled code only", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const [tag = ""] = yield* fs.readDirectory(`${dist}/compiled`)
      const compiled = yield* fs.readDirectory(`${dist}/compiled/${tag}`)
      const parts = compiled.map((name) => name.replace(/(-.{8})?\.cjs\.bin$/, ""))
      expect(parts).toEqual(expect.arrayContaining(["program", "SandboxServer", "NodeServer"]))
    }))
})
