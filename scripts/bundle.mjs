/**
 * Bundles an app into a `dist` folder that runs on plain Node without an installation: `node scripts/bundle.mjs APPDIR`.
 * The app's package.json gives the program's name (`bin`), the programs that it starts (`config.programs`: a file in `dist` and its entry),
 * and modules that are bundled into one file with what they import (`config.chunks`). The entry is `src/bin.ts`; `src/manual.ts` exports the man page.
 */
import { rmSync, writeFileSync } from "node:fs"
import * as Path from "node:path"
import { pathToFileURL } from "node:url"
import { rolldown } from "rolldown"
import { lazyCrypto, lazySegmenter, undici, withoutNativeSsh } from "./bundle-changes.mjs"
import { licenses, packagesOf, sbom } from "./inventory.mjs"
import { readManifest } from "./manifest.mjs"

if (process.argv[2] === undefined) throw new Error("usage: node scripts/bundle.mjs APPDIR")
const app = Path.resolve(process.argv[2])
const dist = Path.join(app, "dist")
const manifest = readManifest(app)
const [name, target] = Object.entries(manifest.bin ?? {})[0] ?? []
if (name === undefined || target === undefined) throw new Error(`the package.json of ${manifest.name} has no bin`)
if (Path.resolve(app, target) !== Path.join(dist, `${name}.cjs`))
  throw new Error(`bin in the package.json of ${manifest.name} must be ./dist/${name}.cjs`)

const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(manifest.engines?.node ?? "") ?? []
if (major === undefined) throw new Error(`engines.node in the package.json of ${manifest.name} must be like >=22.19`)

/**
 * The executable file. A Node that is too old must be able to read it, so it is in the JavaScript of 2009 and loads nothing before the
 * check. A signal that arrives while modules load waits for the listeners of the program: without a listener it would end the process at
 * once, and the first process of a container would never receive it. The compile cache saves a tenth of a command's time; without a folder
 * for it the program starts without it. Node itself creates the folder too, but tries forever below /proc, and creates a missing home folder.
 */
const launcher = `#!/usr/bin/env node
"use strict"
var version = process.versions.node.split(".")
if (version[0] < ${major} || (version[0] == ${major} && version[1] < ${minor})) {
  console.error("${name} needs Node ${major}.${minor} or later, and this is Node " + process.versions.node + ": install a later one from https://nodejs.org")
  process.exitCode = 2
} else {
  var signals = ["SIGHUP", "SIGINT", "SIGTERM"]
  var wait = function () {}
  signals.forEach(function (signal) { process.on(signal, wait) })
  var user = process.env.HOME || process.env.USERPROFILE
  var home = process.env.XDG_CACHE_HOME || (user ? user + "/.cache" : "")
  var fs = require("node:fs")
  var path = require("node:path")
  var folder = path.join(home, "${name}")
  if (path.isAbsolute(folder)) {
    try { fs.mkdirSync(home) } catch (_) {}
    try { fs.mkdirSync(folder) } catch (_) {}
    if (fs.existsSync(folder)) require("node:module").enableCompileCache(folder)
  }
  require("./program.cjs")
  signals.forEach(function (signal) { process.removeListener(signal, wait) })
}
`

/**
 * @param {Partial<import("rolldown").InputOptions>} input
 * @param {import("rolldown").OutputOptions} output
 */
const write = async (input, output) => {
  const bundle = await rolldown({
    cwd: app,
    platform: "node",
    resolve: {
      // As Node resolves. Without "import" and "require": rolldown adds the one that fits each import statement.
      conditionNames: ["@plaza/source", "node", "module-sync"],
      // Its other form requires its parts in a way that no bundler follows.
      alias: { "jsonc-parser$": "jsonc-parser/lib/esm/main.js" }
    },
    plugins: [undici(), lazySegmenter(), lazyCrypto(), withoutNativeSsh()],
    treeshake: { moduleSideEffects: [{ external: true, sideEffects: false }] },
    // Texts that a program carries, such as its skills.
    moduleTypes: { ".md": "text" },
    // Effect reads the variables of Vite where there are any.
    transform: { target: "node22", define: { __PLAZA_VERSION__: JSON.stringify(manifest.version), "import.meta.env": "undefined" } },
    onLog: (level, log, handle) => {
      // An unresolved import would fail only on the machine that `dist` is copied to.
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
      handle(level, log)
    },
    ...input
  })
  const written = await bundle.write({ format: "cjs", minify: true, ...output })
  await bundle.close()
  return written.output
}

rmSync(dist, { recursive: true, force: true })
const output = await write(
  { input: { program: "src/bin.ts" }, preserveEntrySignatures: false },
  {
    dir: dist,
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunks/[name]-[hash].cjs",
    // One file for what every command loads, and one for what most of them load besides: each file takes half a millisecond.
    codeSplitting: {
      groups: [
        { name: "program", test: (id) => id === Path.join(app, "src/bin.ts"), priority: 2 },
        ...Object.entries(manifest.config?.chunks ?? {}).map(([name, modules]) => ({
          name,
          test: (/** @type {string} */ id) => modules.some((path) => id === Path.resolve(app, path)),
          priority: 1
        }))
      ]
    }
  }
)
writeFileSync(Path.join(dist, `${name}.cjs`), launcher, { mode: 0o755 })
const outputs = [output]
for (const [file, entry] of Object.entries(manifest.config?.programs ?? {}))
  outputs.push(await write({ input: entry }, { file: Path.join(dist, file), codeSplitting: false }))
const packages = packagesOf(outputs.flat().flatMap((file) => file.type === "chunk" ? file.moduleIds : []))
writeFileSync(Path.join(dist, "THIRD-PARTY-LICENSES"), licenses(packages))
writeFileSync(Path.join(dist, "sbom.cdx.json"), sbom(app, packages))

const manual = Path.join(dist, "manual.mjs")
await write({ input: "src/manual.ts" }, { file: manual, format: "esm", codeSplitting: false, minify: false })
// The cast is true: this file is the bundle of `src/manual.ts`, which exports it.
const { manPage } = /** @type {{ readonly manPage: string }} */ (await import(pathToFileURL(manual).href))
rmSync(manual)
writeFileSync(Path.join(dist, `${name}.1`), manPage)
