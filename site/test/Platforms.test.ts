/** What the pages about platforms and keys state. The packages and the programs must be built. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { createPlaza } from "@plaza/sdk"
import { Effect, FileSystem, Layer, Redacted, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { root } from "../src/Paths.ts"

const read = (file: string) => readFileSync(join(root, file), "utf8")
const page = read("docs/guides/platforms.md")

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly engines?: { readonly node?: string }
  readonly scripts?: Readonly<Record<string, string>>
}

const published = ["packages", "apps"].flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}/package.json`))
  // True: npm reads the same fields of the same file.
  .map((file) => JSON.parse(read(file)) as Manifest).filter((manifest) => manifest.private !== true)

describe("the page of platforms", () => {
  it("names the oldest Node of every package", () => {
    expect(published.length).toBeGreaterThan(5)
    const [, oldest = ""] = /^\| Node \| (\S+) \|/m.exec(page) ?? []
    expect(published.map(({ engines }) => engines?.node)).toEqual(published.map(() => `>=${oldest}`))
  })

  it("names the systems of the workflows, and says that those which do not stop a release have not passed", () => {
    const [, job = ""] = /\n {2}systems:\n([^]*?)\n {2}\w/.exec(read(".github/workflows/ci.yml")) ?? []
    expect(job).toContain("continue-on-error: true")
    expect(job).toContain("system: ${{ fromJSON(needs.versions.outputs.systems) }}")
    expect(job).toContain("node: ${{ fromJSON(needs.versions.outputs.node) }}")
    expect(JSON.parse(read("scripts/support.json"))).toMatchObject({ systems: ["macos-15", "windows-2025"] })
    expect(page).toContain(
      "| macOS 15, Windows Server 2025 | the workflow `ci` installs the packed programs by npm on the same versions of Node"
    )
    expect(page).toContain("| has not passed yet. A failure there does not stop a release |")
  })

  it("is right that no package runs a script when it is installed", () => {
    const scripts = published.flatMap(({ name, scripts: own = {} }) =>
      ["preinstall", "install", "postinstall", "prepare"].filter((script) => script in own).map((script) => `${name}: ${script}`)
    )
    expect(scripts).toEqual([])
  })

  it("is right that require loads the packages", () => {
    const packages = ["@plaza/sdk", "@plaza/client", "@plaza/client/node", "@plaza/domain", "@plaza/sandbox", "@plaza/sandbox/promise"]
    // Vitest loads modules in its own way, Node does not.
    const file = fileURLToPath(new URL("support/require.cjs", import.meta.url))
    expect(execFileSync(process.execPath, [file, ...packages], { encoding: "utf8" }).trim().split("\n").toSorted()).toEqual(
      packages.toSorted()
    )
  })
})

const programs: Readonly<Record<string, string>> = {
  "plaza": join(root, "apps/cli/dist/plaza.cjs"),
  "plaza-stock-sync": join(root, "apps/stock-sync/dist/plaza-stock-sync.cjs")
}

/** Runs a program, or a module in place of one, in a folder of its own. */
const run = (folder: string, [program = "", ...args]: ReadonlyArray<string>, variables: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const file = programs[program] === undefined ? ["--conditions=@plaza/source", program] : [programs[program]]
    const child = yield* ChildProcess.make(process.execPath, [...file, ...args], {
      cwd: folder,
      env: { HOME: folder, PATH: process.env["PATH"], ...variables }
    })
    const [stdout, stderr, status] = yield* Effect.all(
      [Stream.mkString(Stream.decodeText(child.stdout)), Stream.mkString(Stream.decodeText(child.stderr)), child.exitCode],
      { concurrency: "unbounded" }
    )
    return { stdout, stderr, status: Number(status) }
  })

const folderWith = (files: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* Effect.forEach(Object.entries(files), ([name, text]) => fs.writeFileString(join(folder, name), text))
    return folder
  })

const stock = { "stock.csv": "productId,stock\nMUG-BLUE-350,4\n" }

layer(Layer.mergeAll(Sandbox.layerServer(), NodeServices.layer), { excludeTestServices: true })("a program", (it) => {
  const recorder = fileURLToPath(new URL("support/connections.mjs", import.meta.url))

  for (
    const command of [
      ["plaza", "me"],
      ["plaza", "posts", "create", "--text", "Back in stock."],
      ["plaza", "doctor"],
      ["plaza", "--version"],
      ["plaza-stock-sync", "once", "--source", "stock.csv"],
      [join(root, "site/guides/Hello.ts")],
      [join(root, "site/guides/HelloEffect.ts")]
    ]
  ) {
    it.effect(`connects to nothing but the base URL: ${command.map((word) => word.replace(root, "")).join(" ")}`, () =>
      Effect.gen(function*() {
        const { apiKey, baseUrl } = yield* Sandbox.Sandbox
        const folder = yield* folderWith({ ...stock, "connections.txt": "" })
        const { status } = yield* run(folder, command, {
          PLAZA_BASE_URL: baseUrl,
          PLAZA_API_KEY: Redacted.value(apiKey),
          NODE_OPTIONS: `--import=${recorder}`,
          CONNECTIONS: join(folder, "connections.txt")
        })
        const connections = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(join(folder, "connections.txt")))
        const { host } = new URL(baseUrl)
        expect({ status, connections: [...new Set(connections.split("\n"))] })
          .toEqual({ status: 0, connections: command.includes("--version") ? [""] : [host, ""] })
      }))
  }

  it.effect("continues with a new key of the account when the old one is revoked", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const fs = yield* FileSystem.FileSystem
      const { baseUrl } = sandbox
      const first = yield* sandbox.createKey("1001")
      const second = yield* sandbox.createKey("1001")
      const folder = yield* folderWith({ ...stock, key: Redacted.value(first.apiKey) })
      const variables = { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY_FILE: join(folder, "key") }
      const once = run(folder, ["plaza-stock-sync", "once", "--source", "stock.csv"], variables)
      const client = createPlaza({ baseUrl, apiKey: Redacted.value(first.apiKey), logger: () => {} })
      expect(yield* once).toMatchObject({ status: 0, stdout: expect.stringMatching(/^confirmed\t1$/m) as unknown })
      expect((yield* Effect.promise(() => client.profiles.me())).id).toBe("1001")

      yield* fs.writeFileString(join(folder, "key"), `${Redacted.value(second.apiKey)}\n`)
      yield* sandbox.revokeKey(first.id)

      expect(yield* once).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged\t1$/m) as unknown })
      expect(yield* run(folder, ["plaza", "me"], variables)).toMatchObject({ status: 0 })
      yield* Effect.promise(() => expect(client.profiles.me()).rejects.toMatchObject({ _tag: "InvalidApiKey" }))
      const other = createPlaza({ baseUrl, apiKey: Redacted.value(second.apiKey) })
      expect((yield* Effect.promise(() => other.profiles.me())).id).toBe("1001")
      yield* Effect.promise(() => Promise.all([client.close(), other.close()]))
    }))
})
