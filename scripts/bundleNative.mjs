/** Copies a package with a native part, which can't be bundled, and its dependencies into a folder. */
import { cpSync, existsSync, readFileSync, realpathSync } from "node:fs"
import * as Path from "node:path"

/**
 * @typedef {{ readonly name: string, readonly version: string, readonly bin?: Record<string, string>,
 *   readonly config?: { readonly warm?: ReadonlyArray<string>, readonly warmStdin?: string },
 *   readonly dependencies?: Record<string, string>, readonly optionalDependencies?: Record<string, string> }} Manifest
 */

/**
 * The cast stands because every package that was installed has been read as a manifest by the package manager.
 * @param {string} folder
 */
export const readManifest = (
  folder
) => /** @type {Manifest} */ (/** @type {unknown} */ (JSON.parse(readFileSync(Path.join(folder, "package.json"), "utf8"))))

/**
 * Where an installed package really lies, as node would find it from a folder; undefined if it isn't installed.
 * @param {string} name
 * @param {string} from
 */
const locate = (name, from) => {
  for (let folder = from;; folder = Path.dirname(folder)) {
    const candidate = Path.join(folder, "node_modules", name)
    if (existsSync(Path.join(candidate, "package.json"))) return realpathSync(candidate)
    if (folder === Path.dirname(folder)) return undefined
  }
}

/**
 * Copies a package and all that it depends on, flat, into a `node_modules` folder. Optional dependencies are the builds for other
 * platforms: the one that is installed is the one for this machine. False if the package isn't installed.
 * @param {string} name
 * @param {string} from
 * @param {string} into
 * @param {Map<string, string>} copied where each package that was copied came from
 * @returns {boolean}
 */
export const copyPackage = (name, from, into, copied = new Map()) => {
  const source = locate(name, from)
  if (source === undefined) return false
  const earlier = copied.get(name)
  if (earlier !== undefined) {
    if (earlier !== source) throw new Error(`${name} is needed in two versions (${earlier}, ${source}): a flat copy can't hold both`)
    return true
  }
  copied.set(name, source)
  // A nested node_modules would carry pnpm's links with it; what is needed from there is copied below.
  cpSync(source, Path.join(into, name), { recursive: true, dereference: true, filter: (path) => Path.basename(path) !== "node_modules" })
  const manifest = readManifest(source)
  for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const found = copyPackage(dependency, source, into, copied)
    if (!found && manifest.optionalDependencies?.[dependency] === undefined) {
      throw new Error(`${name} needs ${dependency}, which is not installed: run the install again`)
    }
  }
  const platforms = Object.keys(manifest.optionalDependencies ?? {})
  if (platforms.length > 0 && !platforms.some((platform) => copied.has(platform))) {
    throw new Error(`${name} has no build for ${process.platform} ${process.arch}: install with optional dependencies`)
  }
  return true
}
