/**
 * Installs the tarballs of the programs by npm and runs them against a sandbox. Requires the registry.
 *
 * `node scripts/check-installs.mjs [VERSION...]`: on several versions of Node. Requires built programs, and Linux on x64, for which npm has
 * Node itself.
 * `node scripts/check-installs.mjs --tarballs FOLDER`: with the tarballs of `scripts/tarballs.mjs`, on this Node and any system.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { installAndRun } from "./installed-programs.mjs"
import { npmNode } from "./managers.mjs"
import { pack, readManifest } from "./manifest.mjs"
import { support } from "./support.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [first, ...further] = process.argv.slice(2)
const work = mkdtempSync(join(tmpdir(), "plaza-installs-"))
const { version } = readManifest(join(root, "apps/cli"))

/** @param {string} folder @param {string} name */
const tarballIn = (folder, name) => {
  const file = readdirSync(folder).find((file) => file.startsWith(`plaza-${name}-`) && file.endsWith(".tgz"))
  if (file === undefined) throw new Error(`${folder} has no tarball of @plaza/${name}`)
  return join(folder, file)
}

/** @param {string} name @param {(folder: string) => string} node @param {readonly [string, string]} tarballs */
const checkIn = async (name, node, tarballs) => {
  const folder = join(work, name)
  mkdirSync(folder)
  process.stdout.write(await installAndRun({ folder, node: node(folder), tarballs, version }))
}

try {
  if (first === "--tarballs") {
    const folder = resolve(further[0] ?? ".")
    await checkIn("this", () => process.execPath, [tarballIn(folder, "cli"), tarballIn(folder, "stock-sync")])
  } else {
    for (const name of ["cli", "stock-sync"]) pack(join(root, "apps", name), ["--pack-destination", work])
    for (const version of first === undefined ? support.node : [first, ...further]) {
      await checkIn(version, (folder) => npmNode(join(folder, "node"), version), [tarballIn(work, "cli"), tarballIn(work, "stock-sync")])
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
