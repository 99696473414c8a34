/**
 * Transforms the generated OpenAPI document: removes the schemas of the framework's own errors, requires the key
 * everywhere, and describes the codes of each status and `Retry-After`.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"

type Json = Readonly<Record<string, unknown>>

const frameworkSchemas = ["HttpApiDecodeError", "Issue", "PropertyKey"]

const refTo = (name: string) => `#/components/schemas/${name}`
const isFrameworkRef = (value: unknown): boolean =>
  Predicate.isReadonlyRecord(value) && frameworkSchemas.some((name) => value["$ref"] === refTo(name))

/** Applies `f` to every object, leaves first, and removes each value that becomes `undefined`. */
const rewrite = (value: unknown, f: (object: Json) => unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map((item) => rewrite(item, f)).filter(Predicate.isNotUndefined)
  }
  if (!Predicate.isReadonlyRecord(value)) {
    return value
  }
  const entries = Object.entries(value)
    .map(([key, item]) => [key, rewrite(item, f)] as const)
    .filter(([, item]) => item !== undefined)
  return f(Object.fromEntries(entries))
}

const withoutFrameworkSchemas = (object: Json): unknown => {
  if (isFrameworkRef(object)) {
    return undefined
  }
  const { anyOf } = object
  if (Array.isArray(anyOf) && anyOf.length === 1) {
    return anyOf[0]
  }
  // "Any value" is the empty schema. The framework gives it an id, and an id must be unique in a document.
  if (object["$id"] === "/schemas/unknown") {
    const { $id: _id, title: _title, ...rest } = object
    return rest
  }
  // A media type without a schema has no information.
  return "application/json" in object && Predicate.isReadonlyRecord(object["application/json"]) &&
      Object.keys(object["application/json"]).length === 0
    ? undefined
    : object
}

/** The codes of a response. The description of each error's schema is its code. */
const codesOf = (response: unknown, schemas: Json): ReadonlyArray<string> =>
  [...JSON.stringify(response).matchAll(/#\/components\/schemas\/(\w+)/g)].flatMap(([, name]) => {
    const schema = name === undefined ? undefined : schemas[name]
    return Predicate.isReadonlyRecord(schema) && Predicate.isString(schema["description"]) ? schema["description"] : []
  })

// The schemas of the errors describe bodies only, so the framework can't generate this header.
const retryAfter = {
  "Retry-After": {
    description: "How long to wait: seconds, or an HTTP date.",
    schema: { type: "string" }
  }
}

const operation = (schemas: Json) => (value: unknown): unknown => {
  if (!Predicate.isReadonlyRecord(value) || !Predicate.isReadonlyRecord(value["responses"])) {
    return value
  }
  // An empty list would override the document's requirement: the operation would need no key.
  const { security: _, ...rest } = value
  const responses = Object.entries(value["responses"]).flatMap(([status, response]) => {
    if (!Predicate.isReadonlyRecord(response)) {
      return []
    }
    if (Number(status) < 400) {
      return [[status, response] as const]
    }
    const { content } = response
    return content === undefined ? [] : [
      [status, {
        description: codesOf(response, schemas).join(", "),
        ...(status === "429" ? { headers: retryAfter } : {}),
        content
      }] as const
    ]
  })
  return { ...rest, responses: Object.fromEntries(responses) }
}

const mapValues = (value: unknown, f: (item: unknown) => unknown): unknown =>
  Predicate.isReadonlyRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, f(item)]))
    : value

/**
 * Transforms a generated OpenAPI document into the published one. It is the `OpenApi.Transform` annotation of the
 * contract, so `OpenApi.fromApi` applies it everywhere.
 *
 * @since 0.1.0
 * @category openapi
 */
export const transform = (generated: Record<string, unknown>): Record<string, unknown> => {
  const cleaned = rewrite(generated, withoutFrameworkSchemas)
  if (!Predicate.isReadonlyRecord(cleaned) || !Predicate.isReadonlyRecord(cleaned["components"])) {
    return generated
  }
  const { components } = cleaned
  const generatedSchemas = Predicate.isReadonlyRecord(components["schemas"]) ? components["schemas"] : {}
  // Sorted by name, so that a new endpoint gives a small diff.
  const schemas = Object.fromEntries(
    Object.entries(generatedSchemas)
      .filter(([name]) => !frameworkSchemas.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
  )
  return {
    ...cleaned,
    paths: mapValues(cleaned["paths"], (methods) => mapValues(methods, operation(schemas))),
    components: { ...components, schemas }
  }
}
