/**
 * How versions are made and published: Changesets with the configuration of this repository, and the scripts of a release.
 */
import { execFile, execFileSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}

// The cast is true: `Manifest` has the fields of a package.json that this test reads.
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

const workspace = ["packages", "apps"].flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(parent, name)))
  .filter((folder) => existsSync(join(root, folder, "package.json")))
const published = workspace.filter((folder) => manifestOf(join(root, folder)).private !== true)

const temporary: Array<string> = []
const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "plaza-release-"))
  temporary.push(folder)
  return folder
}
afterAll(() => temporary.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/** Files with the version of the packages, other than manifests and changelogs. */
const withVersion = (folder: string, version: string) =>
  execFileSync("git", ["grep", "-lP", "--untracked", `(?<!@since )\\b${version.replaceAll(".", "\\.")}\\b`], {
    cwd: folder,
    encoding: "utf8"
  }).trim()
    .split("\n")

describe("release:version", () => {
  const folder = makeFolder()
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@localhost", ...args], { cwd: folder, stdio: "pipe" })

  it("gives all published packages, and no private one, the next version and a changelog", async () => {
    const { version } = manifestOf(join(root, "packages/domain"))
    const next = version.replace(/\d+$/, (patch) => String(Number(patch) + 1))
    const named = withVersion(root, version).filter((file) => !/^(?:scripts\/test\/|pnpm-lock|.*CHANGELOG)/.test(file))
    for (
      const file of new Set([
        ...named,
        ".changeset/config.json",
        "pnpm-workspace.yaml",
        ...workspace.map((each) => join(each, "package.json"))
      ])
    ) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      cpSync(join(root, file), join(folder, file))
    }
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
    writeFileSync(join(folder, ".gitignore"), "node_modules\n")
    git("init", "--quiet", "--initial-branch", "main")
    git("add", ".")
    git("commit", "--quiet", "--message", "files")
    writeFileSync(join(folder, ".changeset/a-change.md"), `---\n"@plaza/client": patch\n---\n\nRetries less.\n`)
    await run(process.execPath, [join(root, "scripts/version.mjs")], { cwd: folder })

    const versions = (folders: ReadonlyArray<string>) => new Set(folders.map((each) => manifestOf(join(folder, each)).version))
    expect(versions(published)).toEqual(new Set([next]))
    expect(versions(workspace.filter((each) => !published.includes(each)))).toEqual(new Set([version]))
    const changelogs = workspace.filter((each) => existsSync(join(folder, each, "CHANGELOG.md")))
    expect(changelogs).toEqual(published)
    expect(readFileSync(join(folder, "packages/client/CHANGELOG.md"), "utf8")).toContain(
      `## ${next}\n\n### Patch Changes\n\n- Retries less.`
    )
    const isPrivate = (file: string) => file.endsWith("package.json") && manifestOf(join(folder, dirname(file))).private === true
    expect(withVersion(folder, version).filter((file) => !isPrivate(file) || file === "package.json")).toEqual([])
  })
})

it("every published package has a changelog with its version", () => {
  for (const folder of published) {
    expect(readFileSync(join(root, folder, "CHANGELOG.md"), "utf8")).toContain(`## ${manifestOf(join(root, folder)).version}\n`)
  }
})

describe("release:publish", () => {
  const folder = makeFolder()
  const write = (file: string, content: unknown) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content))
  }
  write("package.json", { name: "root", private: true })
  write("pnpm-workspace.yaml", "packages: [packages/*, apps/*]\ncatalog:\n  yaml: 2.9.1\n")
  const dependencies = { "@plaza/domain": "workspace:^", yaml: "catalog:" }
  write("packages/domain/package.json", { name: "@plaza/domain", version: "1.2.3", files: ["dist"] })
  write("packages/client/package.json", { name: "@plaza/client", version: "1.2.3", files: ["dist"], dependencies })
  write("packages/testing/package.json", { name: "@plaza/testing", version: "1.2.3", private: true })
  write("apps/cli/package.json", { name: "@plaza/cli", version: "1.2.3", files: ["dist"] })
  for (const built of ["packages/domain", "packages/client"]) write(`${built}/dist/index.js`, "")
  // A registry with one of the versions. It keeps what is published.
  write(
    "bin/npm",
    `#!/bin/sh
case "$1 $2" in
  "view @plaza/domain@1.2.3") echo 1.2.3 ;;
  view*) echo "npm error code E404" >&2; exit 1 ;;
  publish*) cp "$2" "${folder}/published.tgz"; echo "$*" >> "${folder}/calls" ;;
esac
`
  )
  chmodSync(join(folder, "bin/npm"), 0o755)
  const env = { ...process.env, PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`, GITHUB_OUTPUT: join(folder, "output") }
  const publish = run(process.execPath, [join(root, "scripts/publish.mjs")], { cwd: folder, env })
    .catch((error: unknown) => ({ stderr: String((error as { readonly stderr?: unknown }).stderr) }))

  it("packs what the registry does not have, with versions instead of references to the workspace", async () => {
    await publish
    expect(readFileSync(join(folder, "calls"), "utf8").trim().split("\n")).toEqual([
      expect.stringMatching(/^publish \S+\.tgz --access public$/)
    ])
    execFileSync("tar", ["-xzf", "published.tgz"], { cwd: folder })
    expect(manifestOf(join(folder, "package"))).toMatchObject({
      name: "@plaza/client",
      dependencies: { "@plaza/domain": "^1.2.3", yaml: "2.9.1" }
    })
    expect(readdirSync(join(folder, "package/dist"))).toEqual(["index.js"])
  })

  it("refuses a package that is not built, and reports what it published before", async () => {
    expect((await publish).stderr).toContain("@plaza/cli@1.2.3 is not built")
    expect(readFileSync(join(folder, "output"), "utf8")).toBe("published=@plaza/client@1.2.3\n")
  })
})
