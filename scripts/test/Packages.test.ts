/**
 * The published packages as a stranger gets them: from their tarballs, with nothing else but the dependencies and peers that they declare.
 * `scripts/check-peers.mjs` installs the libraries from the registry beside the oldest and the newest peers, `scripts/check-managers.mjs` by
 * each package manager, `scripts/check-sdk.mjs` the SDK, and `scripts/check-installs.mjs` the programs on several versions of Node. With
 * `PLAZA_NIGHTLY`, the programs run on two versions of Node, and two versions of TypeScript check the types.
 */
import { Spec, Validation } from "@cyclonedx/cyclonedx-library"
import { oldestNode } from "@plaza/testing/Nodes"
import { execFile, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire, isBuiltin } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join, posix } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { specifiersOf } from "../ImportRules.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

/** Whether to try every Node and compiler, not one of each. */
const nightly = process.env["PLAZA_NIGHTLY"] !== undefined

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly version: string
  readonly bin?: Readonly<Record<string, string>>
  readonly config?: { readonly programs?: Readonly<Record<string, string>> }
  readonly repository?: { readonly url: string; readonly directory: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, unknown>>
}

// The cast is true: `Manifest` has the fields of a package.json that this test reads, and the checks below fail for another form.
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

const publishedIn = (parent: string) =>
  readdirSync(join(root, parent)).map((name) => join(root, parent, name)).filter((folder) => manifestOf(folder).private !== true)
const packages = publishedIn("packages")
const sdk = join(root, "packages/sdk")
// Those that a program on Effect uses. The SDK is a bundle.
const libraries = packages.filter((folder) => folder !== sdk)
const apps = publishedIn("apps")
const published = [...packages, ...apps].map((folder) => ({ folder, name: manifestOf(folder).name }))

const namesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

/** An empty project of a stranger, with the packages of the tarballs. */
const stranger = mkdtempSync(join(tmpdir(), "plaza-packages-"))
const installed = (name: string) => join(stranger, "node_modules", name)
const tarball = (name: string) => join(stranger, `${name.replace("@plaza/", "plaza-")}-${manifestOf(libraries[0] ?? root).version}.tgz`)
afterAll(() => rmSync(stranger, { recursive: true, force: true }))

/** Links a dependency as the workspace has it into the project. */
const link = (from: string, name: string) => {
  const source = join(from, "node_modules", name)
  if (existsSync(installed(name)) || !existsSync(source)) return
  mkdirSync(dirname(installed(name)), { recursive: true })
  symlinkSync(realpathSync(source), installed(name))
}

/** What the command that packs printed. */
let packed = ""

beforeAll(async () => {
  packed = (await run(process.execPath, ["scripts/tarballs.mjs", stranger], { cwd: root })).stdout
  for (const { name } of published) {
    mkdirSync(installed(name), { recursive: true })
    await run("tar", ["-xzf", tarball(name), "--strip-components=1", "-C", installed(name)])
  }
  for (const folder of libraries) {
    const { dependencies = {}, peerDependencies = {} } = manifestOf(folder)
    for (const name of [...Object.keys(dependencies), ...Object.keys(peerDependencies)]) link(folder, name)
  }
  writeFileSync(join(stranger, "package.json"), JSON.stringify({ type: "module" }))
}, 120_000)

