/**
 * A bundled program runs from its `dist` folder alone. The tests bundle a small app with a database, move `dist` and start it with plain Node.
 */
import { oldestNode, tooOldNode } from "@plaza/testing/Nodes"
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

const bin = `
declare const __PLAZA_VERSION__: string
if (process.argv[2] === "database") import("./database.ts").then(({ answer }) => answer).then((rows) => console.log(JSON.stringify(rows)))
else console.log("probe", __PLAZA_VERSION__)
`
const database = `
import { layer } from "@plaza/client/sqlite"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
export const answer = Effect.runPromise(
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql\`SELECT 40 + 2 AS answer\`).pipe(Effect.provide(layer({ filename: ":memory:" })))
)
`
const manifest = {
  name: "probe",
  version: "9.8.7",
  type: "module",
  bin: { probe: "./dist/probe.cjs" },
  license: "MIT",
  engines: { node: ">=22.19" }
}

let moved = ""

beforeAll(() => {
  // Inside apps/cli, whose dependencies it uses, in a folder that git ignores.
  mkdirSync(Path.join(root, "apps/cli/build"), { recursive: true })
  const app = mkdtempSync(Path.join(root, "apps/cli/build/probe-"))
  moved = mkdtempSync(Path.join(tmpdir(), "plaza-moved-"))
  try {
    mkdirSync(Path.join(app, "src"))
    writeFileSync(Path.join(app, "src/bin.ts"), bin)
    writeFileSync(Path.join(app, "src/database.ts"), database)
    writeFileSync(Path.join(app, "src/manual.ts"), `export const manPage = ".TH PROBE 1\\n"\n`)
    writeFileSync(Path.join(app, "package.json"), JSON.stringify(manifest))
    execFileSync(process.execPath, [Path.join(root, "scripts/bundle.mjs"), app])
    cpSync(Path.join(app, "dist"), moved, { recursive: true })
  } finally {
    rmSync(app, { recursive: true, force: true })
  }
})

afterAll(() => rmSync(moved, { recursive: true, force: true }))

const program = () => Path.join(moved, "probe.cjs")

const ended = (node: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = { HOME: moved }) => {
  const { status, stderr, stdout } = spawnSync(node, [program(), ...args], { encoding: "utf8", cwd: moved, env })
  return { status, stderr, stdout }
}

const printed = { status: 0, stderr: "", stdout: "probe 9.8.7\n" }

describe("a moved dist", () => {
  it("starts with plain Node, by its own name too", () => {
    expect(statSync(program()).mode & 0o111).toBe(0o111)
    expect(execFileSync(program(), { encoding: "utf8", env: { PATH: process.env["PATH"], HOME: moved } })).toBe(printed.stdout)
    expect(ended(process.execPath, [])).toEqual(printed)
  })

  it("has the program, its man page, the licences and the list of what it contains", () => {
    expect(readdirSync(moved).filter((name) => name !== ".cache").toSorted()).toEqual([
      "THIRD-PARTY-LICENSES",
      "chunks",
      "probe.1",
      "probe.cjs",
      "program.cjs",
      "sbom.cdx.json"
    ])
    expect(readFileSync(Path.join(moved, "probe.1"), "utf8")).toBe(".TH PROBE 1\n")
    const licenses = readFileSync(Path.join(moved, "THIRD-PARTY-LICENSES"), "utf8")
    expect(licenses).toMatch(/^effect 4\.\d+\.\d+, MIT\n\nMIT License\n[^]*Permission is hereby granted/m)
    expect(licenses).not.toMatch(/^(?:@plaza\/|undici )/m)
    // The cast is true: it is the format of CycloneDX.
    const { components } = JSON.parse(readFileSync(Path.join(moved, "sbom.cdx.json"), "utf8")) as {
      readonly components: ReadonlyArray<{ readonly purl: string; readonly scope: string }>
    }
    const listed = components.map(({ purl, scope }) => `${scope} ${purl.replace(/@[^@]*$/, "")}`)
    expect(listed).toEqual(expect.arrayContaining(["required pkg:npm/effect", "required pkg:npm/%40plaza/client"]))
    expect(listed).not.toContain("required pkg:npm/undici")
  })

  it("opens a database, on the oldest Node without its warning that SQLite is experimental", () => {
    for (const node of [process.execPath, oldestNode]) {
      expect(ended(node, ["database"])).toEqual({ status: 0, stderr: "", stdout: `[{"answer":42}]\n` })
    }
  })

  it("refuses a Node that is too old with one sentence, whatever that Node can't read of the program", () => {
    for (const old of tooOldNode === undefined ? [] : [tooOldNode]) {
      const version = execFileSync(old, ["--version"], { encoding: "utf8" }).trim().slice(1)
      const stderr = `probe needs Node 22.19 or later, and this is Node ${version}: install a later one from https://nodejs.org\n`
      for (const word of ["word", "--version", "--help"]) expect(ended(old, [word])).toEqual({ status: 2, stderr, stdout: "" })
    }
  })
})

