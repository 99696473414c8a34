/** The pages of the documentation name files, commands and links that exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { managers } from "../managers.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string) => readFileSync(join(root, path), "utf8")

const ignored = new Set(["node_modules", "dist", "build", "results", ".git", ".turbo", ".demo"])
const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ignored.has(entry.name) ? [] : filesIn(path)
    return [path]
  })
const files = filesIn("")
const pages = files.filter((file) => /^(?:docs\/.*|[^/]+)\.md$/.test(file))

/** Names of built files, of placeholders and of files that a reader creates, which are not files of the repository. */
const generated = new Set([
  "plaza.cjs",
  "plaza-stock-sync.cjs",
  "NAME.cjs",
  "PascalCase.ts",
  "Hello.ts",
  "MyProgram.ts",
  "announce.test.ts",
  "sandbox.mjs",
  "shop.test.mjs"
])

describe("the README", () => {
  it("names the version and the ignored folders that its commands write to, and is short", () => {
    const text = read("README.md")
    // True: npm reads the same field of the same file.
    const { version } = JSON.parse(read("package.json")) as { readonly version: string }
    expect(text).toContain(`version ${version}, not published to npm`)
    const [, named = ""] = /folders that Git ignores: (.+?)\. Outside/.exec(text) ?? []
    const folders = [...named.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name).filter((name) => name !== "start")
    expect(folders.length).toBeGreaterThan(3)
    expect(folders.filter((name) => !read(".gitignore").split("\n").includes(`${name}/`))).toEqual([])
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(650)
  })

  it("begins with two commands, and .ci/run calls the second one", () => {
    const commands = [...read("README.md").matchAll(/^(npx -y pnpm@\S+ \w+)$/gm)].map(([, command]) => command)
    expect(commands).toHaveLength(2)
    expect(read(".ci/run").split("\n")).toContain(commands[1])
  })
})

describe("the documentation", () => {
  it("links to existing files and headings", () => {
    const anchorsOf = (page: string) =>
      [...read(page).matchAll(/^#+ (.+)$|^<a id="(.+)"><\/a>$/gm)]
        .map(([, heading = "", id]) => id ?? heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"))
    const links = pages.flatMap((page) =>
      [...read(page).replace(/^```[^]*?^```/gm, "").matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)]
        .map(([link, path = "", anchor = ""]) => ({ page, link, anchor, target: path === "" ? page : join(dirname(page), path) }))
    )
    const broken = links.filter(({ anchor, target }) =>
      !existsSync(join(root, target)) || (anchor !== "" && target.endsWith(".md") && !anchorsOf(target).includes(anchor))
    )
    expect(links.length).toBeGreaterThan(8)
    expect(broken.map(({ link, page }) => `${page}: ${link}`)).toEqual([])
  })

  it("names existing files and folders", () => {
    const folders = new Set(
      files.map(dirname).flatMap((folder) => folder.split("/").map((_, index, all) => all.slice(0, index + 1).join("/")))
    )
    const patternOf = (path: string) =>
      path.replace(/\/$/, "").replace(/[.$]/g, "\\$&").replace(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.replaceAll(",", "|")})`)
        .replaceAll("*", "[^/]*")
    const isPath = (text: string) => /^[\w@.*{},/-]+$/.test(text) && !text.split("/").some((part) => ignored.has(part))
    const exists = (text: string) => {
      const inRoot = /^(?:packages|apps|deploy|docs|scripts|examples|benchmarks|\.ci)\//.test(text)
      const pattern = new RegExp(`${inRoot ? "^" : "(?:^|/)"}${patternOf(text)}$`)
      return files.some((file) => pattern.test(file)) || (inRoot && [...folders].some((folder) => pattern.test(folder)))
    }
    // A record that was replaced names what was there.
    const current = pages.filter((page) => !/^Status: replaced/m.test(read(page)))
    const missing = current.flatMap((page) =>
      [...read(page).replace(/^```[^]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)]
        .map(([, text = ""]) => text)
        .filter((text) =>
          isPath(text) &&
          (/\.(?:ts|mjs)$/.test(text) || /^(?:packages|apps|deploy|docs|scripts|examples|benchmarks|\.ci)\//.test(text))
        )
        .filter((text) => !generated.has(basename(text)) && !exists(text))
        .map((text) => `${page}: ${text}`)
    )
    expect(missing).toEqual([])
  })

  it("names existing identifiers in the pages for contributors", () => {
    const sources = files.filter((file) => /^(?:packages|apps|scripts)\/.*\.ts$/.test(file)).map(read).join("\n")
    // The endpoint that CONTRIBUTING.md adds as an example.
    const examples = new Set(["unlikePost"])
    const unknown = ["CONTRIBUTING.md", "AGENTS.md", "docs/development.md"].flatMap((page) =>
      [...read(page).replace(/^```[^]*?^```/gm, "").matchAll(/`(\w*[a-z][A-Z]\w*)`/g)]
        .map(([, name = ""]) => name)
        .filter((name) => !examples.has(name) && !new RegExp(`\\b${name}\\b`).test(sources))
        .map((name) => `${page}: ${name}`)
    )
    expect(unknown).toEqual([])
  })

  it("names existing scripts and tests in its commands", () => {
    const scriptsOf = (manifest: string): ReadonlyArray<string> => {
      // True: npm reads the same field of the same file.
      const { scripts = {} } = JSON.parse(read(manifest)) as { readonly scripts?: Readonly<Record<string, string>> }
      return Object.keys(scripts)
    }
    const manifests = files.filter((file) => basename(file) === "package.json")
    const manifestOf = (name: string) => manifests.find((file) => read(file).includes(`"name": "${name}"`)) ?? "package.json"
    const problems = pages.flatMap((page) => {
      const text = read(page)
      const run = [...text.matchAll(/npm run ([\w:]+)/g)].filter(([, script = ""]) => !scriptsOf("package.json").includes(script))
      const filtered = [...text.matchAll(/--filter (@plaza\/[\w-]+) (\w+)/g)]
        .filter(([, name = "", script = ""]) => !scriptsOf(manifestOf(name)).includes(script))
      const paths = [...text.matchAll(/(?:vitest run|tsc -b|node) ((?:packages|apps|scripts)\/[\w./-]+)/g)]
        .filter(([, path = ""]) => !path.includes("/dist/") && !existsSync(join(root, path)))
      return [...run, ...filtered, ...paths].map(([command]) => `${page}: ${command}`)
    })
    expect(problems).toEqual([])
  })
})

