/**
 * Finds unused files, dependencies and binaries. The tool doesn't run on every supported version of Node; there the
 * script says so and skips the check.
 */
import { spawnSync } from "node:child_process"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
// It requires an ES module, which Node can do from here on.
const canRequireModules = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)

if (canRequireModules) {
  const { status } = spawnSync("knip", ["--no-config-hints"], { stdio: "inherit" })
  process.exitCode = status ?? 1
} else {
  process.stdout.write(`Unused files: not looked for, knip needs Node 20.19 and this is ${process.versions.node}.\n`)
}
