/**
 * Publishes each package whose version the registry does not have: `node scripts/publish.mjs`. Requires built packages. pnpm packs, because
 * it replaces `workspace:` and `catalog:`; npm publishes, because it supports trusted publishing. The output `published` of a workflow's step
 * has the names with their versions.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** @typedef {{ name: string, version: string, private?: boolean }} Manifest */
/** @param {string} file */
const manifestOf = (file) => // The cast is true: each field is one of a package.json, and pnpm rejects another form.
/** @type {Manifest} */ (JSON.parse(readFileSync(file, "utf8")))

// The first folders have the dependencies of the others.
const folders = ["packages", "apps"].flatMap((parent) => readdirSync(parent).sort().map((name) => join(parent, name)))
  .filter((folder) => existsSync(join(folder, "package.json")) && !manifestOf(join(folder, "package.json")).private)

/** @param {string} specifier */
const isPublished = (specifier) => {
  const { status, stdout, stderr } = spawnSync("npm", ["view", specifier, "version"], { encoding: "utf8" })
  // The registry responds with 404 for an unknown package, and with nothing for an unknown version.
  if (status === 0) return stdout.trim() !== ""
  if (stderr.includes("E404")) return false
  throw new Error(`npm can't tell whether ${specifier} is published: ${stderr}`)
}

const packed = mkdtempSync(join(tmpdir(), "plaza-publish-"))
const published = []
try {
  for (const folder of folders) {
    const { name, version } = manifestOf(join(folder, "package.json"))
    const specifier = `${name}@${version}`
    if (isPublished(specifier)) continue
    if (!existsSync(join(folder, "dist"))) throw new Error(`${specifier} is not built: run the build first`)
    const tarball = join(packed, "package.tgz")
    execFileSync("npx", ["-y", "pnpm@12.21.0", "pack", "--out", tarball], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
    execFileSync("npm", ["publish", tarball, "--access", "public"], { stdio: ["ignore", "inherit", "inherit"] })
    published.push(specifier)
  }
} finally {
  rmSync(packed, { recursive: true, force: true })
  // Also after a failure: these versions can't be published again.
  const output = process.env["GITHUB_OUTPUT"]
  if (output !== undefined) appendFileSync(output, `published=${published.join(" ")}\n`)
}
process.stdout.write(published.length === 0 ? "every version is published\n" : `published ${published.join(", ")}\n`)
