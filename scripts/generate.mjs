/** Writes every generated file of the repository: `npm run generate`. */
import { spawnSync } from "node:child_process"

const scripts = [
  ["@plaza/domain", "openapi"],
  ["@plaza/sandbox", "openapi"],
  ["@plaza/sandbox", "reference"],
  ["@plaza/examples", "types"],
  ["@plaza/sdk", "declarations"],
  ["@plaza/site", "commands"],
  ["@plaza/tabular", "feeds"],
  // Last, because it reads the others.
  ["plaza", "surface"]
]

for (const [name, script] of scripts) {
  const { status } = spawnSync(`npx -y pnpm@12.21.0 --filter ${name} run ${script}`, { stdio: "inherit", shell: true })
  if (status !== 0) process.exit(status ?? 1)
}
