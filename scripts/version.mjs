/**
 * Applies the changesets: `node scripts/version.mjs`. All published packages have one version. This script also writes it into the files that
 * contain it but that Changesets does not know.
 */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"

const versionOf = () =>
  // The cast is true: every package.json of this repository has a version.
  /** @type {{ version: string }} */ (JSON.parse(readFileSync("packages/domain/package.json", "utf8"))).version

const files = [
  "package.json",
  "README.md",
  "packages/client/src/internal/Setting.ts",
  "apps/cli/server.json",
  "action.yml",
  "deploy/docker/Dockerfile",
  "deploy/compose/fleet.yaml",
  "deploy/kubernetes/single/stateful-set.yaml",
  "deploy/kubernetes/single/kustomization.yaml",
  "deploy/kubernetes/fleet/deployment.yaml",
  "deploy/kubernetes/fleet/kustomization.yaml",
  "deploy/kubernetes/fleet/migrate/job.yaml",
  "deploy/kubernetes/fleet/migrate/kustomization.yaml",
  "deploy/test/Compose.test.ts",
  "deploy/test/Dockerfile.test.ts",
  "deploy/test/Kubernetes.test.ts",
  "docs/deploy.md",
  "docs/sandbox-in-tests.md"
]

const before = versionOf()
execFileSync("npx", ["changeset", "version"], { stdio: "inherit" })
const after = versionOf()
if (after !== before) {
  for (const file of files) {
    const written = readFileSync(file, "utf8").replace(/(?<!@since )\b\d+\.\d+\.\d+\b/g, (found) => found === before ? after : found)
    writeFileSync(file, written)
  }
}
