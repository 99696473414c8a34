/** Banned phrases are found wherever a line break falls, and nowhere else. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { check, hitsOf } from "../BannedPhrases.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const withFiles = <A>(files: Readonly<Record<string, string>>, use: (folder: string) => A): A => {
  const folder = mkdtempSync(Path.join(tmpdir(), "plaza-phrases-"))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(Path.dirname(Path.join(folder, path)), { recursive: true })
      writeFileSync(Path.join(folder, path), text)
    }
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const run = (files: Readonly<Record<string, string>>) =>
  withFiles(files, (folder) => spawnSync(process.execPath, ["scripts/check-phrases.ts", folder], { cwd: root, encoding: "utf8" }))

describe("the banned phrases", () => {
  it.each([
    "Thirty seconds, unless told otherwise.",
    "It Knows nothing of HTTP.",
    " * unless\n * told",
    "// knows\n  // nothing",
    "Each stock has to be told.",
    "The call is answered with 204.",
    "There are two ways in.",
    " * rows that were set\n * aside",
    "the caller is\ntold"
  ])("are found in %j", (text) => {
    expect(hitsOf("a.md", text)).toHaveLength(1)
  })

  it.each(["This tolder", "he is, told or not", "unless  it told", "thistold"])("are not found in %j", (text) => {
    expect(hitsOf("a.md", text)).toEqual([])
  })

  it("come with their line and what to write instead", () => {
    expect(hitsOf("a.ts", "one\ntwo\nthree, unless told four")).toEqual([
      { file: "a.ts", line: 3, phrase: "unless told", instead: "default: ..." }
    ])
  })

  it("are found as markers of a conflict, in a comment as well", () => {
    const text = `/**\n${"<".repeat(7)} HEAD\n * One.\n${"=".repeat(7)}\n * Other.\n${">".repeat(7)} branch\n */`
    expect(hitsOf("a.ts", text).map(({ line }) => line)).toEqual([2, 6])
    expect(hitsOf("a.ts", "a <<<<<<< b\n=======\n<<<<<<<<")).toEqual([])
  })

  it("may stand in the glossary, and in what is installed or built", () => {
    const text = "unless told"
    const files = {
      "docs/glossary.md": text,
      "node_modules/a/README.md": text,
      "packages/a/dist/a.js": text,
      "packages/a/src/a.ts": text,
      "packages/a/src/a.png": text,
      "README.md": text
    }
    expect(withFiles(files, (folder) => check(folder).hits.map(({ file }) => file).toSorted())).toEqual([
      "README.md",
      "packages/a/src/a.ts"
    ])
  })

  it("make the program fail, and so does an empty folder", () => {
    const bad = run({ "docs/a.md": "one\nthe caller is told two" })
    expect(bad.stderr).toBe(`docs/a.md:2: "is told": write "reports, returns, receives"\n`)
    expect(bad.status).toBe(1)
    expect(run({}).status).toBe(1)
    expect(run({ "docs/a.md": "The caller receives two." }).status).toBe(0)
  })
})
