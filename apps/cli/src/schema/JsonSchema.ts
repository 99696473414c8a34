/** JSON Schema (draft-07) of Effect schemas, without references and without the `$id`s that validators would resolve. */
import * as JSONSchema from "effect/JSONSchema"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"

export type JsonSchema = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => Predicate.isReadonlyRecord(value)

/** An `$id` marks a schema that Effect has for any value or for an empty struct. `properties` may have a property of that name. */
const withoutIds = (value: unknown, additionalProperties: boolean): unknown => {
  if (Array.isArray(value)) return value.map((item) => withoutIds(item, additionalProperties))
  if (!isObject(value)) return value
  if (value["$id"] === "/schemas/%7B%7D") return { type: "object", properties: {}, additionalProperties }
  if (value["$id"] === "/schemas/unknown") {
    const { $id: _, title: __, ...rest } = value
    return rest
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutIds(inner, additionalProperties)]))
}

/**
 * The JSON Schema of the encoded side of a schema.
 *
 * - `allow`: objects may have further properties, as the output of a later version may.
 * - `strict`: they may not.
 */
export const make = <A, I>(schema: Schema.Schema<A, I>, additionalProperties: "allow" | "strict"): JsonSchema => {
  const json = withoutIds(
    JSONSchema.fromAST(schema.ast, {
      definitions: {},
      topLevelReferenceStrategy: "skip",
      additionalPropertiesStrategy: additionalProperties
    }),
    additionalProperties === "allow"
  )
  return isObject(json) ? json : {}
}

/** The dialect, for a schema that stands alone. */
export const dialect = "http://json-schema.org/draft-07/schema#"
