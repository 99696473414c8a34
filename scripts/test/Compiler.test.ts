/**
 * The compiler of this checkout reports mistakes with Effect, because the installation has patched it.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

const compile = (text: string) => {
  mkdirSync(Path.join(root, "build"), { recursive: true })
  const folder = mkdtempSync(Path.join(root, "build", "compiler-"))
  try {
    writeFileSync(Path.join(folder, "A.ts"), text)
    const config = {
      extends: "../../tsconfig.base.json",
      compilerOptions: { composite: false, incremental: false, noEmit: true },
      include: ["A.ts"]
    }
    writeFileSync(Path.join(folder, "tsconfig.json"), JSON.stringify(config))
    const run = spawnSync(process.execPath, [Path.join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { encoding: "utf8" })
    return { status: run.status, output: run.stdout }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const program = (statement: string) => `import * as Effect from "effect/Effect"\nexport const f = () => {\n  ${statement}\n  return 1\n}\n`

it("rejects an Effect that is never run", () => {
  const { output, status } = compile(program(`Effect.log("lost")`))
  expect(output).toContain("effect(floatingEffect)")
  expect(status).not.toBe(0)
})

it("accepts an Effect that is run", () => {
  expect(compile(program(`Effect.runSync(Effect.log("kept"))`))).toEqual({ status: 0, output: "" })
})
