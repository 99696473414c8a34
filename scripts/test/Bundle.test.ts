/**
 * A bundled program runs from its `dist` folder alone. The test bundles a small app with a database, moves `dist` and starts it with plain Node.
 */
import { nodeWithSqlite } from "@plaza/testing/NodeWithSqlite"
import { execFileSync, spawnSync } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

const bin = `
declare const __PLAZA_VERSION__: string
const print = () => import("./database.js").then(({ answer }) => answer).then((rows) => console.log(JSON.stringify(rows)))
// As slow as a command on a busy machine: longer than the launcher defers work of V8.
if (process.argv[2] === "slow") setTimeout(print, 2_500)
else if (process.argv[2] === "database") print()
else console.log("probe", __PLAZA_VERSION__)
`
const database = `
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Effect from "effect/Effect"
export const answer = Effect.runPromise(
  Effect.flatMap(SqliteClient.SqliteClient, (sql) => sql\`SELECT 40 + 2 AS answer\`).pipe(Effect.provide(SqliteClient.layer({ filename: ":memory:" })))
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

/** As Node resolves it from the program. */
const libsql = Path.join(root, "apps/cli/node_modules/libsql")

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
      config: { warm: ["slow"] },
      optionalDependencies: { libsql: "*" }
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
      "manual.json",
      "probe.1",
      "probe.cjs",
      "probe.mjs",
      "program.cjs",
      "sbom.cdx.json"
    ])
    expect(run("word")).toBe("probe 9.8.7")
    expect(run("--version")).toBe("9.8.7")

    // The licences and the list are those of the modules that the bundle contains.
    const licenses = readFileSync(Path.join(moved, "THIRD-PARTY-LICENSES"), "utf8")
    expect(licenses).toMatch(/^effect 3\.\d+\.\d+, MIT\n\nMIT License\n[^]*Permission is hereby granted/m)
    expect(licenses).toMatch(/^@effect\/sql-sqlite-node /m)
    expect(licenses).not.toMatch(/^(?:@plaza\/|libsql |undici )/m)
    const { components } = JSON.parse(readFileSync(Path.join(moved, "sbom.cdx.json"), "utf8")) as {
      readonly components: ReadonlyArray<{ readonly purl: string; readonly scope: string }>
    }
    const listed = components.map(({ purl, scope }) => `${scope} ${purl.replace(/@[^@]*$/, "")}`)
    expect(listed).toEqual(
      expect.arrayContaining(["required pkg:npm/effect", "required pkg:npm/%40plaza/cli-kit", "optional pkg:npm/libsql"])
    )
    expect(listed).not.toContain("required pkg:npm/undici")

    // The SQLite of Node, without libsql and with compiled code of another version.
    for (const node of nodeWithSqlite === undefined ? [] : [nodeWithSqlite]) expect(ended(node, "database")).toEqual(opened)
    for (const node of nodeWithSqlite === process.execPath ? [] : [process.execPath]) {
      const missing = ended(node, "database")
      expect(missing).toMatchObject({ status: 2, stdout: "" })
      expect(missing.stderr).toBe(
        `probe: SQLite is not available on Node ${process.versions.node} (Cannot find module 'libsql'): use Node 22.16 or later, which ` +
          `contains it, or install libsql: again with the program, whose optional dependency it is, or by npm install --prefix FOLDER ` +
          `libsql, FOLDER being that of the program\n`
      )
      expect(JSON.parse(ended(node, "database", "--json").stderr)).toEqual({
        error: { tag: "SqliteMissing", code: null, status: null, message: missing.stderr.slice("probe: ".length, -1), details: {} }
      })
    }
    mkdirSync(Path.join(moved, "node_modules"))
    symlinkSync(libsql, Path.join(moved, "node_modules/libsql"))
    expect(ended(process.execPath, "database")).toEqual(opened)
    expect(execFileSync(Path.join(moved, "probe.mjs"), ["database"], { encoding: "utf8" }).trim()).toBe(`[{"answer":42}]`)

    // On Linux, the one native package that is installed tells which to load. With a second one, the dependencies of libsql decide.
    for (const node of process.platform === "linux" && nodeWithSqlite !== process.execPath ? [process.execPath] : []) {
      const modules = Path.join(moved, "node_modules")
      const packages = Path.join(realpathSync(libsql), "..")
      rmSync(Path.join(modules, "libsql"))
      const [native = ""] = readdirSync(Path.join(packages, "@libsql"))
      for (const name of ["libsql", `@libsql/${native}`])
        cpSync(realpathSync(Path.join(packages, name)), Path.join(modules, name), { recursive: true })
      for (const name of ["@neon-rs/load", "detect-libc"]) {
        mkdirSync(Path.join(modules, name), { recursive: true })
        writeFileSync(Path.join(modules, name, "index.js"), `throw new Error("${name} was loaded")`)
      }
      expect(ended(node, "database")).toEqual(opened)
      const other = native.endsWith("gnu") ? native.replace("gnu", "musl") : native.replace("musl", "gnu")
      mkdirSync(Path.join(modules, `@libsql/${other}`))
      writeFileSync(Path.join(modules, `@libsql/${other}/index.js`), `throw new Error("the other native package was loaded")`)
      expect(ended(node, "database").stderr).toContain("@neon-rs/load was loaded")
      for (const name of ["@neon-rs/load", "detect-libc"]) {
        rmSync(Path.join(modules, name), { recursive: true })
        symlinkSync(realpathSync(Path.join(packages, name)), Path.join(modules, name))
      }
      expect(ended(node, "database")).toEqual(opened)
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
