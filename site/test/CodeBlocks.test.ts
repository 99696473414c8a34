/** Every TypeScript block of the documentation and of the skill for the client is part of a program that the compiler checks and a test runs. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../src/Paths.ts"
import { blocks, pages } from "./support/Blocks.ts"

const filesIn = (folder: string) =>
  readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts")).map((name) => ({
    path: `${folder}/${name}`,
    name: name.slice(0, -".ts".length),
    code: readFileSync(join(root, folder, name), "utf8")
  }))
const isTest = ({ name }: { readonly name: string }) => name.endsWith(".test")
const endpoint = filesIn("examples/src/ship-endpoint")
const programs = [
  ...filesIn("examples/src"),
  ...endpoint.filter((file) => !isTest(file)),
  ...filesIn("examples/effect-3/src"),
  ...filesIn("site/guides")
]
const tests = [...filesIn("examples/test"), ...endpoint.filter(isTest), ...filesIn("examples/effect-3/test"), ...filesIn("site/test")]

/** The names that a program exports. */
const exportsOf = (code: string) => [...code.matchAll(/^export (?:const|function|class) (\w+)/gm)].map(([, name = ""]) => name)

/** The names that the tests import from a program. The compiler rejects unused imports. */
const takenFrom = (program: string) =>
  tests.flatMap(({ code }) =>
    [...code.matchAll(/^import \{([^}]*)\} from "(?:\.\.\/(?:src|guides)|\.)\/(\w+)\.ts"$/gm)]
      .filter(([, , from]) => from === program)
      .flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()))
  )

/** Whether a test starts the program as a process. */
const isStarted = (path: string) => tests.some(({ code }) => code.includes(`"${path}"`))

const typescript = blocks("ts", [...pages, "site/landing.md", "apps/cli/src/skills/plaza-client/SKILL.md"])

describe("the TypeScript blocks", () => {
  it("are found", () => {
    expect(typescript.length).toBeGreaterThan(15)
  })

  it.each(typescript)("are compiled: $page, line $line", ({ code }) => {
    expect([...programs, ...tests].filter((program) => program.code.includes(code)).map(({ path }) => path)).toHaveLength(1)
  })

  it.each(typescript)("are run: $page, line $line", ({ code }) => {
    for (const program of programs.filter((file) => file.code.includes(code) && !isStarted(file.path))) {
      const taken = takenFrom(program.name)
      const names = exportsOf(program.code)
      expect({ program: program.path, isEmpty: names.length === 0, notRun: names.filter((name) => !taken.includes(name)) })
        .toEqual({ program: program.path, isEmpty: false, notRun: [] })
    }
  })
})
