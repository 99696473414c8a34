/**
 * Bundles an app into a `dist` folder that plain Node runs anywhere, with the native database module beside it: `node
 * scripts/bundle.mjs APPDIR`. The name of the program comes from `bin` in its package.json, its entry is
 * `src/bin.ts`, its manual `src/manual.ts`. `config.warm` are arguments that run most of its code, with
 * `config.warmStdin` as input, so that it is compiled ahead.
 */
import { rmSync } from "node:fs"
import * as Path from "node:path"
import { rolldown } from "rolldown"
import { copyPackage, readManifest } from "./bundleNative.mjs"
import { writeCompiled, writeLauncher, writeManual } from "./bundleStart.mjs"

/** Modules with a native part: they stay files of their own, and are loaded by the commands that open a database. */
const native = ["better-sqlite3"]

if (process.argv[2] === undefined) throw new Error("name the app: node scripts/bundle.mjs APPDIR")
const app = Path.resolve(process.argv[2])
const dist = Path.join(app, "dist")
const manifest = readManifest(app)
const [name, target] = Object.entries(manifest.bin ?? {})[0] ?? []
if (name === undefined || target === undefined) throw new Error(`${manifest.name} has no program: name one under bin in its package.json`)
if (Path.resolve(app, target) !== Path.join(dist, `${name}.mjs`)) throw new Error(`bin of ${manifest.name} has to name ./dist/${name}.mjs`)

/** @type {Partial<import("rolldown").InputOptions>} */
const input = {
  cwd: app,
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
}

rmSync(dist, { recursive: true, force: true })
const bundle = await rolldown({ ...input, input: { program: "src/bin.ts" } })
// Compiled code can be kept of scripts only, which CommonJS is, and modules are not.
await bundle.write({ dir: dist, format: "cjs", minify: true, entryFileNames: "[name].cjs", chunkFileNames: "chunks/[name]-[hash].cjs" })
await bundle.close()
for (const module of native) {
  if (manifest.dependencies?.[module] === undefined) continue
  if (!copyPackage(module, app, Path.join(dist, "node_modules"))) throw new Error(`${module} is not installed: run the install again`)
}
await writeManual({ app, dist, input, name })
await writeLauncher({ dist, input, name })
const { warm, warmStdin } = manifest.config ?? {}
if (warm !== undefined) await writeCompiled({ dist, input, words: warm, stdin: warmStdin })
