/**
 * The man page is valid for man and mandoc.
 */
import { spawnSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import * as ManPage from "../src/ManPage.ts"
import type * as Manual from "../src/Manual.ts"

const flag = (name: string, value: string | undefined, description: string): Manual.Flag => ({
  name,
  aliases: [],
  value,
  description,
  required: false
})
const json: Manual.Flag = { ...flag("json", undefined, "Print JSON."), aliases: ["-j"] }
const page: Manual.Page = {
  path: ["shop-keeper"],
  summary: "Keeps a shop.",
  details: ["All of it."],
  args: [],
  flags: [],
  globals: [json],
  commands: [{ title: undefined, commands: [{ name: "open", summary: "Does open." }, { name: "close", summary: "Does close." }] }],
  examples: [],
  sections: [{ title: "Exit codes", entries: [{ name: "0", description: "Success." }] }]
}
const leaf = (name: string, ...flags: ReadonlyArray<Manual.Flag>): Manual.Page => ({
  ...page,
  path: ["shop-keeper", name],
  summary: `Does ${name}.`,
  details: ["Another paragraph."],
  args: [{ name: "FILE", description: "'quoted' at its beginning, and back\\slash.", required: true, variadic: false }],
  flags,
  commands: [],
  examples: [`shop-keeper ${name} a-b.csv`],
  sections: []
})
const rendered = ManPage.render([page, leaf("open", flag("limit", "N", ".begins like a request")), leaf("close")], "1.2.3")

const isThere = (program: string) => spawnSync(program, ["-h"]).error === undefined
const missing = ["man", "mandoc"].filter((program) => !isThere(program))
if (missing.length > 0) process.stderr.write(`the man page is not checked by ${missing.join(" and ")}: not installed here\n`)

describe("the man page", () => {
  it("describes common options once", () => {
    expect(rendered.split(".B \\-j, \\-\\-json\n")).toHaveLength(2)
    expect(rendered.split(".B \\-\\-limit N\n")).toHaveLength(2)
  })

  it("escapes dashes, leading dots and leading quotes", () => {
    expect(rendered).toContain("shop\\-keeper open a\\-b.csv")
    expect(rendered).toContain("\n\\&.begins like a request\n")
    expect(rendered).toContain("\n\\&'quoted' at its beginning, and back\\eslash.\n")
    expect(rendered).toContain("shop\\-keeper \\- keeps a shop\n")
  })

  it.skipIf(missing.includes("mandoc"))("has no warnings from mandoc", () => {
    const { stdout } = spawnSync("mandoc", ["-T", "lint", "-W", "warning"], { input: rendered, encoding: "utf8" })
    expect(stdout.split("\n").filter((line) => line !== "" && !line.includes("missing date"))).toEqual([])
  })

  it.skipIf(missing.includes("man"))("has no warnings from man", () => {
    const { status, stderr, stdout } = spawnSync("man", ["--warnings", "--local-file", "-"], {
      input: rendered,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", MANWIDTH: "80" }
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toContain("--limit N")
  })
})
