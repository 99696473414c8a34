/** Every TypeScript block of the README and of the client's documentation is part of a program that is compiled here. */
import { describe, expect, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

const programs = ["../src/", "./"].flatMap((folder) =>
  readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith(".ts")).map((name) => read(`${folder}${name}`)))

describe.each(["README.md", "docs/client.md"])("%s", (path) => {
  const blocks = [...read(`../../${path}`).matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code)

  it("has programs", () => {
    expect(blocks.length).toBeGreaterThan(0)
  })

  it.each(blocks)("shows a program as it is compiled: %s", (code) => {
    expect(programs.filter((program) => program.includes(code))).toHaveLength(1)
  })
})
