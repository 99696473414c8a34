/** Copies a package with native code, which can't be bundled, and its dependencies into a folder. */
import { cpSync, existsSync, readFileSync, realpathSync } from "node:fs"
import * as Path from "node:path"

/**
 * @typedef {{ readonly name: string, readonly version: string, readonly bin?: Record<string, string>,
 *   readonly config?: { readonly warm?: ReadonlyArray<string>, readonly warmStdin?: string, readonly hot?: ReadonlyArray<string> },
 *   readonly dependencies?: Record<string, string>, readonly optionalDependencies?: Record<string, string> }} Manifest
 */

/**
 * The cast is true because the package manager has read the same file as a manifest.
 * @param {string} folder
 */
export const readManifest = (
  folder
) => /** @type {Manifest} */ (/** @type {unknown} */ (JSON.parse(readFileSync(Path.join(folder, "package.json"), "utf8"))))

/**
 * Finds the real folder of an installed package as Node resolves it from a folder; undefined if it isn't installed.
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
 * Copies a package and its dependencies, flat, into a `node_modules` folder. The optional dependencies are builds for single platforms,
 * of which only that of this machine is installed. Returns false if the package isn't installed.
 * @param {string} name
 * @param {string} from
 * @param {string} into
 * @param {Map<string, string>} copied the source folder of each copied package
 * @returns {boolean}
 */
export const copyPackage = (name, from, into, copied = new Map()) => {
  const source = locate(name, from)
  if (source === undefined) return false
  const earlier = copied.get(name)
  if (earlier !== undefined) {
    if (earlier !== source) throw new Error(`two versions of ${name} are required (${earlier}, ${source}), and a flat copy can hold one`)
    return true
  }
  copied.set(name, source)
  // Without nested node_modules, which contain pnpm's links. The loop below copies the dependencies.
  cpSync(source, Path.join(into, name), { recursive: true, dereference: true, filter: (path) => Path.basename(path) !== "node_modules" })
  const manifest = readManifest(source)
  for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const found = copyPackage(dependency, source, into, copied)
    if (!found && manifest.optionalDependencies?.[dependency] === undefined) {
      throw new Error(`${name} requires ${dependency}, which is not installed: run the installation again`)
    }
  }
  const platforms = Object.keys(manifest.optionalDependencies ?? {})
  if (platforms.length > 0 && !platforms.some((platform) => copied.has(platform))) {
    throw new Error(`no build of ${name} for ${process.platform} ${process.arch} is installed: install with optional dependencies`)
  }
  return true
}
