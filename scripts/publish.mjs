/**
 * Publishes each package whose version the registry does not have: `node scripts/publish.mjs`. Requires built packages. npm
 * publishes, because it supports trusted publishing. The output `published` of a workflow's step has the names with their versions.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pack, publishedFolders, readManifest } from "./manifest.mjs"

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
  for (const folder of publishedFolders()) {
    const { name, version } = readManifest(folder)
    const specifier = `${name}@${version}`
    if (isPublished(specifier)) continue
    const tarball = join(packed, "package.tgz")
    pack(folder, ["--out", tarball])
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
