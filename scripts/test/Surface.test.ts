/** The file of the public surface: what is in it, and what the check says about a difference. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Flag, Page } from "../../packages/cli-kit/src/Manual.ts"
import { check, difference, type Programs, surface } from "../surface.ts"
import { documentLines, fieldLines } from "../surface/JsonFields.ts"
import { commandLines } from "../surface/Programs.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const committed = readFileSync(join(root, "docs/reference/surface.txt"), "utf8")
const sectionOf = (text: string, title: string): ReadonlyArray<string> =>
  (text.split(`\n# ${title}\n`)[1] ?? "").split("\n# ")[0]?.split("\n").filter((line) => line !== "") ?? []

const flag: Flag = { name: "limit", aliases: [], value: "N", required: false, description: "The maximum (default: 20)." }
const page: Page = {
  path: ["shop"],
  summary: "Sells.",
  details: [],
  args: [],
  flags: [flag],
  globals: [],
  commands: [],
  examples: [],
  sections: []
}
const programs: Programs = { commands: commandLines([page]), outputs: [], tools: [], errors: (tags) => tags }

const manifest = {
  name: "@shop/kit",
  exports: { ".": { "@plaza/source": "./src/index.ts" }, "./*": { "@plaza/source": "./src/*.ts" }, "./internal/*": null }
}
const files: Readonly<Record<string, string>> = {
  "packages/kit/package.json": JSON.stringify(manifest),
  "packages/kit/src/index.ts": `export interface Order { readonly id: string; readonly note?: string }
export * as Tools from "./Tools.ts"
export const ship = (order: Order, { fast = true }: { readonly fast?: boolean } = {}) => ({ order, fast })
export class Closed extends Error { readonly _tag = "Closed" }
export declare namespace Closed { export type Reason = "night" | "holiday" }
`,
  "packages/kit/src/Tools.ts":
    `declare const Effect: { logInfo: (event: string) => string; annotateLogs: (log: string, fields: object) => string }
declare const Metric: { gauge: (name: string, options: { description: string }) => number; tagged: (metric: number, label: string, value: string) => number }
const gauge = (name: string, description: string) => Metric.gauge(\`shop_\${name}\`, { description })
export const open = gauge("open", "Open orders")
export const shown = Metric.tagged(open, "state", "new")
declare const failure: () => { readonly reason: string }
export const log = (id: string, late: boolean) =>
  Effect.annotateLogs(Effect.logInfo("order.shipped"), late ? { id, ...failure() } : { id, carrier: "post" })
export const key = "SHOP_KEY"
`,
  "packages/hidden/package.json": JSON.stringify({ ...manifest, name: "@shop/hidden", private: true }),
  "packages/hidden/src/index.ts": "export const hidden = 1\n",
  "packages/domain/openapi.json": JSON.stringify({
    paths: {
      "/orders": {
        get: {
          operationId: "listOrders",
          summary: "List",
          parameters: [{ in: "query", name: "limit", schema: { type: "integer" } }],
          responses: {}
        }
      }
    }
  }),
  "docs/guide.md": "# Guide\n\n## Start\n\n```sh\n# no heading\n```\n\n### Fast\n\nSet `PLAZA_API_KEY`.\n"
}

const folders: Array<string> = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

const checkout = (changes: Readonly<Record<string, (text: string) => string>> = {}): string => {
  const folder = mkdtempSync(join(tmpdir(), "surface-"))
  folders.push(folder)
  // In the reverse order, which a file system may keep.
  for (const [path, text] of Object.entries(files).toReversed()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), changes[path]?.(text) ?? text)
  }
  return folder
}

describe("the surface of a checkout", () => {
  let before = ""
  beforeAll(() => {
    before = surface(checkout(), programs)
  })

  it("lists the exports of published packages, with their members and types", () => {
    expect(sectionOf(before, "Exports")).toEqual([
      "@shop/kit: module",
      "@shop/kit Closed: class extends Error",
      "@shop/kit Closed.Reason: type \"night\" | \"holiday\"",
      "@shop/kit Closed._tag: \"Closed\"",
      "@shop/kit Order: interface",
      "@shop/kit Order.id: string",
      "@shop/kit Order.note?: string",
      "@shop/kit Tools: namespace",
      "@shop/kit Tools.key: \"SHOP_KEY\"",
      "@shop/kit Tools.log: (id: string, late: boolean) => string",
      "@shop/kit Tools.open: number",
      "@shop/kit Tools.shown: number",
      "@shop/kit ship: (order: Order, arg1?: { readonly fast?: boolean; }) => { fast: boolean; order: Order; }",
      "@shop/kit/Tools = @shop/kit Tools",
      "@shop/kit/index = @shop/kit"
    ])
  })

  it("lists commands, metrics with labels, log events with fields, endpoints and headings", () => {
    expect(sectionOf(before, "Commands")).toContain("shop option --limit N: The maximum (default: 20).")
    expect(sectionOf(before, "Metrics")).toEqual(["shop_open {state} gauge: Open orders"])
    expect(sectionOf(before, "Log events")).toEqual(["order.shipped {carrier, id, reason}"])
    expect(sectionOf(before, "Endpoints of the interface")).toContain("GET /orders query limit?: integer")
    expect(sectionOf(before, "Headings of the documentation")).toEqual([
      "docs/guide.md: Guide",
      "docs/guide.md: Guide > Start",
      "docs/guide.md: Guide > Start > Fast"
    ])
    expect(sectionOf(before, "Variables")).toEqual(["PLAZA_API_KEY: documented"])
  })

  it.each([
    ["an export", "packages/kit/src/index.ts", "note?: string", "note: string", [
      "# Exports",
      "+ @shop/kit Order.note: string",
      "- @shop/kit Order.note?: string"
    ]],
    ["a log event", "packages/kit/src/Tools.ts", "order.shipped", "order.sent", [
      "# Log events",
      "+ order.sent {carrier, id, reason}",
      "- order.shipped {carrier, id, reason}"
    ]],
    ["a label", "packages/kit/src/Tools.ts", "\"state\"", "\"stage\"", [
      "# Metrics",
      "+ shop_open {stage} gauge: Open orders",
      "- shop_open {state} gauge: Open orders"
    ]],
    ["a heading", "docs/guide.md", "### Fast", "### Slow", [
      "# Headings of the documentation",
      "- docs/guide.md: Guide > Start > Fast",
      "+ docs/guide.md: Guide > Start > Slow"
    ]],
    ["an endpoint", "packages/domain/openapi.json", "\"limit\"", "\"size\"", [
      "# Endpoints of the interface",
      "- GET /orders query limit?: integer",
      "+ GET /orders query size?: integer"
    ]]
  ])("shows %s that changed in its own lines", (_, file, from, to, lines) => {
    expect(difference(before, surface(checkout({ [file]: (text) => text.replace(from, to) }), programs))).toEqual(lines)
  })

  it("does not depend on the order of declarations and files", () => {
    const reversed = (text: string) => text.trim().split("\n").toReversed().join("\n")
    expect(surface(checkout({ "packages/kit/src/index.ts": reversed }), { ...programs, commands: programs.commands.toReversed() })).toBe(
      before
    )
  })
})

describe("the check", () => {
  const one = "Written.\n\n# Commands\n\nplaza posts list\n\n# Metrics\n\nsends\n"

  it("prints what was lost and added, and says what to run", () => {
    const { isSame, message } = check(one, one.replace("sends", "sent"))
    expect(isSame).toBe(false)
    expect(message).toBe(
      "# Metrics\n- sends\n+ sent\n\nsurface: the public surface has changed: run `npm run surface` and commit docs/reference/surface.txt\n"
    )
  })

  it("accepts the same text", () => {
    expect(check(one, one)).toEqual({ isSame: true, message: "surface: 10 lines\n" })
  })

  it("shows a changed option", () => {
    const flags = [{ ...flag, description: "The maximum (default: 50)." }]
    expect(
      difference(`# Commands\n${commandLines([page]).join("\n")}`, `# Commands\n${commandLines([{ ...page, flags }]).join("\n")}`)
    )
      .toEqual([
        "# Commands",
        "- shop option --limit N: The maximum (default: 20).",
        "+ shop option --limit N: The maximum (default: 50)."
      ])
  })
})

describe("the lines of a JSON Schema", () => {
  it("do not depend on how the generator spells it", () => {
    const one = {
      type: "object",
      required: ["at"],
      properties: { at: { anyOf: [{ type: "string" }, { type: "null" }] }, n: { $ref: "#/$defs/Int" } }
    }
    const other = {
      type: "object",
      properties: { n: { type: "integer", description: "an integer" }, at: { type: ["null", "string"] } },
      required: ["at"]
    }
    expect(fieldLines("x", one, { Int: { type: "integer" } })).toEqual(["x.at: null | string", "x.n?: integer"])
    expect(fieldLines("x", other).toSorted()).toEqual(["x.at: null | string", "x.n?: integer"])
  })

  it("have the constraints and the descriptions that a person wrote", () => {
    expect(fieldLines("x", { type: "array", minItems: 1, items: { type: "string", maxLength: 5 }, description: "Names" })).toEqual([
      "x: minItems 1 \"Names\"",
      "x[]: string, maxLength 5"
    ])
    expect(documentLines({})).toEqual([])
  })
})

/** Tests of each program compare these tables of the documentation with what it logs, counts and reads. */
describe("the committed surface", () => {
  const page = (path: string) => readFileSync(join(root, path), "utf8")
  const rowsBelow = (text: string, heading: RegExp): ReadonlyArray<ReadonlyArray<string>> =>
    (text.split(heading)[1] ?? "").split(/\n#+ /)[0]?.split("\n").filter((line) => line.startsWith("| `"))
      .map((line) => line.split("|").slice(1).map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code).join(" "))) ?? []
  const firstWords = (title: string) => new Set(sectionOf(committed, title).map((line) => line.split(/[ :]/)[0] ?? ""))

  it.each([
    ["docs/stock-sync-watching.md", /\n#+ Log\n/],
    ["docs/fleet.md", /\n#+ Log\n/]
  ])("has every log event of %s", (file, heading) => {
    const documented = rowsBelow(page(file), heading).flatMap(([names = ""]) => names.split(" "))
    expect(documented.length).toBeGreaterThan(10)
    expect(documented.filter((name) => !firstWords("Log events").has(name))).toEqual([])
  })

  it("has every metric of the worker with its labels", () => {
    const rows = rowsBelow(page("docs/stock-sync-watching.md"), /\n#+ Metrics\n/)
    const lines = sectionOf(committed, "Metrics")
    const documented = rows.flatMap(([names = "", labels = ""]) =>
      names.split(" ").map((name) =>
        `${name.startsWith("plaza_") ? name : `plaza_stock_sync_${name}`} {${labels.split(" ").toSorted().join(", ")}}`.replace("_total ",
          " ")
      )
    )
    expect(documented.length).toBeGreaterThan(20)
    expect(documented.filter((line) => !lines.some((each) => each.startsWith(`${line} `)))).toEqual([])
  })

  it("has every event of the webhook", () => {
    const documented = rowsBelow(page("docs/stock-sync-watching.md"), /\n#+ Webhook\n/).map(([name]) => name ?? "")
    expect(documented.length).toBeGreaterThan(5)
    const lines = sectionOf(committed, "Webhook events")
    expect(documented.filter((name) => !lines.includes(`${name}: event`))).toEqual([])
  })
})
