/** Every `@example` of the sources compiles. */
import { expect, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const sources = Path.join(root, "src")

/** The examples of a source, each as a module. */
const examplesIn = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/\/\*\*[^]*?\*\//g)].flatMap(([comment]) => {
    const text = comment.slice(0, -2).replace(/^[^\S\n]*\* ?/gm, "")
    return text.split(/^@example$/m).slice(1).map((rest) => rest.split(/^(?:@|Source: )/m)[0] ?? "")
  })

const examples = readdirSync(sources).filter((name) => name.endsWith(".ts")).flatMap((name) =>
  examplesIn(readFileSync(Path.join(sources, name), "utf8")).map((code, index) => ({ name: `${name.slice(0, -3)}${index}.ts`, code }))
)

/** Type-checks modules as the tests of this package are. Returns the compiler's output, which is empty for modules without errors. */
const compile = (modules: ReadonlyArray<{ readonly name: string; readonly code: string }>): Promise<string> => {
  // Within the package, where its own name resolves to its sources.
  const dist = Path.join(root, "dist")
  mkdirSync(dist, { recursive: true })
  const folder = mkdtempSync(Path.join(dist, "examples-"))
  for (const { code, name } of modules) writeFileSync(Path.join(folder, name), code)
  const config = Path.join(folder, "tsconfig.json")
  writeFileSync(config, JSON.stringify({
    extends: Path.join(root, "../../tsconfig.test.json"),
    compilerOptions: { noUnusedLocals: false },
    files: modules.map(({ name }) => name),
    include: []
  }))
  const tsc = Path.join(Path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc")
  return new Promise<string>((resolve) => {
    execFile(process.execPath, [tsc, "-p", config, "--pretty", "false"], (error, stdout, stderr) => {
      resolve(error === null ? "" : `${stdout}${stderr}`)
    })
  }).finally(() => rmSync(folder, { recursive: true, force: true }))
}

it("the sources have examples", () => {
  expect(examples.length).toBeGreaterThan(10)
})

it("every example compiles", async () => {
  expect(await compile(examples)).toBe("")
})

it("an example with a wrong name does not compile", async () => {
  expect(await compile([{ name: "Wrong.ts", code: `import { Failures } from "@plaza-legacy/client"\n` }])).toContain("Failures")
})
