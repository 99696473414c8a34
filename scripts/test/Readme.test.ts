/** What the README tells a newcomer is what is there. */
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
    const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => join("docs", name))]
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = ""]) => join(dirname(page), link)))
    expect(links.length).toBeGreaterThan(8)
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([])
  })
})
