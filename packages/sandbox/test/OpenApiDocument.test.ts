/**
 * The OpenAPI document of the sandbox, which marks assumed operations.
 */
import { PlazaApi } from "@plaza/domain"
import { Predicate } from "effect"
import * as OpenApi from "effect/http-api/OpenApi"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { control, sandbox } from "../scripts/openapi.ts"
import { ControlApi } from "../src/control/ControlApi.ts"
import { RequestQuery } from "../src/http/RequestLog.ts"
import * as OpenApiDocument from "../src/OpenApiDocument.ts"

const text = readFileSync(sandbox.path, "utf8")
const documented = OpenApi.fromApi(PlazaApi)

const operationsOf = (file: OpenApi.OpenAPISpec) =>
  new Map(
    OpenApiDocument.operationsOf(file).map(({ method, operation, path }) => [`${method.toUpperCase()} ${path}`, operation] as const)
  )

const isAssumed = (operation: unknown) => Predicate.isReadonlyObject(operation) && operation["x-plaza-assumed"] === true

describe("the OpenAPI document of the sandbox", () => {
  const whole = operationsOf(OpenApiDocument.openApi({ undocumented: true }))
  const contract = operationsOf(documented)

  it("is generated from the contract and the assumptions", () => {
    expect(text, "openapi.json is out of date: run `pnpm --filter @plaza/sandbox openapi` and commit it").toBe(sandbox.text)
  })

  it("contains every operation of the contract unchanged", () => {
    expect([...whole].filter(([route]) => contract.has(route))).toEqual([...contract])
  })

  it("marks and describes every assumed operation, and marks no other", () => {
    expect([...whole].filter(([, operation]) => isAssumed(operation)).map(([route]) => route).sort()).toEqual([
      "DELETE /posts/{id}",
      "GET /conversations/{id}/messages",
      "GET /posts/{id}",
      "GET /store",
      "GET /store/orders",
      "GET /store/orders/{id}",
      "GET /store/products",
      "GET /store/products/{id}",
      "PATCH /posts/{id}",
      "POST /stories"
    ])
    const saysSo = [...whole].filter(([, operation]) => operation.description?.includes("Assumed:") === true)
    expect(saysSo.map(([route]) => route)).toEqual([...whole.keys()].filter((route) => !contract.has(route)))
  })

  it("has a unique name for each operation", () => {
    expect(new Set([...whole.values()].map(({ operationId }) => operationId)).size).toBe(whole.size)
  })

  it("is the contract and POST /stories without undocumented operations", () => {
    const bare = operationsOf(OpenApiDocument.openApi({ undocumented: false }))
    expect([...bare.keys()].filter((route) => !contract.has(route))).toEqual(["POST /stories"])
    expect(JSON.stringify(OpenApiDocument.openApi({ undocumented: false }))).not.toContain("StoreDetails")
  })

  it("has every schema it refers to, no unused schema, and each tag once", () => {
    const { components, tags } = OpenApiDocument.openApi({ undocumented: true })
    const referred = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]))
    expect(referred).toEqual(new Set(Object.keys(components.schemas)))
    expect(new Set(tags.map(({ name }) => name)).size).toBe(tags.length)
    for (const operation of whole.values()) {
      expect(tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags))
    }
  })

  it("contains no trace of the framework", () => {
    expect(text).not.toMatch(/HttpApi|"Issue"|PropertyKey|effect|\/schemas\/unknown|@plaza/i)
  })
})

describe("the OpenAPI document of the control API", () => {
  const text = readFileSync(control.path, "utf8")

  it("is generated from the contract of the control API", () => {
    expect(text, "control-openapi.json is out of date: run `pnpm --filter @plaza/sandbox openapi` and commit it").toBe(control.text)
  })

  it("has every filter of the request log as a parameter", () => {
    const { paths } = OpenApi.fromApi(ControlApi)
    const parameters = paths["/sandbox/requests"]?.get?.parameters.map(({ in: place, name, required }) => `${place} ${name} ${required}`)
    expect(parameters).toEqual(Object.keys(RequestQuery.fields).map((name) => `query ${name} false`))
  })

  it("contains no trace of the framework", () => {
    expect(text).not.toMatch(/HttpApi|"Issue"|PropertyKey|@effect|\/schemas\/unknown|@plaza/i)
  })
})
