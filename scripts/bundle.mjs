/**
 * Bundles an app into a `dist` folder that runs on plain Node without an installation: `node scripts/bundle.mjs APPDIR`.
 * The app's package.json gives the program's name (`bin`) and, for compilation at build time, arguments that run most of its code
 * (`config.warm`) with their standard input (`config.warmStdin`), the modules that its most frequent commands load (`config.hot`), and the
 * programs that it starts (`config.programs`: a file in `dist` and its entry). The entry is `src/bin.ts`, the manual `src/manual.ts`.
 */
import { rmSync, writeFileSync } from "node:fs"
import * as Path from "node:path"
import { rolldown } from "rolldown"
import { deferredBuiltins } from "./bundle-builtins.mjs"
import { write, writeCompiled, writeLauncher, writeManual } from "./bundle-launcher.mjs"
import { undiciSubset } from "./bundle-undici.mjs"
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

const oldest = /^>=(\d+\.\d+)$/.exec(manifest.engines?.node ?? "")?.[1]
if (oldest === undefined) throw new Error(`engines.node in the package.json of ${manifest.name} must be like >=22.19`)

/** @type {Partial<import("rolldown").InputOptions>} */
const input = {
  cwd: app,
  platform: "node",
  resolve: {
    // Without "import" and "require": rolldown adds the one that fits each import statement.
    conditionNames: ["@plaza/source", "node"]
  },
  plugins: [deferredBuiltins(), undiciSubset()],
  treeshake: { moduleSideEffects: [{ external: true, sideEffects: false }] },
  // Texts that a program carries, such as its skills.
  moduleTypes: { ".md": "text" },
  transform: { target: "node22", define: { __PLAZA_VERSION__: JSON.stringify(manifest.version) } },
  onLog: (level, log, handle) => {
    // An unresolved import would fail only on the machine that `dist` is copied to.
    if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
    handle(level, log)
  }
}

/**
 * Escapes other characters, so that the launcher can read a file without decoding it, and V8 keeps one byte for each character.
 * @param {string} code
 */
const toAscii = (code) => {
  if (/\\\P{ASCII}|\.raw`[^`]*\P{ASCII}/u.test(code))
    throw new Error("the bundle has text that can't be escaped: see toAscii in scripts/bundle.mjs")
  return code.replace(/\P{ASCII}/gu, (character) =>
    // A character beyond the first plane is two code units, and an escape for each.
    character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""))
}

/**
 * The modules that the hot modules of the app import, themselves included; `import()` is not followed.
 * @type {Set<string>}
 */
const hot = new Set()

/** @type {import("rolldown").Plugin} */
const findHot = {
  name: "find-hot",
  buildEnd() {
    const visit = (/** @type {string} */ id) => {
      const module = hot.has(id) ? null : this.getModuleInfo(id)
      if (module === null) return
      hot.add(id)
      module.importedIds.forEach(visit)
    }
    for (const path of manifest.config?.hot ?? []) visit(Path.join(app, path))
  }
}

rmSync(dist, { recursive: true, force: true })
const syntax = await writeManual({ app, dist, input, name })
const bundle = await rolldown({
  ...input,
  input: { program: "src/bin.ts" },
  preserveEntrySignatures: false,
  plugins: [input.plugins, findHot],
  transform: { ...input.transform, define: { ...input.transform?.define, __PLAZA_SYNTAX__: JSON.stringify(JSON.stringify(syntax)) } }
})
// CommonJS, because V8 can store compiled code of scripts but not of modules.
const { output } = await bundle.write({
  dir: dist,
  format: "cjs",
  minify: true,
  // One file for what the hot modules use: each file takes time to read, and each name from another file is a call at runtime.
  codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: "program", test: (id) => hot.has(id) }] },
  entryFileNames: "[name].cjs",
  chunkFileNames: "chunks/[name]-[hash].cjs"
})
await bundle.close()
for (const file of output) if (file.type === "chunk") writeFileSync(Path.join(dist, file.fileName), toAscii(file.code))
await writeLauncher({ dist, input, name, oldest })
const { programs = {}, warm, warmStdin } = manifest.config ?? {}
for (const [file, entry] of Object.entries(programs))
  await write({ ...input, input: entry }, { file: Path.join(dist, file), format: "cjs" })
const packages = packagesOf(output.flatMap((file) => file.type === "chunk" ? file.moduleIds : []))
writeFileSync(Path.join(dist, "THIRD-PARTY-LICENSES"), licenses(packages))
writeFileSync(Path.join(dist, "sbom.cdx.json"), sbom(app, packages))
if (warm !== undefined) await writeCompiled({ dist, input, words: warm, stdin: warmStdin })
