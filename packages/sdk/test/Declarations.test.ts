/** The declarations: current, without Effect, and usable by the oldest and the newest compiler. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const folder = fileURLToPath(new URL("..", import.meta.url))

it("are current", () => {
  const printed = execFileSync(process.execPath, ["scripts/declarations.ts", "--print"], { cwd: folder, encoding: "utf8" })
  expect(printed).toBe(readFileSync(`${folder}/index.d.ts`, "utf8"))
})

it("have nothing of Effect and import nothing", () => {
  const text = readFileSync(`${folder}/index.d.ts`, "utf8").replace(/\/\*\*[^]*?\*\//g, "")
  expect(text.match(/\bEffect\b|\bStream<|\bDuration\.|\bDateTime\b|Brand|~effect|\bimport\b|\bany\b/g)).toBeNull()
})
