/**
 * Makes an app's `dist` a program that plain node runs wherever the folder is moved: everything bundled, the native database module copied beside it.
 * `node scripts/bundle.mjs APPDIR`; the program's name comes from `bin` in the app's package.json, its entry is `src/bin.ts`.
 * Knows nothing of what the program does.
 */
import { chmodSync, cpSync, existsSync, readFileSync, realpathSync, rmSync } from "node:fs"
import * as Path from "node:path"
import { rolldown } from "rolldown"

/** Modules with a native part: they stay files of their own, and are loaded by the commands that open a database. */
const native = ["better-sqlite3"]

/**
 * @typedef {{ readonly name: string, readonly version: string, readonly bin?: Record<string, string>,
 *   readonly dependencies?: Record<string, string>, readonly optionalDependencies?: Record<string, string> }} Manifest
 */

/**
 * The cast stands because every package that was installed has been read as a manifest by the package manager.
 * @param {string} folder
 */
const readManifest = (folder) => /** @type {Manifest} */ (/** @type {unknown} */ (JSON.parse(readFileSync(Path.join(folder, "package.json"), "utf8"))))

/**
 * Where an installed package really lies, as node would find it from a folder; undefined if it isn't installed.
 * @param {string} name
 * @param {string} from
 */
const locate = (name, from) => {
  for (let folder = from; ; folder = Path.dirname(folder)) {
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
const copyPackage = (name, from, into, copied = new Map()) => {
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

if (process.argv[2] === undefined) throw new Error("name the app: node scripts/bundle.mjs APPDIR")
const app = Path.resolve(process.argv[2])
const dist = Path.join(app, "dist")
const manifest = readManifest(app)
const [name, target] = Object.entries(manifest.bin ?? {})[0] ?? []
if (name === undefined || target === undefined) throw new Error(`${manifest.name} has no program: name one under bin in its package.json`)
if (Path.resolve(app, target) !== Path.join(dist, `${name}.mjs`)) throw new Error(`bin of ${manifest.name} has to name ./dist/${name}.mjs`)

rmSync(dist, { recursive: true, force: true })
const bundle = await rolldown({
  cwd: app,
  input: { [name]: "src/bin.ts" },
  platform: "node",
  external: (id) => native.some((module) => id === module || id.startsWith(`${module}/`)),
  resolve: {
    // "import" and "require" are added by what asks: with either for both, a package would be asked for in the form that it was not written for.
    conditionNames: ["@plaza/source", "node"],
    extensionAlias: { ".js": [".ts", ".js"] }
  },
  transform: { target: "node20", define: { __PLAZA_VERSION__: JSON.stringify(manifest.version) } },
  onLog: (level, log, handle) => {
    // What can't be resolved would be missed only on the machine where `dist` is moved to.
    if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
    handle(level, log)
  }
})
await bundle.write({
  dir: dist,
  format: "esm",
  minify: true,
  entryFileNames: "[name].mjs",
  chunkFileNames: "chunks/[name]-[hash].mjs",
  banner: (chunk) => (chunk.isEntry ? "#!/usr/bin/env node" : "")
})
await bundle.close()
chmodSync(Path.join(dist, `${name}.mjs`), 0o755)
for (const module of native) {
  if (manifest.dependencies?.[module] === undefined) continue
  if (!copyPackage(module, app, Path.join(dist, "node_modules"))) throw new Error(`${module} is not installed: run the install again`)
}