describe("Getting started", () => {
  it("has the command of each package manager that installs the packages in CI", () => {
    const rows = [...read("docs/getting-started.md").matchAll(/^\| (.+) \| `\w+ (\w+) ~\/plaza-packages\/plaza-sdk-\*\.tgz`/gm)]
    expect(rows.map(([, name, verb]) => ({ name, verb }))).toEqual(
      managers.filter(({ flags }) => flags.length === 0).map(({ name, verb }) => ({ name, verb }))
    )
  })
})

describe("the packages, which are not published", () => {
  // True: npm reads the same fields of the same file.
  const published = files.filter((file) => /^(?:packages|apps)\/[^/]+\/package\.json$/.test(file)).map((file) => ({
    folder: dirname(file),
    ...JSON.parse(read(file)) as {
      readonly name: string
      readonly private?: boolean
      readonly peerDependencies?: Readonly<Record<string, string>>
    }
  })).filter(({ private: isPrivate }) => isPrivate !== true)
  const tarballs = published.map(({ name }) => `~/plaza-packages/${name.slice(1).replace("/", "-")}-*.tgz`)
  const texts = files.filter((file) => file.endsWith(".md") && !file.startsWith("docs/decisions/"))

  it("are never installed by their names, which would fail", () => {
    const byName = /(?:npm (?:install|i|exec)|npx|(?:pnpm|yarn|bun) add|pnpm dlx|bunx)\b[^`\n]*? (@plaza\/[\w-]+)(?!@file)/
    const lines = texts.flatMap((file) =>
      read(file).split("\n").filter((line) => byName.test(line) && !line.includes("--filter")).map((line) => `${file}: ${line}`)
    )
    expect(lines).toEqual([])
    expect(texts.filter((file) => /npmjs\.com\/package\/@plaza/.test(read(file)))).toEqual([])
  })

  it.each(published)("has a README that links how $name is packed, and installs the tarball with its peers",
    ({ folder, name, peerDependencies }) => {
      const text = read(`${folder}/README.md`)
      expect(text).toContain(
        "not published to npm yet. [Getting started](https://github.com/plaza-toolkit/plaza/blob/main/docs/getting-started.md#1-install)"
      )
      const [, line = ""] = /```sh\n(npm install .+)$/m.exec(text) ?? []
      const own = (each: string) => tarballs[published.findIndex((one) => one.name === each)] ?? each
      const words = line.split(" ")
      expect(words).toEqual(expect.arrayContaining([own(name), ...Object.keys(peerDependencies ?? {}).map(own)]))
      expect(words.filter((word) => word.endsWith(".tgz") && !tarballs.includes(word))).toEqual([])
    })
})

describe("the decision records", () => {
  const records = readdirSync(join(root, "docs/decisions")).filter((name) => /^\d{3}-.+\.md$/.test(name))

  it("are listed in the index", () => {
    const index = read("docs/decisions/README.md")
    expect(records.length).toBeGreaterThan(0)
    expect(records.filter((name) => !index.includes(`(${name})`))).toEqual([])
  })

  it("have a unique number, a status and three sections", () => {
    expect(new Set(records.map((name) => name.slice(0, 3))).size).toBe(records.length)
    const form = /^# \d{3} [^]*\nStatus: [^]*\n## Context\n[^]*\n## Decision\n[^]*\n## Consequences\n/
    expect(records.filter((name) => !form.test(read(`docs/decisions/${name}`)))).toEqual([])
  })
})
