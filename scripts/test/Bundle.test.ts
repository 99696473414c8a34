/**
 * A bundled program runs from its `dist` folder alone. The test bundles a small app with a database, moves `dist` and starts it with plain Node.
 */
import { oldestNode, tooOldNode } from "@plaza-legacy/testing/Nodes"
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

const bin = `
declare const __PLAZA_VERSION__: string
const print = () => import("./database.ts").then(({ answer }) => answer).then((rows) => console.log(JSON.stringify(rows)))
// As slow as a command on a busy machine: longer than the launcher defers work of V8.
if (process.argv[2] === "slow") setTimeout(print, 2_500)
else if (process.argv[2] === "database") print()
else console.log("probe", __PLAZA_VERSION__)
`
const database = `
import { make } from "@plaza-legacy/client/sqlite"
import * as Reactivity from "@effect/experimental/Reactivity"
import * as Effect from "effect/Effect"
export const answer = Effect.runPromise(
  Effect.flatMap(make({ filename: ":memory:" }), (sql) => sql\`SELECT 40 + 2 AS answer\`).pipe(Effect.provide(Reactivity.layer), Effect.scoped)
)
`
const manual = `
const page = { name: "probe", summary: "Probes.", details: [], args: [], options: [], examples: [], commands: [] }
export const manual = { name: "probe", version: "9.8.7", page, sections: [] }
export const manPage = ".TH PROBE 1\\n"
`

/** Whether V8 rejects the compiled code of each file that the program loads. */
const rejectedIn = (folder: string) => {
  const loader = Path.join(root, "packages/cli-kit/src/bootstrap/Loader.ts")
  const script = `import(${JSON.stringify(loader)}).then(({ load }) =>
    load(${JSON.stringify(folder)}, "program.cjs", (_, { cachedDataRejected }) => console.error(cachedDataRejected)))`
  const { stderr } = spawnSync(process.execPath, ["--eval", script], { encoding: "utf8", cwd: root })
  return stderr.trim().split("\n").map((line): unknown => JSON.parse(line))
}

it("a moved dist starts with plain Node, and loads SQLite only for commands that open a database", () => {
  // Inside apps/cli, whose dependencies it uses, in a folder that git ignores.
  mkdirSync(Path.join(root, "apps/cli/build"), { recursive: true })
  const app = mkdtempSync(Path.join(root, "apps/cli/build/probe-"))
  const moved = mkdtempSync(Path.join(tmpdir(), "plaza-moved-"))
  try {
    mkdirSync(Path.join(app, "src"))
    writeFileSync(Path.join(app, "src/bin.ts"), bin)
    writeFileSync(Path.join(app, "src/database.ts"), database)
    writeFileSync(Path.join(app, "src/manual.ts"), manual)
    const manifest = {
      name: "probe",
      version: "9.8.7",
      type: "module",
      bin: { probe: "./dist/probe.cjs" },
      license: "MIT",
      engines: { node: ">=22.19" },
      config: { warm: ["slow"] }
    }
    writeFileSync(Path.join(app, "package.json"), JSON.stringify(manifest))
    execFileSync(process.execPath, [Path.join(root, "scripts/bundle.mjs"), app])
    cpSync(Path.join(app, "dist"), moved, { recursive: true })
    rmSync(app, { recursive: true, force: true })

    const program = Path.join(moved, "probe.cjs")
    const run = (...args: ReadonlyArray<string>) =>
      execFileSync(program, args, { encoding: "utf8", cwd: moved, stdio: "pipe", env: { PATH: process.env["PATH"] } }).trim()
    const ended = (node: string, ...args: ReadonlyArray<string>) => {
      const { status, stderr, stdout } = spawnSync(node, [program, ...args], { encoding: "utf8", cwd: moved, env: { HOME: moved } })
      return { status, stderr, stdout }
    }
    const opened = { status: 0, stderr: "", stdout: `[{"answer":42}]\n` }
    expect(statSync(program).mode & 0o111).toBe(0o111)
    expect(readdirSync(moved).toSorted()).toEqual([
      "THIRD-PARTY-LICENSES",
      "chunks",
      "compiled",
      "launch.cjs",
      "manual.json",
      "probe.1",
      "probe.cjs",
      "program.cjs",
      "sbom.cdx.json"
    ])
    expect(run("word")).toBe("probe 9.8.7")
    expect(run("--version")).toBe("9.8.7")

    // The licences and the list are those of the modules that the bundle contains.
    const licenses = readFileSync(Path.join(moved, "THIRD-PARTY-LICENSES"), "utf8")
    expect(licenses).toMatch(/^effect 3\.\d+\.\d+, MIT\n\nMIT License\n[^]*Permission is hereby granted/m)
    expect(licenses).toMatch(/^@effect\/sql /m)
    expect(licenses).not.toMatch(/^(?:@plaza(?:-legacy)?\/|undici )/m)
    const { components } = JSON.parse(readFileSync(Path.join(moved, "sbom.cdx.json"), "utf8")) as {
      readonly components: ReadonlyArray<{ readonly purl: string; readonly scope: string }>
    }
    const listed = components.map(({ purl, scope }) => `${scope} ${purl.replace(/@[^@]*$/, "")}`)
    expect(listed).toEqual(expect.arrayContaining(["required pkg:npm/effect", "required pkg:npm/%40plaza-legacy/client"]))
    expect(listed).not.toContain("required pkg:npm/undici")

    // On the oldest Node without its warning that SQLite is experimental, and without the compiled code of another version.
    for (const node of [process.execPath, oldestNode]) expect(ended(node, "database")).toEqual(opened)

    // Whatever an old Node can't read is behind the check.
    for (const old of tooOldNode === undefined ? [] : [tooOldNode]) {
      const version = execFileSync(old, ["--version"], { encoding: "utf8" }).trim().slice(1)
      const stderr = `probe needs Node 22.19 or later, and this is Node ${version}: install a later one from https://nodejs.org\n`
      for (const word of ["word", "--version", "--help"]) expect(ended(old, word)).toEqual({ status: 2, stderr, stdout: "" })
    }

    // The compiled code is that of this version of Node. If it is missing or V8 rejects it, Node compiles the program again.
    const [tag = ""] = readdirSync(Path.join(moved, "compiled"))
    const compiled = Path.join(moved, "compiled", tag)
    expect(tag).toBe(`${process.version}-${process.platform}-${process.arch}`)
    expect(rejectedIn(moved)).toEqual([false])
    for (const file of readdirSync(compiled)) writeFileSync(Path.join(compiled, file), "no code")
    expect(rejectedIn(moved)).toEqual([true])
    expect(run("word")).toBe("probe 9.8.7")
    rmSync(Path.join(moved, "compiled"), { recursive: true })
    expect(run("word")).toBe("probe 9.8.7")

    // The launcher answers help and version without the program.
    rmSync(Path.join(moved, "program.cjs"))
    expect(run("--help")).toContain("Usage: probe")
    expect(run("--version")).toBe("9.8.7")
  } finally {
    rmSync(app, { recursive: true, force: true })
    rmSync(moved, { recursive: true, force: true })
  }
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
