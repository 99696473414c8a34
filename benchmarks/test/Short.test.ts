/**
 * The short form runs benchmarks, and the committed table has the same rows, with links to existing headings. With `PLAZA_NIGHTLY`, every
 * benchmark; otherwise the cheapest, which shows that the command works.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import * as Results from "../src/Results.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const committed = "benchmarks/RESULTS.md"

/** Benchmarks and pages of the claims, in order: the numbers in a claim depend on the form. */
const claims = ({ rows }: Results.Results) => rows.map(([name, claim = ""]) => [name, /\[.*?\]\((.*?)\)/.exec(claim)?.[1]])

/** Runs Node, and returns its output if it fails. It does not block the runner of the tests, which would lose its connection. */
const run = (args: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, encoding: "utf8" },
      (error, stdout, stderr) => resolve(error === null ? "" : `${error.message}\n${stdout}\n${stderr}`))
  })

const anchorsOf = (page: string) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^#+ (.+)$/gm)]
    .map(([, heading = ""]) => heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"))

const named = process.env["PLAZA_NIGHTLY"] === undefined ? ["waiting", "urgency"] : []

describe("the table of results", () => {
  const table = Results.parse(readFileSync(join(root, committed), "utf8"))

  it("links each claim to a heading of the documentation that links to the table", () => {
    const links = claims(table).map(([, link = ""]) => link)
    const targets = links.map((link) => link.split("#")).map(([path = "", anchor = ""]) =>
      [join(dirname(committed), path), anchor] as const
    )
    expect(targets.length).toBeGreaterThan(0)
    expect(targets.filter(([page, anchor]) => !anchorsOf(page).includes(anchor))).toEqual([])
    expect(targets.filter(([page]) => !readFileSync(join(root, page), "utf8").includes(committed))).toEqual([])
  })

  it("has the rows that the benchmarks measure, in their order", async () => {
    const folder = mkdtempSync(join(tmpdir(), "plaza-bench-"))
    try {
      const file = join(folder, "RESULTS.md")
      const failure = await run(["--conditions=@plaza/source", "benchmarks/src/index.ts", ...named, "--short", "--output", file])
      expect(failure).toBe("")
      const measured = Results.parse(readFileSync(file, "utf8"))
      expect(claims(measured)).toEqual(claims(table).filter(([name = ""]) => named.length === 0 || named.includes(name)))
      const unmeasured = measured.rows.filter(([, , , median = "", , beside = ""]) =>
        !/\d/.test(median) && !beside.includes("not installed")
      )
      expect(unmeasured).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  }, 900_000)
})