describe("the compile cache", () => {
  const folder = (): string => mkdtempSync(Path.join(moved, "cache-"))
  /** The folder that the program fills. */
  const filled = (env: Readonly<Record<string, string>>, cache: string) => {
    expect(ended(process.execPath, [], env)).toEqual(printed)
    return existsSync(cache) && readdirSync(cache, { recursive: true }).length > 1
  }

  it("is in XDG_CACHE_HOME, or in .cache of the home folder", () => {
    const [home, xdg] = [folder(), folder()]
    expect(filled({ HOME: home }, Path.join(home, ".cache/probe"))).toBe(true)
    expect(filled({ HOME: home, XDG_CACHE_HOME: xdg }, Path.join(xdg, "probe"))).toBe(true)
    const other = folder()
    expect(filled({ HOME: other, XDG_CACHE_HOME: "" }, Path.join(other, ".cache/probe"))).toBe(true)
  })

  it("changes nothing if its folder can't be found or written", () => {
    const [readOnly, file] = [folder(), Path.join(folder(), "file")]
    chmodSync(readOnly, 0o555)
    writeFileSync(file, "")
    const environments: ReadonlyArray<Readonly<Record<string, string>>> = [
      {},
      { HOME: "" },
      { HOME: "relative" },
      { XDG_CACHE_HOME: "relative" },
      { XDG_CACHE_HOME: " ", HOME: "" },
      { HOME: readOnly },
      { HOME: file },
      { XDG_CACHE_HOME: "/dev/null" },
      { XDG_CACHE_HOME: "/proc/nowhere", HOME: moved }
    ]
    for (const env of environments) {
      for (const node of [process.execPath, oldestNode]) expect([env, ended(node, [], env)]).toEqual([env, printed])
    }
    expect(existsSync(Path.join(moved, "relative"))).toBe(false)
  })

  it("is not trusted: a program whose cache is damaged is compiled again", () => {
    const home = folder()
    ended(process.execPath, [], { HOME: home })
    const cache = Path.join(home, ".cache/probe")
    const files = readdirSync(cache, { recursive: true, encoding: "utf8" }).map((name) => Path.join(cache, name)).filter((path) =>
      statSync(path).isFile()
    )
    expect(files.length).toBeGreaterThan(0)
    for (const path of files) writeFileSync(path, "no code")
    expect(ended(process.execPath, [], { HOME: home })).toEqual(printed)
  })

  it("is not mixed up between versions of Node", () => {
    const home = folder()
    for (const node of [oldestNode, process.execPath, oldestNode]) expect(ended(node, [], { HOME: home })).toEqual(printed)
  })
})

it("the scripts of the repository refuse a Node that is too old with one sentence", () => {
  const ended = (node: string) => {
    const { status, stderr, stdout } = spawnSync(node, ["scripts/check-node.cjs"], { encoding: "utf8", cwd: root })
    return { status, stderr, stdout }
  }
  expect(ended(oldestNode)).toEqual({ status: 0, stderr: "", stdout: "" })
  const old = (tooOldNode === undefined ? [] : [tooOldNode]).map(ended)
  expect(old.map(({ status, stdout }) => ({ status, stdout }))).toEqual(old.map(() => ({ status: 2, stdout: "" })))
  for (const { stderr } of old) {
    expect(stderr).toMatch(/^Plaza needs Node 22\.19 or later, and this is Node [\d.]+: [^\n]*https:\/\/nodejs\.org\n$/)
  }
})
