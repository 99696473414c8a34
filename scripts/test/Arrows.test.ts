/**
 * The check of the arrows is itself checked: one file against each arrow, and clean neighbours that must pass.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { check, specifiersOf } from "../arrows.js"

const root = fileURLToPath(new URL("../..", import.meta.url))

const withFiles = <A>(files: Readonly<Record<string, string>>, use: (folder: string) => A): A => {
  const folder = mkdtempSync(Path.join(tmpdir(), "plaza-arrows-"))
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

const rulesBroken = (files: Readonly<Record<string, string>>) => withFiles(files, (folder) => check(folder).violations.map((_) => _.rule))
const run = (files: Readonly<Record<string, string>>) =>
  withFiles(files, (folder) => spawnSync(process.execPath, ["--import", "tsx", "scripts/check-arrows.ts", folder], { cwd: root, encoding: "utf8" }))
const manifest = (fields: object) => JSON.stringify({ name: "x", ...fields })

describe("the arrows", () => {
  it.each([
    ["packages/domain/src/A.ts", `import * as P from "@plaza/client"`, "domain imports effect and @effect/platform alone"],
    ["packages/domain/src/A.ts", `import { readFileSync } from "node:fs"`, "domain imports effect and @effect/platform alone"],
    ["packages/domain/src/A.ts", `import * as N from "@effect/platform-node"`, "domain imports effect and @effect/platform alone"],
    ["packages/client/src/A.ts", `import * as S from "@plaza/sandbox/Server"`, "client does not know sandbox"],
    ["packages/client/src/A.ts", `export * from "node:path"`, "client runs anywhere: only src/node.ts and src/internal/transport/node import Node"],
    ["packages/client/src/deep/node.ts", `import "fs"`, "client runs anywhere: only src/node.ts and src/internal/transport/node import Node"],
    ["packages/client/src/A.ts", `import * as N from "@effect/platform-node/NodeContext"`, "client runs anywhere: only src/node.ts and src/internal/transport/node import Node"],
    ["packages/client/src/A.ts", `import { x } from "./node/X.js"`, "client runs anywhere: nothing else of it imports src/node.ts or src/internal/transport/node"],
    ["packages/client/src/deep/A.ts", `import "../node/X.js"`, "client runs anywhere: nothing else of it imports src/node.ts or src/internal/transport/node"],
    ["packages/client/src/A.ts", `export * from "./node.js"`, "client runs anywhere: nothing else of it imports src/node.ts or src/internal/transport/node"],
    ["packages/sandbox/src/A.ts", `import type { Plaza } from "@plaza/client"`, "sandbox does not know client"],
    ["packages/client/src/A.ts", `import "@plaza/terminal/Text"`, "only programs know the terminal"],
    ["packages/sandbox/test/A.test.ts", `import "@plaza/terminal"`, "only programs know the terminal"],
    ["packages/terminal/src/A.ts", `import "@plaza/sandbox"`, "terminal does not know sandbox"],
    ["packages/terminal/src/A.ts", `import "@plaza/rows/Csv"`, "only programs read rows"],
    ["packages/rows/src/A.ts", `import "@plaza/client"`, "rows know the domain alone"],
    ["packages/terminal/src/A.ts", `import "@plaza/cli"`, "packages do not know apps, examples or benchmarks"],
    ["packages/sandbox/test/A.test.ts", `import "@plaza/cli"`, "packages do not know apps, examples or benchmarks"],
    ["packages/domain/test/A.test.ts", `import "@plaza/examples"`, "packages do not know apps, examples or benchmarks"],
    ["apps/cli/src/A.ts", `import "@plaza/stock-sync"`, "apps do not know one another"],
    ["apps/stock-sync/src/A.ts", `import "@plaza/cli"`, "apps do not know one another"],
    ["packages/sandbox/src/A.ts", `import { x } from "../../client/src/x.js"`, "a relative path stays in its own package"],
    ["apps/cli/test/A.test.ts", `import { x } from "../../../packages/domain/src/x.js"`, "a relative path stays in its own package"],
    ["packages/client/src/A.ts", `import { x } from "../test/x.js"`, "sources do not know tests"]
  ])("%s with %s is refused: %s", (file, text, rule) => {
    expect(rulesBroken({ [file]: text })).toEqual([rule])
  })

  it("lets through everything that runs with them", () => {
    expect(rulesBroken({
      "packages/domain/src/A.ts": `import * as E from "effect/Effect"; import "effect"; export * from "@effect/platform/HttpApi"; import "./B.js"`,
      "packages/client/src/A.ts": `import * as D from "@plaza/domain/Ids"; export * from "./deep/B.js"`,
      "packages/client/src/node.ts": `import "node:fs"; import "@effect/platform-node/NodeHttpClient"; import "./internal/transport/node/X.js"`,
      "packages/client/src/internal/transport/node/X.ts": `import "node:net"; import "./Y.js"; import "../../../A.js"`,
      "packages/client/test/A.test.ts": `import "@plaza/sandbox"; import { A } from "../src/A.js"; import "node:fs"`,
      "packages/sandbox/src/A.ts": `import "@plaza/domain"; import "@effect/sql"; import "node:net"`,
      "packages/sandbox/test/A.test.ts": `import "@plaza/client"`,
      "packages/terminal/src/A.ts": `import "@plaza/client/ClientError"; import "@plaza/domain"; import "node:tty"; import "@effect/platform-node/NodeRuntime"`,
      "apps/cli/src/A.ts": `import "@plaza/terminal"; import "@plaza/client"; import "@plaza/sandbox"; import("./B.js")`,
      "examples/src/A.ts": `import "@plaza/cli"; import "@plaza/sandbox"`
    })).toEqual([])
  })

  it("refuses sources that load what only the tests have", () => {
    const files = {
      "packages/client/package.json": manifest({ dependencies: { mime: "1" }, peerDependencies: { effect: "1" }, devDependencies: { vitest: "1" } }),
      "packages/client/src/A.ts": `import "mime/lite"; import "effect/Effect"; import "vitest"`,
      "packages/client/test/A.test.ts": `import "vitest"`
    }
    expect(withFiles(files, (folder) => check(folder).violations)).toEqual([{
      file: "packages/client/src/A.ts",
      specifier: "vitest",
      rule: "sources import only what their package.json names under dependencies or peerDependencies"
    }])
  })

  it("sees every way in which a module can be named", () => {
    const text = `
      import a from "1"; import type { B } from "2"; export * from "3"; export { c } from "4"
      type D = import("5").D; const e = () => import("6"); import f = require("7"); const g = require("8")
      export const notAnImport = 'import "9"'`
    expect(specifiersOf("A.ts", text).toSorted()).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"])
  })

  it("fails as a program for a violation and for an empty folder, and passes for a clean one", () => {
    const bad = run({ "packages/sandbox/src/A.ts": `import "@plaza/client"` })
    expect(bad.stderr).toBe(`packages/sandbox/src/A.ts: "@plaza/client": sandbox does not know client\n`)
    expect(bad.status).toBe(1)
    expect(run({}).status).toBe(1)
    expect(run({ "packages/sandbox/src/A.ts": `import "@plaza/domain"` }).status).toBe(0)
  })
})
