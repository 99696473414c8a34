/**
 * The published libraries as a stranger gets them: from their tarballs, with nothing else but the dependencies and peers that they declare.
 * `scripts/check-peers.mjs` installs them from the registry beside the oldest and the newest peers.
 */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly version: string
  readonly license?: string
  readonly description?: string
  readonly keywords?: ReadonlyArray<string>
  readonly homepage?: string
  readonly bugs?: string
  readonly repository?: { readonly url: string; readonly directory: string }
  readonly engines?: { readonly node: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

// The cast is true: `Manifest` has the fields of a package.json that this test reads, and the checks below fail for another form.
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

const libraries = readdirSync(join(root, "packages")).map((name) => join(root, "packages", name))
  .filter((folder) => manifestOf(folder).private !== true)

const namesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

/** An empty project of a stranger, with the packages of the tarballs. */
const stranger = mkdtempSync(join(tmpdir(), "plaza-packages-"))
const installed = (name: string) => join(stranger, "node_modules", name)
afterAll(() => rmSync(stranger, { recursive: true, force: true }))

/** Links a dependency as the workspace has it into the project. */
const link = (from: string, name: string) => {
  const source = join(from, "node_modules", name)
  if (existsSync(installed(name)) || !existsSync(source)) return
  mkdirSync(dirname(installed(name)), { recursive: true })
  symlinkSync(realpathSync(source), installed(name))
}

beforeAll(async () => {
  const { devEngines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly devEngines: { readonly packageManager: { readonly version: string } }
  }
  for (const folder of libraries) {
    const { name } = manifestOf(folder)
    const tarball = join(stranger, "package.tgz")
    await run("npx", ["-y", `pnpm@${devEngines.packageManager.version}`, "pack", "--out", tarball], { cwd: folder })
    mkdirSync(installed(name), { recursive: true })
    await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed(name)])
  }
  for (const folder of libraries) {
    const { dependencies = {}, peerDependencies = {} } = manifestOf(folder)
    for (const name of [...Object.keys(dependencies), ...Object.keys(peerDependencies)]) link(folder, name)
  }
  writeFileSync(join(stranger, "package.json"), JSON.stringify({ type: "module" }))
}, 120_000)

describe.each(libraries.map((folder) => ({ folder, name: manifestOf(folder).name })))("the tarball of $name", ({ folder, name }) => {
  it("has a README, the licence and built modules with their types, and neither tests nor build state", () => {
    const names = namesIn(installed(name))
    expect(names).toEqual(expect.arrayContaining(["README.md", "LICENSE", "package.json", "dist/index.js", "dist/index.d.ts"]))
    expect(names.filter((file) => /(?:^|\/)test\/|\.test\.|tsbuildinfo|node_modules/.test(file))).toEqual([])
  })

  it("has a manifest that a registry and a reader need", () => {
    const manifest = manifestOf(installed(name))
    const { repository } = manifestOf(root)
    expect(manifest).toMatchObject({
      name,
      license: "MIT",
      description: expect.any(String) as unknown,
      keywords: expect.arrayContaining(["effect"]) as unknown,
      homepage: expect.stringContaining(folder.slice(root.length)) as unknown,
      bugs: expect.any(String) as unknown,
      repository: { url: repository?.url, directory: folder.slice(root.length) },
      engines: { node: ">=20.18" }
    })
  })

  it("needs no version of the workspace, and its peers are ranges from 3.22 of Effect on", () => {
    const { dependencies = {}, peerDependencies = {} } = manifestOf(installed(name))
    for (const version of [...Object.values(dependencies), ...Object.values(peerDependencies)])
      expect(version).not.toMatch(/workspace|catalog/)
    expect(peerDependencies).toMatchObject({ effect: "^3.22.0" })
    for (const version of Object.values(peerDependencies)) expect(version).toMatch(/^\^/)
  })
})

/** The TypeScript of each README as a module of the project. */
const programs = libraries.flatMap((folder) =>
  [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""], index) => ({
    file: `${folder.slice(folder.lastIndexOf("/") + 1)}-${index}.ts`,
    code
  }))
)

describe("a program with the packages", () => {
  const compilers = {
    "TypeScript 5.9": createRequire(join(root, "examples/package.json")).resolve("typescript/package.json"),
    "TypeScript 7": createRequire(import.meta.url).resolve("typescript/package.json")
  }
  // Two of eight combinations, because each reads all declarations of Effect. `scripts/check-peers.mjs` tries all of them.
  const cases = [
    { compiler: "TypeScript 5.9", options: ["--module", "nodenext", "--exactOptionalPropertyTypes"] },
    { compiler: "TypeScript 7", options: ["--module", "preserve", "--moduleResolution", "bundler"] }
  ] as const

  beforeAll(() => {
    for (const { code, file } of programs) writeFileSync(join(stranger, file), code)
    link(root, "@types/node")
  })

  it.each(cases)("passes $compiler with $options, declarations included", async ({ compiler, options }) => {
    const files = programs.map(({ file }) => file)
    const strict = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022", "--types", "node"]
    const tsc = join(dirname(compilers[compiler]), "bin/tsc")
    const { stdout } = await run(process.execPath, [tsc, ...strict, ...options, ...files], { cwd: stranger })
      .catch((error: unknown) => ({ stdout: String((error as { readonly stdout?: unknown }).stdout ?? error) }))
    expect(stdout).toBe("")
  })

  it("does what the READMEs say", async () => {
    const out = join(stranger, "out")
    const tsc = join(dirname(compilers["TypeScript 7"]), "bin/tsc")
    const files = programs.map(({ file }) => file)
    await run(process.execPath, [
      tsc,
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--skipLibCheck",
      "--types",
      "node",
      "--outDir",
      out,
      ...files
    ], {
      cwd: stranger
    })
    const printed = await Promise.all(
      files.map(async (file) => (await run(process.execPath, [join(out, file.replace(/ts$/, "js"))])).stdout.trim())
    )
    expect(Object.fromEntries(files.map((file, index) => [file, printed[index]]))).toEqual({
      "client-0.ts": "",
      "domain-0.ts": "true true",
      "sandbox-0.ts": "1"
    })
  })
})
