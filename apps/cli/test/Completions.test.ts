/**
 * Completion in the shells themselves, each at a terminal as a person has it.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { spawnSync } from "node:child_process"
import { expect } from "vitest"
import { pages } from "../src/manual.ts"
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
  yield* fs.writeFileString(`${folder}/bin/plaza`,
    `#!/bin/sh\necho started >> "${folder}/started"\nexec "${process.execPath}" "${dist}/plaza.cjs" "$@"\n`)
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
    return { ...terminal, folder }
  })

const tab = "\t"
/** Deletes the line. */
const clear = "\u0015"

layer(NodeFileSystem.layer, { excludeTestServices: true })("completion", (it) => {
  for (const name of ["bash", "zsh", "fish"] as const) {
    it.effect.skipIf(missing.includes(name))(`in ${name} finishes commands, options, values and files`, () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { folder, shows, type } = yield* shell(name)
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
        yield* type(`${clear}plaza media upload mu${tab}`)
        yield* shows(/plaza media upload mugs\.jpg/)
        yield* type(`${clear}plaza completions zs${tab}`)
        yield* shows(/plaza completions zsh/)
        yield* type(`${clear}plaza sandbox snapshot rest${tab}`)
        yield* shows(/plaza sandbox snapshot restore/)
        yield* type(`${clear}plaza help posts com${tab}`)
        yield* shows(/plaza help posts comment/)
        // Also the options of every command.
        yield* type(`${clear}plaza me --js${tab}`)
        yield* shows(/plaza me --json/)
        yield* type(`${clear}plaza posts list --base${tab}`)
        yield* shows(/plaza posts list --base-url/)
        // The shell does not start the program.
        if (yield* fs.exists(`${folder}/started`)) return yield* Effect.die(new Error("the shell started the program"))
      }))
  }

  it.effect.skipIf(missing.includes("zsh"))("in zsh shows what the commands do", () =>
    Effect.gen(function*() {
      const { shows, type } = yield* shell("zsh")
      yield* type(`plaza orders ${tab}${tab}`)
      yield* shows(/ship +-- +Mark an order as shipped/)
    }))

  it.effect.skipIf(missing.includes("fish"))("in fish shows what the options do", () =>
    Effect.gen(function*() {
      const { shows, type } = yield* shell("fish")
      yield* type(`plaza posts list --a${tab}${tab}`)
      yield* shows(/--all/)
    }))

  it.effect.each(["bash", "zsh", "fish", "powershell"] as const)("for %s has every command and option, and says how to install it",
    (name) =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* run(["completions", name])
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
        const lines = stdout.split("\n")
        expect(lines[name === "zsh" ? 1 : 0]).toMatch(new RegExp(`^# Completions of plaza for ${name}: .*plaza completions ${name}`))
        const words = pages.flatMap(({ flags, globals, path }) => [...path, ...[...flags, ...globals].map((flag) => flag.name)])
        expect([...new Set(words)].filter((word) => !stdout.includes(word))).toEqual([])
      }))
})
