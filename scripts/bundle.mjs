/**
 * Bundles an app into a `dist` folder that runs on plain Node without an installation: `node scripts/bundle.mjs APPDIR`.
 * The app's package.json gives the program's name (`bin`) and, for compilation at build time, arguments that run most of its code
 * (`config.warm`) with their standard input (`config.warmStdin`). The entry is `src/bin.ts`, the manual `src/manual.ts`.
 */
import { rmSync } from "node:fs"
import * as Path from "node:path"
import { rolldown } from "rolldown"
import { writeCompiled, writeLauncher, writeManual } from "./bundle-launcher.mjs"
import { copyPackage, readManifest } from "./bundle-native.mjs"

/** Modules with native code. `dist` gets a copy of each; only commands that open a database load them. */
const native = ["better-sqlite3"]

if (process.argv[2] === undefined) throw new Error("usage: node scripts/bundle.mjs APPDIR")
const app = Path.resolve(process.argv[2])
const dist = Path.join(app, "dist")
const manifest = readManifest(app)
const [name, target] = Object.entries(manifest.bin ?? {})[0] ?? []
if (name === undefined || target === undefined) throw new Error(`the package.json of ${manifest.name} has no bin`)
if (Path.resolve(app, target) !== Path.join(dist, `${name}.mjs`))
  throw new Error(`bin in the package.json of ${manifest.name} must be ./dist/${name}.mjs`)

/** @type {Partial<import("rolldown").InputOptions>} */
const input = {
  cwd: app,
  platform: "node",
  external: (id) => native.some((module) => id === module || id.startsWith(`${module}/`)),
  resolve: {
    // Without "import" and "require": rolldown adds the one that fits each import statement.
    conditionNames: ["@plaza/source", "node"],
    extensionAlias: { ".js": [".ts", ".js"] }
  },
  // Texts that a program carries, such as its skills.
  moduleTypes: { ".md": "text" },
  transform: { target: "node20", define: { __PLAZA_VERSION__: JSON.stringify(manifest.version) } },
  onLog: (level, log, handle) => {
    // An unresolved import would fail only on the machine that `dist` is copied to.
    if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
    handle(level, log)
  }
}

rmSync(dist, { recursive: true, force: true })
const bundle = await rolldown({ ...input, input: { program: "src/bin.ts" } })
// CommonJS, because V8 can store compiled code of scripts but not of modules.
await bundle.write({ dir: dist, format: "cjs", minify: true, entryFileNames: "[name].cjs", chunkFileNames: "chunks/[name]-[hash].cjs" })
await bundle.close()
for (const module of native) {
  if (manifest.dependencies?.[module] === undefined) continue
  if (!copyPackage(module, app, Path.join(dist, "node_modules"))) throw new Error(`${module} is not installed: run the installation again`)
}
await writeManual({ app, dist, input, name })
await writeLauncher({ dist, input, name })
const { warm, warmStdin } = manifest.config ?? {}
if (warm !== undefined) await writeCompiled({ dist, input, words: warm, stdin: warmStdin })
