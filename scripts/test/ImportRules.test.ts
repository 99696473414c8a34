/**
 * Each import rule rejects a file that breaks it and accepts similar files.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { check, specifiersOf } from "../ImportRules.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const withFiles = <A>(files: Readonly<Record<string, string>>, use: (folder: string) => A): A => {
  const folder = mkdtempSync(Path.join(tmpdir(), "plaza-imports-"))
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
  withFiles(files, (folder) => spawnSync(process.execPath, ["scripts/check-imports.ts", folder], { cwd: root, encoding: "utf8" }))
const manifest = (fields: object) => JSON.stringify({ name: "x", ...fields })

describe("the import rules", () => {
  const nodeModules = "client imports Node only in src/node.ts, src/node-http.ts, src/sqlite.ts and src/internal/transport/node"
  const nodeEntry = "no other client module imports src/node.ts or src/internal/transport/node"

  it.each([
    ["packages/domain/src/A.ts", `import * as P from "@plaza/client"`, "domain imports only effect"],
    ["packages/domain/src/A.ts", `import { readFileSync } from "node:fs"`, "domain imports only effect"],
    ["packages/domain/src/A.ts", `import * as N from "@effect/platform-node"`, "domain imports only effect"],
    ["packages/client/src/A.ts", `import * as S from "@plaza/sandbox/Server"`, "client does not import sandbox"],
    ["packages/client/src/A.ts", `export * from "node:path"`, nodeModules],
    ["packages/client/src/deep/node.ts", `import "fs"`, nodeModules],
    ["packages/client/src/A.ts", `import * as N from "@effect/platform-node/NodeHttpClient"`, nodeModules],
    ["packages/client/src/A.ts", `import { x } from "./node/X.ts"`, nodeEntry],
    ["packages/client/src/deep/A.ts", `import "../node/X.ts"`, nodeEntry],
    ["packages/client/src/A.ts", `export * from "./node.ts"`, nodeEntry],
    ["packages/sandbox/src/A.ts", `import type { Plaza } from "@plaza/client"`, "sandbox does not import client"],
    ["packages/client/src/A.ts", `import "@plaza/cli-kit/Text"`, "libraries do not import cli-kit or tabular"],
    ["packages/sandbox/test/A.test.ts", `import "@plaza/cli-kit/Text"`, "libraries do not import cli-kit or tabular"],
    ["packages/domain/test/A.test.ts", `import "@plaza/tabular/Csv"`, "libraries do not import cli-kit or tabular"],
    ["packages/sandbox/test/A.test.ts", `import "@plaza/cli"`, "packages do not import apps, examples, benchmarks or deploy"],
    ["packages/domain/test/A.test.ts", `import "@plaza/examples"`, "packages do not import apps, examples, benchmarks or deploy"],
    ["packages/sandbox/src/A.ts", `import { x } from "../../client/src/x.ts"`, "a relative import stays inside its package"],
    ["packages/client/src/A.ts", `import { x } from "../test/x.ts"`, "sources do not import tests"],
    [
      "packages/sandbox/src/storage/A.ts",
      `import type { B } from "../areas/posts/B.ts"`,
      "folders of the sandbox import each other in one direction: storage, latitude, access, areas, http, seeding, control, web"
    ],
    [
      "packages/sandbox/src/areas/posts/A.ts",
      `import { B } from "../../http/B.ts"`,
      "folders of the sandbox import each other in one direction: storage, latitude, access, areas, http, seeding, control, web"
    ],
    [
      "packages/sandbox/src/Sandbox.ts",
      `import * as S from "@effect/platform-node/NodeHttpServer"`,
      "only src/http/NodeServer.ts of sandbox loads the server"
    ],
    ["packages/domain/src/A.ts", `import * as P from "@effect/platform"`, "domain imports only effect"],
    ["packages/domain/src/A.ts", `import * as H from "effect/http-api"`, "only PlazaApi and the index of domain load HttpApi"],
    ["packages/cli-kit/src/A.ts", `import "@plaza/sandbox"`, "cli-kit does not import sandbox"],
    ["packages/cli-kit/src/A.ts", `import "@plaza/tabular/Csv"`, "cli-kit does not import tabular"],
    ["packages/tabular/src/A.ts", `import "@plaza/client"`, "tabular does not import client, sandbox or cli-kit"],
    ["packages/cli-kit/src/A.ts", `import "@plaza/cli"`, "packages do not import apps, examples, benchmarks or deploy"],
    ["apps/cli/src/A.ts", `import "@plaza/stock-sync"`, "apps do not import each other, examples or benchmarks"],
    ["apps/stock-sync/src/A.ts", `import "@plaza/cli"`, "apps do not import each other, examples or benchmarks"],
    ["apps/cli/test/A.test.ts", `import { x } from "../../../packages/domain/src/x.ts"`, "a relative import stays inside its package"]
  ])("%s with %s breaks the rule: %s", (file, text, rule) => {
    expect(rulesBroken({ [file]: text })).toEqual([rule])
  })

  it("allow every other import", () => {
    expect(rulesBroken({
      "packages/domain/src/A.ts": `import * as E from "effect/Effect"; import "effect"; import "./B.ts"`,
      "packages/domain/src/PlazaApi.ts": `export * from "effect/http-api/HttpApi"`,
      "packages/client/src/A.ts": `import * as D from "@plaza/domain/Ids"; export * from "./deep/B.ts"`,
      "packages/client/src/node.ts":
        `import "node:fs"; import "@effect/platform-node/NodeHttpClient"; import "./internal/transport/node/X.ts"`,
      "packages/client/src/internal/transport/node/X.ts": `import "node:net"; import "./Y.ts"; import "../../../A.ts"`,
      "packages/client/test/A.test.ts": `import "@plaza/sandbox"; import { A } from "../src/A.ts"; import "node:fs"`,
      "packages/sandbox/src/A.ts": `import "@plaza/domain"; import "node:sqlite"`,
      "packages/sandbox/src/http/NodeServer.ts": `import "@effect/platform-node/NodeHttpServer"; import "node:net"`,
      "packages/sandbox/test/A.test.ts": `import "@plaza/client"`,
      "packages/cli-kit/src/A.ts":
        `import "@plaza/client/ClientError"; import "@plaza/domain"; import "node:tty"; import "@effect/platform-node/NodeRuntime"`,
      "packages/client/src/node-http.ts": `import "node:http"; import "./internal/transport/node/X.ts"`,
      "apps/cli/src/A.ts": `import "@plaza/cli-kit/Text"; import "@plaza/client"; import "@plaza/sandbox"; import("./B.ts")`,
      "examples/src/A.ts": `import "@plaza/cli"; import "@plaza/sandbox"`,
      "site/src/A.ts": `import "@plaza/cli-kit/Manual"; import "../../apps/cli/src/manual.ts"`
    })).toEqual([])
  })

  it("reject sources that import a development dependency", () => {
    const files = {
      "packages/client/package.json": manifest({
        dependencies: { mime: "1" },
        peerDependencies: { effect: "1" },
        devDependencies: { vitest: "1" }
      }),
      "packages/client/src/A.ts": `import "mime/lite"; import "effect/Effect"; import "vitest"`,
      "packages/client/test/A.test.ts": `import "vitest"`
    }
    expect(withFiles(files, (folder) => check(folder).violations)).toEqual([{
      file: "packages/client/src/A.ts",
      specifier: "vitest",
      rule: "sources import only packages that their package.json lists: see CONTRIBUTING.md"
    }])
  })

  it("allow sources of an app, which is a bundle, to import a development dependency that is not for tests", () => {
    const files = {
      "apps/stock-sync/package.json": manifest({
        devDependencies: { effect: "1", vitest: "1", "@plaza/sandbox": "1" },
        optionalDependencies: { native: "1" }
      }),
      "apps/stock-sync/src/A.ts": `import "effect/Effect"; import "vitest"; import "@plaza/sandbox"; import "native"`,
      "apps/stock-sync/test/A.test.ts": `import "vitest"`
    }
    expect(withFiles(files, (folder) => check(folder).violations)).toEqual([
      { file: "apps/stock-sync/src/A.ts", specifier: "vitest", rule: "sources of apps do not import what only tests use" },
      { file: "apps/stock-sync/src/A.ts", specifier: "@plaza/sandbox", rule: "stock-sync does not import sandbox" },
      {
        file: "apps/stock-sync/src/A.ts",
        specifier: "native",
        rule: "sources import only packages that their package.json lists: see CONTRIBUTING.md"
      }
    ])
  })

  it("see every form of import", () => {
    const text = `
      import a from "1"; import type { B } from "2"; export * from "3"; export { c } from "4"
      type D = import("5").D; const e = () => import("6"); import f = require("7"); const g = require("8")
      export const notAnImport = 'import "9"'`
    expect(specifiersOf("A.ts", text).toSorted()).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"])
  })

  it("make the program fail for a forbidden import and for an empty folder, and pass otherwise", () => {
    const bad = run({ "packages/sandbox/src/A.ts": `import "@plaza/client"` })
    expect(bad.stderr).toBe(`packages/sandbox/src/A.ts: "@plaza/client": sandbox does not import client\n`)
    expect(bad.status).toBe(1)
    expect(run({}).status).toBe(1)
    expect(run({ "packages/sandbox/src/A.ts": `import "@plaza/domain"` }).status).toBe(0)
  })
})
