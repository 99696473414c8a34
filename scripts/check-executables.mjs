/**
 * Runs the executables of `scripts/executable.mjs` against a sandbox, on their own system, with no other program on the PATH than those of
 * the system: `node scripts/check-executables.mjs [FOLDER]`.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { runPrograms } from "./installed-programs.mjs"
import { readManifest } from "./manifest.mjs"
import { host } from "./node-package.mjs"

const built = resolve(process.argv[2] ?? "build/executables")
const folders = ["plaza", "plaza-stock-sync"].map((name) => join(built, `${name}-${host ?? ""}`))
const missing = folders.filter((folder) => !existsSync(folder))
if (missing.length > 0) throw new Error(`${missing.join(" and ")} is missing: run node scripts/executable.mjs`)
const system = process.platform === "win32" ? [`${process.env["SystemRoot"] ?? ""}\\System32`] : []
const folder = mkdtempSync(join(tmpdir(), "plaza-executables-"))
try {
  await runPrograms({ folder, path: [...folders, ...system].join(delimiter), version: readManifest("apps/cli").version })
  process.stdout.write(`the executables for ${host} run\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
