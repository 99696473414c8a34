/** `plaza skills install`, and every command line of the skill for the command, run as it is. The client's skill is tested in `examples`. */
import { NodeServices } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { plaza } from "../support/InProcess.ts"
import { environment, run } from "../support/Plaza.ts"

const sourceOf = (skill: string) => readFileSync(fileURLToPath(new URL(`../../src/skills/${skill}/SKILL.md`, import.meta.url)), "utf8")

const lines = [...sourceOf("plaza").matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block = ""]) => block.trim().split("\n"))

const words = (line: string): ReadonlyArray<string> => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "")

const services = Layer.merge(Sandbox.layerServer(), NodeServices.layer)

layer(services, { excludeTestServices: true })("plaza skills", (it) => {
  it.effect("every command line of the skill succeeds", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-skill-" })
      const files = { "mug.jpg": "mug", "stock.csv": "productId,stock\n0042,3\n" }
      yield* Effect.forEach(Object.entries(files), ([name, text]) => fs.writeFileString(`${cwd}/${name}`, text))
      const env = { ...yield* environment, XDG_STATE_HOME: cwd }
      expect(lines.length).toBeGreaterThan(9)
      const failed = yield* Effect.forEach(lines, (line) =>
        Effect.gen(function*() {
          const [program, ...argv] = words(line)
          const { code, stderr, stdout } = yield* plaza(argv.map((word) => word in files ? `${cwd}/${word}` : word), env)
          return program === "plaza" && code === 0 && stdout !== "" ? [] : [`${line}: ${code} ${stderr}`]
        }))
      expect(failed.flat()).toEqual([])
    }))

  it.effect("install writes every skill, and replaces other content only with --force", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-skill-" })
      const install = (...argv: ReadonlyArray<string>) => run(["skills", "install", ...argv], { cwd })
      expect(yield* install()).toMatchObject({ code: 0, stderr: "" })
      for (const skill of ["plaza", "plaza-client"]) {
        const text = yield* fs.readFileString(`${cwd}/.claude/skills/${skill}/SKILL.md`)
        expect(text).toBe(sourceOf(skill))
        // Agents read name and description, and require both.
        expect(text).toMatch(new RegExp(`^---\nname: ${skill}\ndescription: [^\n:]{50,1000}\n---\n\n# `))
      }
      expect((yield* install("--json")).stdout).toMatch(/"changed":false/)
      yield* fs.writeFileString(`${cwd}/.claude/skills/plaza/SKILL.md`, "mine")
      expect(yield* install()).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("add --force") as unknown })
      expect(yield* install("--force")).toMatchObject({ code: 0 })
      expect(yield* fs.readFileString(`${cwd}/.claude/skills/plaza/SKILL.md`)).toBe(sourceOf("plaza"))
    }))
})

it("the skill names exit codes that exist", () => {
  const named = [...sourceOf("plaza").matchAll(/^\| (\d+) \|/gm)].map(([, code]) => code)
  const known = ExitCode.meanings.map(({ code }) => code)
  expect(named.length).toBeGreaterThan(6)
  expect(known).toEqual(expect.arrayContaining(named))
})
