/**
 * Bundles `@plaza/sdk` with everything that it imports: `node scripts/bundle-sdk.ts`. The entry for pages and edge runtimes imports nothing, those
 * for Node, Bun and Deno import only modules of Node.
 */
import { rmSync, writeFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { undici } from "./bundle-changes.mjs"
import { licenses, packagesOf, sbom } from "./inventory.mjs"

const folder = fileURLToPath(new URL("../packages/sdk", import.meta.url))
const dist = join(folder, "dist")

/** Writes a bundle, and returns the modules in it. */
const bundle = async (platform: "browser" | "node", entries: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const build = await rolldown({
    cwd: folder,
    input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
    platform,
    resolve: { conditionNames: ["@plaza/source", platform] },
    plugins: [undici()],
    transform: { target: "es2022" },
    treeshake: { moduleSideEffects: [{ external: true, sideEffects: false }] },
    onLog: (level, log, handle) => {
      // An unresolved import would fail only on the machine of a user.
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
      handle(level, log)
    }
  })
  const { output } = await build.write({
    dir: dist,
    format: "es",
    // Names stay, so that a stack trace is readable. Bundlers of pages shorten them.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
    comments: false,
    chunkFileNames: "[name].js"
  })
  await build.close()
  const files = new Set(output.map(({ fileName }) => fileName))
  return output.flatMap((file) => {
    if (file.type !== "chunk") return []
    const foreign = [...file.imports, ...file.dynamicImports].filter((name) =>
      !files.has(name) && !(platform === "node" && isBuiltin(name))
    )
    if (foreign.length > 0) throw new Error(`dist/${file.fileName} imports ${foreign.join(", ")}`)
    return file.moduleIds
  })
}

rmSync(dist, { recursive: true, force: true })
const modules = [...await bundle("browser", ["index"]), ...await bundle("node", ["node", "files"])]
const packages = packagesOf(modules)
writeFileSync(join(dist, "THIRD-PARTY-LICENSES"), licenses(packages))
writeFileSync(join(dist, "sbom.cdx.json"), sbom(folder, packages))
