/** What the README and the docs say about this repository is true. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string) => readFileSync(join(root, path), "utf8")

describe("the README", () => {
  it("shows the program that the examples' tests run, of fifteen lines or so", () => {
    const [, shown = ""] = /```ts\n([^]*?)```/.exec(read("README.md")) ?? []
    expect(shown).not.toBe("")
    expect(read("examples/src/Quickstart.ts").endsWith(`*/\n${shown}`)).toBe(true)
    expect(shown.trim().split("\n").length).toBeLessThanOrEqual(15)
  })

  it("names two commands, and continuous integration calls the second as it stands", () => {
    const commands = [...read("README.md").matchAll(/^(npx -y pnpm@\S+ \w+)$/gm)].map(([, command]) => command)
    expect(commands).toHaveLength(2)
    expect(read(".ci/run").split("\n")).toContain(commands[1])
  })

  it("links to files that exist, and so do the docs", () => {
    const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"))
    const pages = ["README.md", "CONTRIBUTING.md", "AGENTS.md", ...docs.map((name) => join("docs", name))]
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = ""]) => join(dirname(page), link))
    )
    expect(links.length).toBeGreaterThan(8)
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([])
  })
})

describe("the decision records", () => {
  const records = readdirSync(join(root, "docs/decisions")).filter((name) => /^\d{3}-.+\.md$/.test(name))

  it("are all in the index", () => {
    const index = read("docs/decisions/README.md")
    expect(records.length).toBeGreaterThan(0)
    expect(records.filter((name) => !index.includes(`(${name})`))).toEqual([])
  })

  it("have a number of their own, a status and three sections", () => {
    expect(new Set(records.map((name) => name.slice(0, 3))).size).toBe(records.length)
    const form = /^# \d{3} [^]*\nStatus: [^]*\n## Context\n[^]*\n## Decision\n[^]*\n## Consequences\n/
    expect(records.filter((name) => !form.test(read(`docs/decisions/${name}`)))).toEqual([])
  })
})
