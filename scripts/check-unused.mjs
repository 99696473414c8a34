/**
 * Fails when knip finds an unused file, dependency or binary. Older versions of Node can't run knip: there the script prints a note and
 * succeeds.
 */
import { spawnSync } from "node:child_process"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
// knip requires an ES module, which Node supports from these versions on.
const canRequireModules = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)

if (canRequireModules) {
  const { status } = spawnSync("knip", ["--no-config-hints"], { stdio: "inherit" })
  process.exitCode = status ?? 1
} else {
  process.stdout.write(`unused files: not checked, because knip needs Node 20.19 and this is ${process.versions.node}\n`)
}
