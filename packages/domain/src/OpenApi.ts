/**
 * Transforms the OpenAPI document that `HttpApi` generates into the published one.
 *
 * @since 0.1.0
 */
import * as Equal from "effect/Equal"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { maxPageSize, minPageSize } from "./Limits.ts"

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => Predicate.isObject(value)

/** Applies `f` to every object, leaves first. */
const rewrite = (value: unknown, f: (object: Json) => Json): unknown =>
  Array.isArray(value)
    ? value.map((item) => rewrite(item, f))
    : isJson(value)
    ? f(Record.map(value, (item) => rewrite(item, f)))
    : value

/**
 * How the document of an API differs from that of the contract.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Whether objects may have further fields (default: true, as new fields may appear at any time). */
  readonly open?: boolean
  /** The maximum of a `limit` in a query (default: that of the interface's lists). */
  readonly maxLimit?: number
}

const published = ({ maxLimit = maxPageSize, open = true }: Options) => (object: Json): Json => {
  if (object["type"] === "object") {
    const { additionalProperties, allOf, properties, required = [], type, ...rest } = object
    // The schema of an object with fields of its own and any others, such as the details of an error.
    const others = Array.isArray(allOf) && isJson(allOf[0]) ? allOf[0]["additionalProperties"] : additionalProperties
    return {
      type,
      required,
      ...(isJson(properties) ? { properties } : {}),
      additionalProperties: others === false ? open : others ?? true,
      ...rest
    }
  }
  if (Array.isArray(object["anyOf"])) {
    // An optional field has two nulls, because JSON has no `undefined`.
    const members: ReadonlyArray<unknown> = object["anyOf"]
    return { ...object, anyOf: members.filter((member, index) => !Equal.equals(member, members[index - 1])) }
  }
  if (object["in"] === "query") {
    // A query has texts only: no null, and the limit of a list as digits.
    const { schema } = object
    return {
      ...object,
      schema: object["name"] === "limit"
        ? { type: "integer", minimum: minPageSize, maximum: maxLimit }
        : isJson(schema) && Array.isArray(schema["anyOf"])
        ? schema["anyOf"][0]
        : schema
    }
  }
  if ("retry-after" in object) {
    return { "Retry-After": { description: "How long to wait: seconds, or an HTTP date.", schema: { type: "string" } } }
  }
  if ("responses" in object) {
    // The document requires the key for every operation.
    const { security: _, ...operation } = object
    return operation
  }
  if (isJson(object["content"]) && Predicate.isString(object["description"])) {
    const { content, description, ...response } = object
    return { description: description.replaceAll(" | ", ", "), ...response, content }
  }
  return object["description"] === "<No Content>" ? { ...object, description: "Success" } : object
}

/**
 * Transforms a generated OpenAPI document into the published one.
 *
 * @since 0.1.0
 * @category openapi
 */
export const transformWith = (options: Options) => (generated: Record<string, unknown>): Record<string, unknown> => {
  const document = Record.map(generated, (value) => rewrite(value, published(options)))
  const { components } = document
  if (!isJson(components) || !isJson(components["schemas"]) || !isJson(components["securitySchemes"])) return generated
  // Sorted by name, so that a new endpoint gives a small diff.
  const schemas = Object.entries(components["schemas"]).sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    ...document,
    components: { ...components, schemas: Object.fromEntries(schemas) },
    security: Object.keys(components["securitySchemes"]).map((name) => ({ [name]: [] }))
  }
}

/**
 * {@link transformWith} of the contract. It is its `OpenApi.Transform` annotation, so `OpenApi.fromApi` applies it everywhere.
 *
 * @since 0.1.0
 * @category openapi
 */
export const transform = transformWith({})
