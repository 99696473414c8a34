/** Every TypeScript block of the README, of the documentation of the libraries and of the skill for the client is part of a program that is compiled and run here. */
import { describe, expect, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

const filesIn = (folder: string) =>
  readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith(".ts")).map((name) => ({
    name,
    code: read(`${folder}${name}`)
  }))
const sources = filesIn("../src/")
const tests = filesIn("./")

/** The names that a program exports. */
const exportsOf = (code: string) => [...code.matchAll(/^export (?:const|function|class) (\w+)/gm)].map(([, name = ""]) => name)

/** The names that the tests import from a program. The compiler rejects unused imports. */
const takenFrom = (source: string) =>
  tests.flatMap(({ code }) =>
    [...code.matchAll(/^import \{([^}]*)\} from "\.\.\/src\/(\w+)\.js"$/gm)]
      .filter(([, , from]) => `${from}.ts` === source)
      .flatMap(([, names = ""]) => names.split(",").map((name) => name.trim()))
  )

describe.each(["README.md", "docs/client.md", "docs/domain.md", "docs/sandbox.md", "apps/cli/src/skills/plaza-client/SKILL.md"])("%s",
  (path) => {
    const blocks = [...read(`../../${path}`).matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code)

    it("has programs", () => {
      expect(blocks.length).toBeGreaterThan(0)
    })

    it.each(blocks)("shows a program as it is compiled: %s", (code) => {
      expect([...sources, ...tests].filter((program) => program.code.includes(code))).toHaveLength(1)
    })

    it.each(blocks)("shows a program that a test runs: %s", (code) => {
      for (const source of sources.filter((program) => program.code.includes(code))) {
        const taken = takenFrom(source.name)
        const names = exportsOf(source.code)
        expect({ program: source.name, isEmpty: names.length === 0, notRun: names.filter((name) => !taken.includes(name)) })
          .toEqual({ program: source.name, isEmpty: false, notRun: [] })
      }
    })
  })
