/**
 * The man page is valid for man and mandoc.
 */
import { spawnSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { ManPage, type Manual } from "../src/index.ts"

const json: Manual.Option = { name: "--json", description: "Print JSON.", required: false, repeated: false }
const limit: Manual.Option = { name: "--limit", value: "N", description: ".begins like a request", required: false, repeated: false }
const leaf = (name: string, ...options: ReadonlyArray<Manual.Option>): Manual.Page => ({
  name,
  summary: `Does ${name}.`,
  details: ["Another paragraph."],
  args: [{ name: "FILE", description: "'quoted' at its beginning, and back\\slash.", required: true, repeated: false }],
  options: [...options, json],
  examples: [`${name} a-b.csv`],
  commands: []
})
const manual: Manual.Manual = {
  name: "shop-keeper",
  version: "1.2.3",
  page: {
    name: "shop-keeper",
    summary: "Keeps a shop.",
    details: ["All of it."],
    args: [],
    options: [],
    examples: [],
    commands: [leaf("open", limit), leaf("close")]
  },
  sections: [{ title: "Exit codes", entries: [{ name: "0", description: "Success." }] }]
}
const page = ManPage.render(manual)

const isThere = (program: string) => spawnSync(program, ["-h"]).error === undefined
const missing = ["man", "mandoc"].filter((program) => !isThere(program))
if (missing.length > 0) process.stderr.write(`the man page is not checked by ${missing.join(" and ")}: not installed here\n`)

describe("the man page", () => {
  it("describes common options once", () => {
    expect(page.split(".B \\-\\-json\n")).toHaveLength(2)
    expect(page.split(".B \\-\\-limit N\n")).toHaveLength(2)
  })

  it("escapes dashes, leading dots and leading quotes", () => {
    expect(page).toContain("shop\\-keeper open a\\-b.csv")
    expect(page).toContain("\n\\&.begins like a request\n")
    expect(page).toContain("\n\\&'quoted' at its beginning, and back\\eslash.\n")
    expect(page).toContain("shop\\-keeper \\- keeps a shop\n")
  })

  it.skipIf(missing.includes("mandoc"))("has no warnings from mandoc", () => {
    const { stdout } = spawnSync("mandoc", ["-T", "lint", "-W", "warning"], { input: page, encoding: "utf8" })
    expect(stdout.split("\n").filter((line) => line !== "" && !line.includes("missing date"))).toEqual([])
  })

  it.skipIf(missing.includes("man"))("has no warnings from man", () => {
    const { status, stderr, stdout } = spawnSync("man", ["--warnings", "--local-file", "-"], {
      input: page,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", MANWIDTH: "80" }
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toContain("--limit N")
  })
})
