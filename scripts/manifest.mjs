/** Reads manifests, finds installed packages, and finds and packs published ones. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs"
import * as Path from "node:path"

/**
 * @typedef {{ readonly name: string, readonly version: string, readonly private?: boolean, readonly description?: string,
 *   readonly license?: string, readonly author?: string | { readonly name?: string }, readonly bin?: Readonly<Record<string, string>>,
 *   readonly config?: { readonly programs?: Readonly<Record<string, string>>, readonly chunks?: Readonly<Record<string, ReadonlyArray<string>>> },
 *   readonly engines?: { readonly node?: string },
 *   readonly devEngines?: { readonly packageManager: { readonly version: string } },
 *   readonly dependencies?: Readonly<Record<string, string>>, readonly optionalDependencies?: Readonly<Record<string, string>>,
 *   readonly peerDependencies?: Readonly<Record<string, string>> }} Manifest
 */

/**
 * The cast is true because the package manager has read the same file as a manifest.
 * @param {string} folder
 */
export const readManifest = (folder) => {
  const { licenses, ...manifest } = /** @type {Manifest & { readonly licenses?: ReadonlyArray<{ readonly type: string }> }} */ (
    /** @type {unknown} */ (JSON.parse(readFileSync(Path.join(folder, "package.json"), "utf8")))
  )
  // The form of old manifests.
  return manifest.license === undefined && licenses !== undefined
    ? { ...manifest, license: licenses.map(({ type }) => type).join(" OR ") }
    : manifest
}

/**
 * The folder of the package that a file belongs to. A `package.json` without a name only sets the form of the modules below it.
 * @param {string} file
 * @returns {string | undefined}
 */
export const packageOf = (file) => {
  for (let folder = Path.dirname(file);; folder = Path.dirname(folder)) {
    if (existsSync(Path.join(folder, "package.json"))) {
      const { name, version } = /** @type {Partial<Manifest>} */ (readManifest(folder))
      if (name !== undefined && version !== undefined) return folder
    }
    if (folder === Path.dirname(folder)) return undefined
  }
}

/**
 * The real folder of an installed package as Node resolves it from a folder; undefined if it is not installed.
 * @param {string} name
 * @param {string} from
 */
export const locate = (name, from) => {
  for (let folder = from;; folder = Path.dirname(folder)) {
    const candidate = Path.join(folder, "node_modules", name)
    if (existsSync(Path.join(candidate, "package.json"))) return realpathSync(candidate)
    if (folder === Path.dirname(folder)) return undefined
  }
}

/** The folders of the published packages. The first ones have the dependencies of the others. */
export const publishedFolders = () =>
  ["packages", "apps"].flatMap((parent) => readdirSync(parent).sort().map((name) => Path.join(parent, name)))
    .filter((folder) => existsSync(Path.join(folder, "package.json")) && readManifest(folder).private !== true)

/**
 * Packs a built package. pnpm packs, because it replaces `workspace:` and `catalog:`.
 * @param {string} folder
 * @param {ReadonlyArray<string>} options
 */
export const pack = (folder, options) => {
  const { name, version } = readManifest(folder)
  if (!existsSync(Path.join(folder, "dist"))) throw new Error(`${name}@${version} is not built: run the build first`)
  execFileSync("npx", ["-y", "pnpm@12.21.0", "pack", ...options], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
}
