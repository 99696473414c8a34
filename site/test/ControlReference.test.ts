/** The page of the control API has every route of it and no other, with the fields of each body. */
import { ControlApi } from "@plaza/sandbox"
import { OpenApi } from "effect/http-api"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../src/Paths.ts"

interface Body {
  readonly $ref?: string
  readonly properties?: object
}

interface Operation {
  readonly requestBody?: { readonly content: { readonly "application/json"?: { readonly schema: Body } } }
}

const page = readFileSync(join(root, "docs/reference/control-api.md"), "utf8")

/** The input of each documented call, by method and path. Only the fields that the row itself lists. */
const documented = new Map(
  [...page.matchAll(/^\| `([A-Z]+ \/sandbox[^`?]*)` \|([^|]*)\|/gm)].map(([, call = "", input = ""]) => [
    call,
    input.startsWith(" `") ? [...input.replace(/\(.*?\)/g, "").replace(/:.*/, "").matchAll(/`(\w+)`/g)].map(([, field]) => field) : []
  ])
)

// Through JSON, as the served document: it leaves out what is undefined. The cast is true for every OpenAPI document.
const { components, paths } = JSON.parse(JSON.stringify(OpenApi.fromApi(ControlApi))) as {
  readonly components: { readonly schemas: Readonly<Record<string, Body>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
const fieldsOf = ({ requestBody }: Operation): ReadonlyArray<string> => {
  const schema = requestBody?.content["application/json"]?.schema
  return Object.keys((schema?.$ref === undefined ? schema : components.schemas[schema.$ref.replace(/.*\//, "")])?.properties ?? {})
}
const served = new Map(
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      fieldsOf(operation)
    ])
  )
)

describe("the reference of the control API", () => {
  it("has every route and no other", () => {
    expect([...documented.keys()].toSorted()).toEqual([...served.keys()].toSorted())
  })

  it.each([...documented].filter(([, fields]) => fields.length > 0 && !fields.includes("after")))("%s has its fields", (call, fields) => {
    expect(new Set(fields)).toEqual(new Set(served.get(call)))
  })
})
