/**
 * The page of the manual is one that man and mandoc take without a word, where they are installed.
 */
import { spawnSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { ManPage, type Manual } from "../src/index.js"

const json = { name: "--json", said: "Print JSON." }
const leaf = (name: string, ...options: ReadonlyArray<Manual.Entry>): Manual.Page => ({
  name,
  about: `Does ${name}.`,
  usage: "FILE [OPTION]...",
  args: [{ name: "FILE", said: "'quoted' at its beginning, and back\\slash." }],
  options: [...options, json],
  examples: [`${name} a-b.csv`],
  commands: []
})
const manual: Manual.Manual = {
  name: "shop-keeper",
  version: "1.2.3",
  grammar: { valued: ["--limit"], repeated: [], flags: ["--json"] },
  page: {
    name: "shop-keeper",
    about: "Keeps a shop: all of it. Needs nothing.",
    usage: "COMMAND",
    args: [],
    options: [],
    examples: [],
    commands: [leaf("open", { name: "--limit N", said: ".begins like a request" }), leaf("close")]
  }
}
const page = ManPage.render(manual, [{ head: "EXIT STATUS", entries: [{ name: "0", said: "Done." }] }])

const isThere = (program: string) => spawnSync(program, ["-h"]).error === undefined
const missing = ["man", "mandoc"].filter((program) => !isThere(program))
if (missing.length > 0) process.stderr.write(`the page of the manual is not shown to ${missing.join(" and ")}: not installed here\n`)

describe("the page of the manual", () => {
  it("tells what most commands take once", () => {
    expect(page.split(".B \\-\\-json\n")).toHaveLength(2)
    expect(page.split(".B \\-\\-limit N\n")).toHaveLength(2)
  })

  it("has the dashes of options so that they can be copied, and no text that is taken for a request", () => {
    expect(page).toContain("shop\\-keeper open a\\-b.csv")
    expect(page).toContain("\n\\&.begins like a request\n")
    expect(page).toContain("\n\\&'quoted' at its beginning, and back\\eslash.\n")
    expect(page).toContain("shop\\-keeper \\- keeps a shop\n")
  })

  it.skipIf(missing.includes("mandoc"))("is taken by mandoc without a warning", () => {
    const { stdout } = spawnSync("mandoc", ["-T", "lint", "-W", "warning"], { input: page, encoding: "utf8" })
    expect(stdout.split("\n").filter((line) => line !== "" && !line.includes("missing date"))).toEqual([])
  })

  it.skipIf(missing.includes("man"))("is taken by man without a warning", () => {
    const { status, stderr, stdout } = spawnSync("man", ["--warnings", "--local-file", "-"], {
      input: page,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", MANWIDTH: "80" }
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toContain("--limit N")
  })
})
