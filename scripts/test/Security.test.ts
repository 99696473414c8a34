/** SECURITY.md names tests that exist. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const text = readFileSync(join(root, "SECURITY.md"), "utf8")
const cited = [...text.matchAll(/\]\((\S+\.test\.ts)\) "([^"]+)"/g)].map(([, file = "", title = ""]) => ({ file, title }))

describe("SECURITY.md", () => {
  it.each(cited)("names a test of $file: $title", ({ file, title }) => {
    expect(readFileSync(join(root, file), "utf8")).toContain(title)
  })

  it("has a test for each statement", () => {
    const [, ...sections] = text.split("| statement | test |\n|---|---|\n")
    const statements = sections.flatMap((section) => section.split("\n\n")[0]?.split("\n") ?? [])
    expect(statements.length).toBeGreaterThan(20)
    expect(statements.filter((statement) => !/\]\(\S+\.test\.ts\) "[^"]+" \|$/.test(statement))).toEqual([])
  })
})
