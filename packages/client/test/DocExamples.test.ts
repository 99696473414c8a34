/** Every `@example` of the sources compiles. */
import { expect, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { compile } from "./support/Compiler.ts"

const sources = fileURLToPath(new URL("../src", import.meta.url))

/** The examples of a source, each as a module. */
const examplesIn = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/\/\*\*[^]*?\*\//g)].flatMap(([comment]) => {
    const text = comment.slice(0, -2).replace(/^[^\S\n]*\* ?/gm, "")
    return text.split(/^@example$/m).slice(1).map((rest) => rest.split(/^(?:@|Source: )/m)[0] ?? "")
  })

const examples = readdirSync(sources).filter((name) => name.endsWith(".ts")).flatMap((name) =>
  examplesIn(readFileSync(Path.join(sources, name), "utf8")).map((code, index) => ({ name: `${name.slice(0, -3)}${index}.ts`, code }))
)

it("the sources have examples", () => {
  expect(examples.length).toBeGreaterThan(10)
})

it("every example compiles", async () => {
  expect(await compile(examples)).toBe("")
})

it("an example with a wrong name does not compile", async () => {
  expect(await compile([{ name: "Wrong.ts", code: `import { Failures } from "@plaza/client"\n` }])).toContain("Failures")
})
