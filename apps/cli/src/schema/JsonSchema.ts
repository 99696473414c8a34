/** JSON Schema (draft-07) of what schemas encode to, without references, which not every reader resolves. */
import * as EffectJsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

export type JsonSchema = Readonly<Record<string, unknown>>

/** A schema, or an empty one for anything else. */
export const asObject = (value: unknown): JsonSchema => Predicate.isObject(value) ? value : {}

/** Alternatives without duplicates: an optional field has null twice. */
const distinct = (alternatives: ReadonlyArray<unknown>): ReadonlyArray<unknown> => [
  ...new Map(alternatives.map((one) => [JSON.stringify(one), one])).values()
]

/** Puts definitions in the place of the references to them, in this many levels. No schema here refers to itself. */
export const inline = (value: unknown, definitions: JsonSchema, levels = Number.POSITIVE_INFINITY): unknown => {
  if (Array.isArray(value)) return value.map((item) => inline(item, definitions, levels))
  if (!Predicate.isObject(value)) return value
  const { $ref, allOf, ...rest } = value
  const referenced = Predicate.isString($ref) && levels > 0 ? definitions[$ref.replace(/^.*\//, "")] : undefined
  const own = Object.entries(rest).map(([name, inner]) => {
    const inlined = inline(inner, definitions, levels)
    return [name, name === "anyOf" && Array.isArray(inlined) ? distinct(inlined) : inlined]
  })
  // The platform has the description of an argument as the only one of `allOf`.
  const [described, ...others] = Array.isArray(allOf) ? allOf.map((one: unknown) => one) : []
  return {
    ...asObject(inline(referenced, definitions, levels - 1)),
    ...Object.fromEntries(own),
    ...asObject(described),
    ...(others.length === 0 ? {} : { allOf: inline(others, definitions, levels) })
  }
}

/**
 * The JSON Schema of the encoded side of a schema.
 *
 * - `allow`: objects may have further properties, as the output of a later version may.
 * - `strict`: they may not.
 */
export const make = (schema: Schema.Constraint, additionalProperties: "allow" | "strict"): JsonSchema => {
  const document = EffectJsonSchema.toDocumentDraft07(
    Schema.toJsonSchemaDocument(schema, { onExcessProperty: additionalProperties === "allow" ? "ignore" : "error" })
  )
  return asObject(inline(document.schema, document.definitions))
}

/** The names of an object's properties; undefined if any name is possible. */
export const propertiesOf = (schema: JsonSchema): ReadonlyArray<string> | undefined => {
  const { anyOf, properties } = schema
  if (properties !== undefined) return Object.keys(asObject(properties))
  if (!Array.isArray(anyOf)) return undefined
  const all = anyOf.map((one) => propertiesOf(asObject(one)))
  return all.includes(undefined) ? undefined : [...new Set(all.flatMap((names) => names ?? []))]
}

/** The schema of a list's items, of the schema of its page; undefined if it is no page. */
export const itemOf = (page: JsonSchema): JsonSchema | undefined => {
  const { data, next_cursor: cursor } = asObject(page["properties"])
  const items = asObject(data)["items"]
  return cursor !== undefined && Predicate.isObject(items) ? items : undefined
}

/** The dialect, for a schema that stands alone. */
export const dialect = EffectJsonSchema.META_SCHEMA_URI_DRAFT_07
