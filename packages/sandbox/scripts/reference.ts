/**
 * Writes the tables of `docs/reference/assumptions.md`, `service-variant.md` and `control-api.md`, between their marks:
 * `pnpm --filter @plaza/sandbox reference`.
 */
// Scripts are outside of the package's TypeScript configuration, which has Node's types.
/// <reference types="node" />
import * as Duration from "effect/Duration"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import { readFileSync, writeFileSync } from "node:fs"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
import * as Assumptions from "../src/Assumptions.ts"
import { ControlApi } from "../src/control/ControlApi.ts"
import * as Latitude from "../src/Latitude.ts"
import { meanings, sections } from "../src/latitude/Meanings.ts"
import { scopeUses } from "../src/web/Developers.ts"

const code = (text: string): string => `\`${text}\``

const row = (cells: ReadonlyArray<string>): string => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`

const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [row(heads), `|${"---|".repeat(heads.length)}`, ...rows.map(row)].join("\n")

const assumedValue = (name: keyof Assumptions.Assumptions): string => {
  const value = Assumptions.defaults[name]
  return name === "scopes"
    ? "the table below"
    : code(Duration.isDuration(value) ? String(Duration.toMillis(value)) : JSON.stringify(value))
}

/** What a field accepts, in the words of its error. */
const accepted = (name: keyof Latitude.Latitude): string =>
  Result.match(Latitude.decode({ [name]: {} }), {
    onFailure: (problem) => problem.replace(`"${name}" must be `, "").replace(/^one of /, ""),
    onSuccess: () => {
      throw new Error(`the field ${name} accepts an object`)
    }
  })

interface JsonSchema {
  readonly $ref?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
}

interface Operation {
  readonly description?: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> }
}

/** Bodies that another table or section describes. */
const elsewhere: Readonly<Record<string, string>> = {
  Fault: "a [fault](../sandbox.md#faults)",
  Fixtures: "[fixtures](../sandbox.md#fixtures)",
  LatitudeChange: "[fields](service-variant.md), or `seed`"
}

const routes = (): ReadonlyArray<ReadonlyArray<string>> => {
  // Through JSON, as the served document: it leaves out what is undefined. The cast is true for every OpenAPI document.
  const { components, paths } = JSON.parse(JSON.stringify(OpenApi.fromApi(ControlApi))) as {
    readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  }
  const input = ({ parameters = [], requestBody }: Operation): string => {
    const query = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => code(name))
    const schema = requestBody?.content["application/json"]?.schema ?? {}
    const name = schema.$ref?.replace(/.*\//, "") ?? ""
    const { properties = {}, required = [] } = components.schemas[name] ?? schema
    const body = Object.entries(properties).map(([field, { enum: words = [] }]) =>
      `${code(required.includes(field) ? field : `${field}?`)}${words.length < 2 ? "" : ` (${words.join(", ")})`}`
    )
    return elsewhere[name] ?? (query.length > 0 ? `query: ${query.join(", ")}` : body.join(", "))
  }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => [
      code(`${method.toUpperCase()} ${path}`),
      input(operation),
      operation.description ?? ""
    ])
  )
}

const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "assumptions.md": {
    values: table(
      ["name", "default", "what it is"],
      Struct.keys(Assumptions.meanings).map((name) => [code(name), assumedValue(name), Assumptions.meanings[name]])
    ),
    scopes: table(
      ["operation", "scope"],
      scopeUses(Assumptions.defaults).map(({ calls, scope }) => [calls.map(code).join(", "), code(scope)])
    ),
    fixed: table(
      ["id", "section", "what is assumed"],
      Assumptions.fixedAssumptions.map(({ assumption, id, section }) => [code(id), section, assumption])
    )
  },
  "service-variant.md": {
    fields: table(
      ["field", "default", "accepts", "what it is", "section of the document"],
      Struct.keys(meanings).map((name) => [
        code(name),
        code(JSON.stringify(Latitude.defaults[name])),
        accepted(name),
        meanings[name],
        sections[name]
      ])
    )
  },
  "control-api.md": { routes: table(["call", "input", "effect"], routes()) }
}

/** The pages with their current tables. */
export const pages = Object.entries(tables).map(([name, parts]) => {
  const path = fileURLToPath(new URL(`../../../docs/reference/${name}`, import.meta.url))
  const committed = readFileSync(path, "utf8")
  const text = Object.entries(parts).reduce((page, [mark, rows]) => {
    const [start, end] = [`<!-- ${mark} -->`, `<!-- end of ${mark} -->`]
    if (!page.includes(start) || !page.includes(end)) throw new Error(`docs/reference/${name} has no marks for ${mark}`)
    return page.slice(0, page.indexOf(start) + start.length) + `\n\n${rows}\n\n` + page.slice(page.indexOf(end))
  }, committed)
  return { name, path, committed, text }
})

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, text } of pages) writeFileSync(path, text)
}
