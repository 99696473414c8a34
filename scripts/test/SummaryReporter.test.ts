/**
 * The last line of a real test run is its summary, because other programs read it.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

const lastLineOf = (text: string) => {
  // Inside the checkout, so that the test finds vitest, in a folder that git ignores.
  mkdirSync(Path.join(root, "build"), { recursive: true })
  const folder = mkdtempSync(Path.join(root, "build", "summary-"))
  try {
    writeFileSync(Path.join(folder, "run.check.ts"), `import { expect, it } from "vitest"\n${text}`)
    const config = `export default { test: { include: ["run.check.ts"], pool: "threads", exclude: [],
      reporters: ["default", ${JSON.stringify(Path.join(root, "scripts/SummaryReporter.ts"))}] } }`
    writeFileSync(Path.join(folder, "vitest.config.mjs"), config)
    const { VITEST: _outer, ...env } = process.env
    const run = spawnSync(process.execPath, [Path.join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder], {
      encoding: "utf8",
      env
    })
    return { last: run.stdout.trimEnd().split("\n").at(-1), ok: run.status === 0 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it("a passing run ends with its counts on one line", () => {
  expect(lastLineOf(`it("a", () => expect(1).toBe(1)); it("b", () => expect(1).toBe(1))`)).toEqual({ last: "2 passed, 0 failed", ok: true })
})

it("failed and skipped tests are counted separately", () => {
  expect(lastLineOf(`it("a", () => expect(1).toBe(2)); it("b", () => {}); it.skip("c", () => {})`)).toEqual({
    last: "1 passed, 1 failed, 1 skipped",
    ok: false
  })
})

it("a file that can't be loaded counts as a failed test", () => {
  expect(lastLineOf(`throw new Error("no")`)).toEqual({ last: "0 passed, 1 failed", ok: false })
})