/** The names of packages that the modules of a folder import. */
const importedBy = (folder: string, pattern: RegExp): ReadonlySet<string> =>
  new Set(
    namesIn(folder).filter((file) => pattern.test(file))
      .flatMap((file) => specifiersOf(file, readFileSync(join(folder, file), "utf8").replace(/^#!.*/, "")))
      .filter((specifier) => !specifier.startsWith(".") && !isBuiltin(specifier))
      .map((specifier) => specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/"))
  )

describe.each(published)("the tarball of $name", ({ folder, name }) => {
  it("leaves no file behind that packing wrote", async () => {
    const { stdout } = await run("git", ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "."], { cwd: folder })
    expect(stdout.split("\n").filter((file) => !/^(?:node_modules\/|dist\/|build\/|\.turbo\/|)$/.test(file))).toEqual([])
  })

  it("has a manifest that a registry and a reader need", () => {
    const manifest = manifestOf(installed(name))
    const { repository } = manifestOf(root)
    expect(manifest).toMatchObject({
      name,
      license: "MIT",
      description: expect.any(String) as unknown,
      keywords: expect.arrayContaining(["plaza"]) as unknown,
      homepage: expect.stringContaining(folder.slice(root.length)) as unknown,
      bugs: expect.any(String) as unknown,
      repository: { url: repository?.url, directory: folder.slice(root.length) },
      engines: { node: ">=22.19" },
      publishConfig: { access: "public" }
    })
  })

  it("has notes for coding agents and the pages that concern it, all of whose links lead somewhere", () => {
    const names = namesIn(installed(name))
    const pages = names.filter((file) => file.startsWith("docs/"))
    expect(pages.length).toBeGreaterThan(0)
    const agents = readFileSync(join(installed(name), "AGENTS.md"), "utf8")
    expect(agents).toContain(`# ${name} ${manifestOf(folder).version}: notes for coding agents\n`)
    expect(pages.filter((page) => !agents.includes(`](${page})`))).toEqual([])
    const targets = ["AGENTS.md", ...pages].flatMap((file) =>
      [...readFileSync(join(installed(name), file), "utf8").matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)].map(([, target = ""]) => ({
        file,
        target
      }))
    )
    const broken = targets.filter(({ file, target }) => {
      const [, path] = /^https:\/\/github\.com\/plaza-toolkit\/plaza\/blob\/main\/(.*)/.exec(target) ?? []
      return path !== undefined
        ? !existsSync(join(root, path))
        : !/^\w+:/.test(target) && !names.includes(posix.join(dirname(file), target))
    })
    expect(broken).toEqual([])
  })

  it("has a valid bill of materials with the package and all that it requires", async () => {
    const { bin, dependencies, optionalDependencies, peerDependencies, version } = manifestOf(folder)
    const isBundle = bin !== undefined || folder === sdk
    const text = readFileSync(join(installed(name), isBundle ? "dist/sbom.cdx.json" : "sbom.cdx.json"), "utf8")
    expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
    const bom = JSON.parse(text) as {
      readonly metadata: { readonly component: { readonly purl: string } }
      readonly components: ReadonlyArray<{
        readonly group?: string
        readonly name: string
        readonly purl: string
        readonly hashes?: ReadonlyArray<{ readonly alg: string; readonly content: string }>
      }>
    }
    const unhashed = bom.components.filter(({ hashes = [] }) => !hashes.some(({ alg }) => alg === "SHA-512")).map(({ purl }) => purl)
    expect(unhashed.filter((purl) => !purl.startsWith("pkg:npm/%40plaza/"))).toEqual([])
    expect(bom.metadata.component.purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`)
    const names = bom.components.map((component) => [...component.group === undefined ? [] : [component.group], component.name].join("/"))
    expect(names).toEqual(expect.arrayContaining(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })))
  })
})

describe.each(libraries.map((folder) => ({ folder, name: manifestOf(folder).name })))("the library $name", ({ name }) => {
  it("has built modules, types, sources, documentation and nothing else", () => {
    const names = namesIn(installed(name))
    expect(names).toEqual(
      expect.arrayContaining(["README.md", "LICENSE", "AGENTS.md", "package.json", "sbom.cdx.json", "dist/index.js", "dist/index.d.ts"])
    )
    const expected =
      /^(?:README\.md|LICENSE|AGENTS\.md|package\.json|sbom\.cdx\.json|(?:control-)?openapi\.json|docs\/.*\.md|src\/.*\.ts|dist\/.*\.(?:js|d\.ts)(?:\.map)?)$/
    expect(names.filter((file) => !expected.test(file) || /(?:^|\/)test\/|\.test\./.test(file))).toEqual([])
  })

  it("needs no version of the workspace, and its peers are ranges from 4.1 of Effect on", () => {
    const { dependencies = {}, peerDependencies = {} } = manifestOf(installed(name))
    for (const version of [...Object.values(dependencies), ...Object.values(peerDependencies)])
      expect(version).not.toMatch(/workspace|catalog/)
    expect(peerDependencies).toMatchObject({ effect: "^4.1.0" })
    for (const version of Object.values(peerDependencies)) expect(version).toMatch(/^\^/)
  })

  it("declares what its modules and types import, and nothing else", () => {
    const { dependencies = {}, peerDependencies = {} } = manifestOf(installed(name))
    expect([...importedBy(installed(name), /^dist\/.*\.(?:js|d\.ts)$/)].toSorted()).toEqual(
      Object.keys({ ...dependencies, ...peerDependencies }).toSorted()
    )
  })
})

describe("the SDK", () => {
  const folder = installed("@plaza/sdk")

  it("has its bundles, types, licences and documentation and nothing else", () => {
    const modules = ["index.js", "files.js", "node.js"].map((name) => `dist/${name}`)
    const documents = ["README.md", "LICENSE", "AGENTS.md", "package.json", "dist/THIRD-PARTY-LICENSES", "dist/sbom.cdx.json"]
    const names = namesIn(folder)
    expect(names).toEqual(expect.arrayContaining([...modules, ...documents, "index.d.ts"]))
    expect(names.filter((file) => !/^(?:docs\/.*\.md|dist\/\w+\.js|index\.d\.ts)$/.test(file) && !documents.includes(file))).toEqual([])
  })

  it("requires no other package, also for its types", () => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(folder)
    expect({ dependencies, optionalDependencies, peerDependencies }).toEqual({
      dependencies: undefined,
      optionalDependencies: undefined,
      peerDependencies: undefined
    })
    expect([...importedBy(folder, /\.(?:js|d\.ts)$/)]).toEqual([])
  })

  it("does what its README says", async () => {
    const [, code = ""] = /^```ts\n([^]*?)^```$/m.exec(readFileSync(join(folder, "README.md"), "utf8")) ?? []
    writeFileSync(join(stranger, "sdk.ts"), code)
    const sandbox = spawn(process.execPath, [
      "--input-type=module",
      "--eval",
      `import { startSandbox } from "@plaza/sandbox/promise"
const { apiKey, baseUrl } = await startSandbox({ port: 0 })
console.log(JSON.stringify({ PLAZA_API_KEY: apiKey, PLAZA_BASE_URL: baseUrl }))`
    ], { cwd: stranger, stdio: ["ignore", "pipe", "inherit"] })
    try {
      let line = ""
      for await (line of createInterface(sandbox.stdout)) break
      // True because the program above prints it.
      const env = JSON.parse(line) as Readonly<Record<string, string>>
      expect(await run(process.execPath, ["sdk.ts"], { cwd: stranger, env })).toEqual({
        stdout: "12 The blue mugs are back.\n",
        stderr: ""
      })
    } finally {
      sandbox.kill()
    }
  })
})

describe.each(apps.map((folder) => ({ folder, name: manifestOf(folder).name })))("the program $name", ({ folder, name }) => {
  it("has its bundle, manual, licences and documentation, and nothing that runs on one platform only", () => {
    const { bin = {}, config: { programs = {} } = {} } = manifestOf(folder)
    const [program = ""] = Object.keys(bin)
    const names = namesIn(installed(name))
    const files = ["README.md", "LICENSE", "AGENTS.md", "package.json", "dist/THIRD-PARTY-LICENSES", "dist/sbom.cdx.json"]
    expect(names).toEqual(expect.arrayContaining([...files, `dist/${program}.cjs`, `dist/${program}.1`, "dist/program.cjs"]))
    const expected = /^(?:docs\/.*\.md|deploy\/.*|dist\/chunks\/.*\.cjs|dist\/(?:launch|program)\.cjs|dist\/manual\.json)$/
    const ofProgram = [...["cjs", "1"].map((extension) => `${program}.${extension}`), ...Object.keys(programs)].map((file) =>
      `dist/${file}`
    )
    expect(names.filter((file) => !expected.test(file) && !files.includes(file) && !ofProgram.includes(file))).toEqual([])
  })

  it("has the files of a deployment if it is a worker, as the repository has them and without their tests", () => {
    const names = namesIn(installed(name)).filter((file) => file.startsWith("deploy/")).toSorted()
    expect(names.length > 0).toBe(name === "@plaza/stock-sync")
    for (const file of names) expect(readFileSync(join(installed(name), file), "utf8")).toBe(readFileSync(join(root, file), "utf8"))
    const folders = name === "@plaza/stock-sync" ? ["systemd", "kubernetes", "prometheus", "grafana"] : []
    const files = folders.flatMap((each) => namesIn(join(root, "deploy", each)).map((file) => `deploy/${each}/${file}`))
    expect(names).toEqual(files.filter((file) => !file.includes(".test.")).toSorted())
  })

  it("requires no other package", () => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(installed(name))
    expect({ dependencies, optionalDependencies, peerDependencies }).toEqual({
      dependencies: undefined,
      optionalDependencies: undefined,
      peerDependencies: undefined
    })
    // What bundled packages try to load: colours of mysql2, a faster ws, another driver of pg.
    const optional = ["bufferutil", "cardinal", "pg-native", "utf-8-validate"]
    expect([...importedBy(installed(name), /^dist\/.*\.cjs$/)].filter((each) => !optional.includes(each))).toEqual([])
  })
})

describe("the programs, installed by npm without the registry", () => {
  const prefix = join(stranger, "prefix")
  const home = join(stranger, "home")
  const bin = (program: string) => join(prefix, "bin", program)
  const settings = { HOME: home, PATH: process.env["PATH"] }

  beforeAll(async () => {
    mkdirSync(home)
    const options = ["--global", "--prefix", prefix, "--offline", "--cache", join(stranger, "cache"), "--no-audit", "--no-fund"]
    await run("npm", ["install", ...options, ...apps.map((folder) => tarball(manifestOf(folder).name))], { env: settings })
  })

  /** The shell blocks of a README, as lines. */
  const blocksOf = (folder: string) =>
    [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = ""]) =>
      block.trim().split("\n")
    )
  const [cli = [], worker = []] = ["apps/cli", "apps/stock-sync"].map((folder) => blocksOf(join(root, folder)))

  it("print their version, help and manual page", async () => {
    for (const folder of apps) {
      const { bin: names = {}, version } = manifestOf(folder)
      for (const program of Object.keys(names)) {
        expect(await run(bin(program), ["--version"], { env: settings })).toEqual({ stdout: `${version}\n`, stderr: "" })
        expect((await run(bin(program), ["--help"], { env: settings })).stdout).toContain(`Usage: ${program}`)
        expect(readFileSync(join(prefix, "share/man/man1", `${program}.1`), "utf8")).toContain(".TH")
      }
    }
  })

  const nodes = [...new Set([oldestNode, ...nightly ? [process.execPath] : []])]
  it.each(nodes)("do what the READMEs say on %s, with a sandbox and a ledger in SQLite", async (node) => {
    const folder = mkdtempSync(join(stranger, "work-"))
    writeFileSync(join(folder, "stock.csv"), "productId,stock\nMUG-BLUE-350,12\n")
    const options = { cwd: folder, env: { ...settings, PATH: `${join(prefix, "bin")}:${dirname(node)}:${settings.PATH}` } }
    const [start = "", ...rest] = cli[0]?.slice(1) ?? []
    expect([cli[0]?.[0], start, rest]).toEqual(["npm install --global ~/plaza-packages/plaza-cli-*.tgz", "plaza sandbox start", []])
    const sandbox = spawn("sh", ["-c", `exec ${start} --port 0`], { ...options, stdio: ["ignore", "pipe", "ignore"] })
    try {
      let exported = ""
      for await (const line of createInterface(sandbox.stdout)) if ((exported = line).startsWith("export ")) break
      const shell = async (command: string) => run("sh", ["-euc", `${exported}\n${command}`], options)
      const lines = cli[1] ?? []
      expect(lines[0]).toBe("plaza me")
      const printed = []
      for (const line of lines) printed.push(await shell(line))
      expect(printed.map(({ stderr }) => stderr)).toEqual(lines.map(() => ""))
      expect(printed[0]?.stdout).toContain("corner-shop")
      expect(printed[2]?.stdout).toContain("Fresh tea today.")
      expect(JSON.parse(printed[3]?.stdout ?? "")).toMatchObject({ id: "MUG-BLUE-350", stock: 12 })

      expect(worker.map((block) => block.length)).toEqual([1, 1, 1])
      const [, [plan = ""] = [], [once = ""] = []] = worker
      expect([plan, once]).toEqual(["plaza-stock-sync plan --source stock.csv", "plaza-stock-sync once --source stock.csv"])
      expect((await run("sh", ["-c", plan], options)).stdout).toMatch(/^to send\t1$/m)
      expect((await shell(once)).stdout).toMatch(/^confirmed\t1$/m)
      const again = await shell(once)
      expect(again.stderr).toBe("")
      expect(again.stdout).toMatch(/^unchanged\t1$/m)
      expect(readdirSync(folder)).toContain("plaza-stock-sync.sqlite")
    } finally {
      const ended = new Promise((resolve) => sandbox.once("close", resolve))
      sandbox.kill()
      expect(await ended).toBe(0)
    }
  })
})

/** The TypeScript of each README as a module of the project. */
const programs = packages.flatMap((folder) =>
  [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""], index) => ({
    file: `${folder.slice(folder.lastIndexOf("/") + 1)}-${index}.ts`,
    code
  }))
)

it("the command that packs prints the line that installs each package", () => {
  const lines = packed.split("\n").filter((line) => line.startsWith("npm install "))
  expect(packed).toContain(`The tarballs are in ${stranger}.`)
  expect(lines).toHaveLength(published.length)
  for (const { folder, name } of published) {
    const { bin, peerDependencies = {} } = manifestOf(folder)
    const words = lines.find((line) => line.endsWith(` ${tarball(name)}`))?.split(" ").slice(2) ?? []
    const peers = Object.keys(peerDependencies).map((peer) => published.some(({ name }) => name === peer) ? tarball(peer) : peer)
    expect([name, words]).toEqual([name, [...bin === undefined ? [] : ["--global"], ...peers, tarball(name)]])
    expect(words.filter((word) => word.endsWith(".tgz") && !existsSync(word))).toEqual([])
  }
})

it.each([[[]], [["one", "two"]], [["--help"]]])("the command that packs refuses %j with one sentence", async (words) => {
  await expect(run(process.execPath, ["scripts/tarballs.mjs", "--build", ...words], { cwd: root })).rejects.toMatchObject({
    code: 2,
    stdout: "",
    stderr: "Name one folder for the tarballs, such as ~/plaza-packages.\n"
  })
})

describe("a program with the packages", () => {
  const compilers = {
    "TypeScript 5.9": createRequire(join(root, "examples/package.json")).resolve("typescript/package.json"),
    "TypeScript 7": createRequire(import.meta.url).resolve("typescript/package.json")
  }
  // Few of eight combinations, because each reads all declarations of Effect. `scripts/check-peers.mjs` tries all of them.
  const cases = [
    { compiler: "TypeScript 7", options: ["--module", "nodenext", "--exactOptionalPropertyTypes"] },
    ...nightly ? [{ compiler: "TypeScript 5.9", options: ["--module", "preserve", "--moduleResolution", "bundler"] } as const] : []
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

  it.each(Object.entries(compilers).filter(([name]) => nightly || name === "TypeScript 7"))(
    "that is a block of the documentation passes %s with the settings of Getting started",
    async (_, compiler) => {
      for (const name of ["@effect/vitest", "vitest"]) link(join(root, "examples"), name)
      const blocks = packages.flatMap((folder) => {
        const { name } = manifestOf(folder)
        return namesIn(installed(name)).filter((file) => file.startsWith("docs/")).flatMap((page) =>
          [...readFileSync(join(installed(name), page), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""], index) => ({
            file: `${name.replace("@plaza/", "")}-${page.replaceAll("/", "-")}-${index}.ts`,
            code
          }))
        )
      })
        // The others import another block of their page. A test of the example has both.
        .filter(({ code }) => !/ from "\.\//.test(code))
      expect(blocks.length).toBeGreaterThan(10)
      for (const { code, file } of blocks) writeFileSync(join(stranger, file), code)
      const [, settings = ""] = /`npx tsc (.*) Hello\.ts`/.exec(readFileSync(join(root, "docs/getting-started.md"), "utf8")) ?? []
      expect(settings).toContain("--strict")
      const tsc = join(dirname(compiler), "bin/tsc")
      const { stdout } = await run(process.execPath, [tsc, ...settings.split(" "), "--types", "node", ...blocks.map(({ file }) => file)], {
        cwd: stranger
      }).catch((error: unknown) => ({ stdout: String((error as { readonly stdout?: unknown }).stdout ?? error) }))
      expect(stdout).toBe("")
    }
  )

  it("does what the READMEs say", async () => {
    const out = join(stranger, "out")
    const tsc = join(dirname(compilers["TypeScript 7"]), "bin/tsc")
    // That of the SDK requires a service: see above.
    const files = programs.map(({ file }) => file).filter((file) => !file.startsWith("sdk-"))
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
      "sandbox-0.ts": "1",
      "sandbox-1.ts": "200 1"
    })
  })
})
