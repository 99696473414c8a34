/**
 * Runs types and tests of the libraries with the newest 4.x of Effect, the newest that their peer ranges permit. Requires the registry.
 * It changes `pnpm-workspace.yaml`, the lockfile and the installation, so use it in a fresh clone.
 */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isMap, parseDocument } from "yaml"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const file = join(root, "pnpm-workspace.yaml")

/** @param {string} command @param {ReadonlyArray<string>} args */
const run = (command, ...args) => execFileSync(command, args, { cwd: root, stdio: "inherit" })

/** npm prints lines such as `effect@4.1.0 '4.1.0'` in no order, or a version alone. @param {string} name */
const newest = (name) => {
  const stable = /(?:^| ')(4\.\d+\.\d+)'?$/gm
  const versions = [...execFileSync("npm", ["view", `${name}@4`, "version"], { encoding: "utf8" }).matchAll(stable)].flatMap((
    [, one = ""]
  ) => one)
  const [version] = versions.sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
  if (version === undefined) throw new Error(`npm knows no stable version 4 of ${name}`)
  return version
}

const workspace = parseDocument(readFileSync(file, "utf8"))
const versions = workspace.get("catalog")
if (!isMap(versions)) throw new Error(`${file} has no catalog`)
for (const { key, value } of versions.items) {
  const name = String(key)
  // Other packages of the scope have versions of their own.
  if (!/^(?:effect$|@effect\/)/.test(name) || !String(value).startsWith("4.")) continue
  const version = newest(name)
  process.stdout.write(`${name} ${version}\n`)
  workspace.setIn(["catalog", name], version)
}
writeFileSync(file, workspace.toString({ lineWidth: 0 }))
run("npx", "-y", "pnpm@12.21.0", "install", "--no-frozen-lockfile")
run("npx", "tsc", "-b", "packages/sdk", "packages/sandbox")
run(process.execPath, "scripts/bundle-sdk.ts")
run("npx", "vitest", "run", "packages/domain/", "packages/client/", "packages/sandbox/", "packages/sdk/")
