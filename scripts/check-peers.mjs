/**
 * Installs the tarballs of the libraries from the registry beside the oldest and the newest peers that they allow, and checks and runs a
 * program with each supported TypeScript: `node scripts/check-peers.mjs`. Requires built packages and the registry, and takes some minutes. The
 * SDK has no peers: `scripts/check-sdk.mjs` installs it.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { readManifest } from "./manifest.mjs"
import { support } from "./support.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** @param {string} command @param {ReadonlyArray<string>} args @param {string} cwd */
const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" })

const folders = readdirSync(join(root, "packages")).map((name) => join(root, "packages", name)).filter((folder) =>
  !readManifest(folder).private && readManifest(folder).peerDependencies !== undefined
)
const own = new Set(folders.map((folder) => readManifest(folder).name))
const peers = new Map(
  folders.flatMap((folder) => Object.entries(readManifest(folder).peerDependencies ?? {})).filter(([name]) => !own.has(name))
)

/**
 * The oldest version of each range and, of the peers of these, the oldest that they allow. npm alone would select the newest, which require
 * newer versions of the others. Other packages than those of Effect have no such ties.
 * @param {Iterable<readonly [name: string, range: string]>} ranges
 * @param {Map<string, string>} found
 */
const oldestOf = (ranges, found = new Map()) => {
  for (const [name, range] of ranges) {
    if (found.has(name) || !/^(?:@effect\/|effect$)/.test(name)) continue
    const version = range.slice(1)
    found.set(name, version)
    // The cast is true: the registry requires this form of a manifest. Without peers, npm prints nothing.
    const peersOf = /** @type {Record<string, string>} */ (JSON.parse(
      run("npm", ["view", `${name}@${version}`, "peerDependencies", "--json"], root) || "{}"
    ))
    oldestOf(Object.entries(peersOf), found)
  }
  return found
}

const packed = mkdtempSync(join(tmpdir(), "plaza-packed-"))
const tarballs = folders.map((folder) => {
  const tarball = join(packed, `${readManifest(folder).name.replace("@plaza/", "")}.tgz`)
  run("npx", ["-y", `pnpm@${readManifest(root).devEngines?.packageManager.version}`, "pack", "--out", tarball], folder)
  return tarball
})
const programs = folders.flatMap((folder) =>
  [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""], index) => ({
    file: `${folder.slice(folder.lastIndexOf("/") + 1)}-${index}.ts`,
    code
  }))
)

try {
  for (const which of ["oldest", "newest"]) {
    const project = mkdtempSync(join(tmpdir(), "plaza-peers-"))
    try {
      const versions = [...which === "oldest" ? oldestOf(peers) : peers].map(([name, version]) => `${name}@${version}`)
      writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }))
      const compilers = support.typescriptOfLibraries.map((version) => ({ name: `typescript-${version}`, version }))
      const tools = compilers.map(({ name, version }) => `${name}@npm:typescript@${version}`)
      run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...tarballs, ...versions, ...tools, "@types/node@22"], project)
      for (const { code, file } of programs) writeFileSync(join(project, file), code)
      const files = programs.map(({ file }) => file)
      for (const { name: compiler } of compilers) {
        for (const resolution of [["--module", "nodenext"], ["--module", "preserve", "--moduleResolution", "bundler"]]) {
          for (const exact of [[], ["--exactOptionalPropertyTypes"]]) {
            const options = [...resolution, ...exact]
            const strict = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022", "--types", "node"]
            run(process.execPath, [join(project, "node_modules", compiler, "bin/tsc"), ...strict, ...options, ...files], project)
            process.stdout.write(`${which} peers, ${compiler} ${options.join(" ")}: no error\n`)
          }
        }
      }
      const emit = ["--module", "nodenext", "--target", "es2022", "--skipLibCheck", "--types", "node", "--outDir", "out"]
      run(process.execPath, [join(project, "node_modules", compilers.at(-1)?.name ?? "", "bin/tsc"), ...emit, ...files], project)
      for (const file of files) {
        const printed = run(process.execPath, [join("out", file.replace(/ts$/, "js"))], project).trim()
        process.stdout.write(`${which} peers, ${file} printed: ${printed}\n`)
      }
    } finally {
      rmSync(project, { recursive: true, force: true })
    }
  }
} finally {
  rmSync(packed, { recursive: true, force: true })
}
