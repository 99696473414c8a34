/**
 * A Postman collection of format 2.1, from an OpenAPI document: a folder for each tag, a request for each operation, and an
 * example for each body.
 *
 * @since 0.1.0
 */
import type * as OpenApi from "@effect/platform/OpenApi"
import * as Predicate from "effect/Predicate"

const format = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

type Schemas = OpenApi.OpenAPISpec["components"]["schemas"]

const prefixOfRefs = "#/components/schemas/"

/** A value that a schema accepts in most cases. */
const example = (schema: unknown, schemas: Schemas): unknown => {
  if (!Predicate.isReadonlyRecord(schema)) {
    return {}
  }
  const { $ref, anyOf, minimum, properties, type } = schema
  if (typeof $ref === "string") {
    // A reference may have further keywords beside it.
    return example({ ...schemas[$ref.slice(prefixOfRefs.length)], ...schema, $ref: undefined }, schemas)
  }
  if (Array.isArray(anyOf)) {
    return example(anyOf[0], schemas)
  }
  if (Array.isArray(schema["enum"])) {
    return schema["enum"][0]
  }
  switch (type) {
    case "string":
      return "text"
    case "integer":
    case "number":
      return typeof minimum === "number" && minimum > 1 ? minimum : 1
    case "boolean":
      return true
    case "array":
      // The lists of the interface have ids, which would have to exist.
      return []
    default:
      return Predicate.isReadonlyRecord(properties)
        ? Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, example(property, schemas)]))
        : {}
  }
}

const bodyOf = ({ requestBody }: OpenApi.OpenAPISpecOperation, schemas: Schemas): object => {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (media === undefined) {
    return {}
  }
  return type === "multipart/form-data"
    ? { body: { mode: "formdata", formdata: [{ key: "file", type: "file", src: null }] } }
    : {
      header: [{ key: "Content-Type", value: type }],
      body: {
        mode: "raw",
        raw: JSON.stringify(example(media.schema, schemas), undefined, 2),
        options: { raw: { language: "json" } }
      }
    }
}

const request = (method: string, path: string, operation: OpenApi.OpenAPISpecOperation, schemas: Schemas): object => {
  const segments = path.split("/").filter((segment) => segment !== "").map((segment) => segment.replace(/^\{(.+)\}$/, ":$1"))
  const of = (place: string) => operation.parameters.filter((parameter) => parameter.in === place)
  return {
    name: operation.summary ?? operation.operationId,
    request: {
      method: method.toUpperCase(),
      description: operation.description ?? "",
      header: [],
      url: {
        raw: `{{baseUrl}}/${segments.join("/")}`,
        host: ["{{baseUrl}}"],
        path: segments,
        // Optional parameters are there to be switched on.
        query: of("query").map(({ name, required }) => ({ key: name, value: "", disabled: !required })),
        variable: of("path").map(({ name }) => ({ key: name, value: "" }))
      },
      ...bodyOf(operation, schemas)
    }
  }
}

/**
 * Generates the collection. Its variables are `baseUrl` and `apiKey`, which is empty.
 *
 * @since 0.1.0
 * @category constructors
 */
export const collection = (document: OpenApi.OpenAPISpec, baseUrl: string): Readonly<Record<string, unknown>> => {
  const { components: { schemas }, info, paths, tags } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]: readonly [string, OpenApi.OpenAPISpecOperation]) => ({ method, path, operation }))
  )
  return {
    info: { name: info.title, description: info.description ?? "", version: info.version, schema: format },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: baseUrl, type: "string" },
      { key: "apiKey", value: "", type: "string", description: "The API key that plaza sandbox start prints." }
    ],
    item: tags.map(({ description, name }) => ({
      name,
      description: description ?? "",
      item: operations
        .filter(({ operation }) => operation.tags.includes(name))
        .map(({ method, operation, path }) => request(method, path, operation, schemas))
    }))
  }
}
