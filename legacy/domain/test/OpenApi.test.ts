/**
 * The published OpenAPI file: the same as the contract, and what a reader of the document expects to find in it.
 */
import { Predicate } from "effect"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { path, render } from "../scripts/openapi.ts"
import { byCode } from "../src/Errors.ts"

const text = readFileSync(path, "utf8")
const file: unknown = JSON.parse(text)

/** The value at a path of keys. */
const at = (...keys: ReadonlyArray<string>): unknown =>
  keys.reduce<unknown>((value, key) => Predicate.isReadonlyRecord(value) ? value[key] : undefined, file)

const keysAt = (...keys: ReadonlyArray<string>): ReadonlyArray<string> => {
  const value = at(...keys)
  return Predicate.isReadonlyRecord(value) ? Object.keys(value) : []
}

const operations = keysAt("paths").flatMap((path) => keysAt("paths", path).map((method) => ["paths", path, method] as const))

describe("the OpenAPI file", () => {
  it("is what the contract generates", () => {
    expect(text, "openapi.json is out of date: run `pnpm --filter @plaza-legacy/domain openapi` and commit it").toBe(render())
  })

  it("ends with one line end and is the same each time it is generated", () => {
    expect(text).toMatch(/[^\n]\n$/)
    expect(render()).toBe(render())
  })

  it("describes 13 operations, each with its own name, a summary and a description", () => {
    expect(operations).toHaveLength(13)
    expect(new Set(operations.map((place) => at(...place, "operationId"))).size).toBe(13)
    for (const place of operations) {
      expect(at(...place, "summary")).toMatch(/^[A-Z].*[^.]$/)
      expect(at(...place, "description")).toMatch(/\.$/)
    }
  })

  it("requires the bearer key in every operation", () => {
    expect(at("security")).toEqual([{ bearer: [] }])
    expect(at("components", "securitySchemes", "bearer")).toMatchObject({ type: "http", scheme: "bearer" })
    expect(operations.filter((place) => at(...place, "security") !== undefined)).toEqual([])
  })

  it("lists the codes of each status of each operation, and every code at least once", () => {
    const named = new Set<string>()
    for (const place of operations) {
      for (const status of keysAt(...place, "responses").filter((status) => Number(status) >= 400)) {
        const codes = String(at(...place, "responses", status, "description")).split(", ")
        const schema = JSON.stringify(at(...place, "responses", status, "content"))
        for (const code of codes) {
          named.add(code)
          const known = Object.entries(byCode).find(([name]) => name === code)?.[1]
          expect(known, `${code} under ${status}`).toBeDefined()
          expect(schema).toContain(`#/components/schemas/${known?._tag}"`)
        }
      }
    }
    expect([...named].sort()).toEqual(Object.keys(byCode).sort())
  })

  it("gives every error the envelope with its code", () => {
    for (const [code, { _tag }] of Object.entries(byCode)) {
      expect(at("components", "schemas", _tag)).toMatchObject({
        required: ["error"],
        properties: { error: { required: ["code", "message"], properties: { code: { enum: [code] }, message: { type: "string" } } } }
      })
    }
  })

  it("describes Retry-After for the 429 of every operation", () => {
    for (const place of operations) {
      expect(keysAt(...place, "responses", "429", "headers")).toEqual(["Retry-After"])
    }
  })

  it("contains no schema of the framework", () => {
    expect(text).not.toMatch(/HttpApi|"Issue"|PropertyKey|effect|\/schemas\/unknown|@plaza/i)
  })

  it("references only existing schemas, and has no unused schema", () => {
    const referred = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]))
    expect(referred).toEqual(new Set(keysAt("components", "schemas")))
  })

  it.each(["/me/posts", "/conversations"])("accepts 1 to 100 items and a cursor at %s", (path) => {
    expect(at("paths", path, "get", "parameters")).toEqual([
      { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 100 }, required: false },
      { name: "cursor", in: "query", schema: { type: "string" }, required: false }
    ])
    expect(at("paths", path, "get", "responses", "200", "content", "application/json", "schema", "properties", "next_cursor"))
      .toEqual({ anyOf: [{ type: "string" }, { type: "null" }] })
  })

  it("describes an upload as one binary part named file", () => {
    expect(at("paths", "/media", "post", "requestBody", "content")).toMatchObject({
      "multipart/form-data": { schema: { required: ["file"], properties: { file: { type: "string", format: "binary" } } } }
    })
  })

  it("requires every path parameter and permits unknown fields in every resource", () => {
    for (const place of operations) {
      const parameters = at(...place, "parameters")
      const inPath = Array.isArray(parameters)
        ? parameters.filter((parameter: unknown) => JSON.stringify(parameter).includes(`"in":"path"`))
        : []
      expect(inPath).toHaveLength(place[1].split("{").length - 1)
      inPath.forEach((parameter) => expect(parameter).toMatchObject({ required: true, schema: { type: "string" } }))
    }
    for (const resource of ["Profile", "Post", "Media", "Comment", "Product", "Order", "Conversation", "Message"]) {
      expect(at("components", "schemas", resource, "additionalProperties")).toBe(true)
    }
  })
})
