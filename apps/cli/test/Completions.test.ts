/**
 * Completion in the shells themselves, each at a terminal as a person has it; and what is offered, asked without any shell.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Complete } from "@plaza/cli-kit"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { manual } from "../src/manual.ts"
import { dist, run } from "./support/Plaza.ts"
import * as Terminal from "./support/Terminal.ts"

const isThere = (shell: string) => spawnSync(shell, ["--version"]).status === 0
const missing = ["bash", "zsh", "fish"].filter((shell) => !isThere(shell))
if (missing.length > 0) process.stderr.write(`completion is not tried in ${missing.join(" and ")}: not installed here\n`)

/** A folder with `plaza` in it, as an installation would have it, and a file to name. */
const installed = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-shell-" })
  yield* fs.makeDirectory(`${folder}/bin`)
  yield* fs.writeFileString(`${folder}/bin/plaza`, `#!/bin/sh\nexec "${process.execPath}" "${dist}/plaza.cjs" "$@"\n`)
  yield* fs.chmod(`${folder}/bin/plaza`, 0o755)
  yield* fs.writeFileString(`${folder}/mugs.jpg`, "")
  return folder
})

/** A shell at a terminal that has loaded the completions, as it shows its prompt. */
const shell = (name: "bash" | "zsh" | "fish") =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* installed
    const { stdout: script } = yield* run(["completions", name])
    const file = `${folder}/completions`
    yield* fs.writeFileString(file, script)
    const start = {
      bash: ["bash", "--noprofile", "--norc", "-i"],
      zsh: ["zsh", "-f", "-i"],
      fish: ["fish", "--no-config", "-i", "-C", `source ${file}; function fish_prompt; echo 'ready> '; end`]
    } as const
    const terminal = yield* Terminal.open([], {
      program: start[name],
      cwd: folder,
      columns: 120,
      env: {
        PATH: `${folder}/bin:${process.env["PATH"] ?? ""}`,
        HOME: folder,
        PS1: "ready> ",
        XDG_DATA_HOME: folder,
        XDG_CONFIG_HOME: folder
      }
    })
    if (name === "bash") yield* terminal.type(`bind 'set bell-style none'; source ${file}; PS1='ready> '; clear\r`)
    if (name === "zsh") yield* terminal.type(`autoload -U compinit && compinit -u; source ${file}; PS1='ready> '; clear\r`)
    yield* terminal.shows(/ready>/)
    return terminal
  })

const tab = "\t"

layer(NodeContext.layer, { excludeTestServices: true })("completion", (it) => {
  for (const name of ["bash", "zsh", "fish"] as const) {
    it.scoped.skipIf(missing.includes(name))(`in ${name} finishes commands, options and files`, () =>
      Effect.gen(function*() {
        const { shows, type } = yield* shell(name)
        yield* type(`plaza sto${tab}`)
        // Two begin with it; the next letter decides.
        yield* type(`ri${tab}`)
        yield* shows(/ready> \S*\s*plaza stories/)
        yield* type(`cr${tab}`)
        yield* shows(/plaza stories create/)
        yield* type(`--inp${tab}`)
        yield* shows(/plaza stories create --input/)
        yield* type(`mug${tab}`)
        yield* shows(/plaza stories create --input mugs\.jpg/)
      }))
  }

  it.scoped.skipIf(missing.includes("zsh"))("in zsh shows what the commands do", () =>
    Effect.gen(function*() {
      const { shows, type } = yield* shell("zsh")
      yield* type(`plaza orders ${tab}${tab}`)
      yield* shows(/ship +-- +Mark an order as shipped/)
    }))

  it.scoped.skipIf(missing.includes("fish"))("in fish shows what the options do", () =>
    Effect.gen(function*() {
      const { shows, type } = yield* shell("fish")
      yield* type(`plaza posts list --a${tab}${tab}`)
      yield* shows(/--all/)
    }))
})

const offered = (...words: ReadonlyArray<string>) =>
  Complete.complete(manual, words).split("\n").map((line) => line.split("\t")[0]).filter((name) => name !== "")

describe("what may be typed next", () => {
  it("is a command, with what it does behind it", () => {
    expect(offered("")).toEqual(manual.page.commands.map(({ name }) => name))
    expect(offered("sand")).toEqual(["sandbox"])
    expect(Complete.complete(manual, ["users", "fo"])).toBe("follow\tFollow a user.\n")
    expect(offered("help", "po")).toEqual(["posts"])
    expect(offered("posts", "none", "")).toEqual([])
  })

  it("is an option that is not there yet, or may be there again", () => {
    expect(offered("posts", "list", "--l")).toEqual(["--limit"])
    expect(offered("posts", "list", "--limit", "3", "--l")).toEqual([])
    expect(offered("posts", "create", "--media", "a", "--me")).toEqual(["--media", "--media-id"])
    expect(offered("posts", "list", "--")).toContain("--help")
    expect(offered("-")).toContain("--version")
    expect(offered("posts", "list", "--", "-")).toEqual([])
  })

  it("is a file where one is wanted, a word where it is one of some, and nothing where only the service knows", () => {
    expect(offered("stories", "create", "--input", "")).toEqual([Complete.files])
    expect(offered("media", "upload", "a.jpg", "")).toEqual([Complete.files])
    expect(offered("mcp", "--uploads", "")).toEqual([Complete.files])
    expect(offered("completions", "z")).toEqual(["zsh"])
    expect(offered("users", "get", "")).toEqual([])
    expect(offered("posts", "create", "--text", "")).toEqual([])
  })

  it("is what the program itself tells", async () => {
    expect((await Effect.runPromise(run([Complete.command, "posts", "l"]))).stdout).toBe(Complete.complete(manual, ["posts", "l"]))
  })
})
