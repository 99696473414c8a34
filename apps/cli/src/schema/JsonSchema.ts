/** JSON Schema (draft-07) of what schemas encode to, without references, which not every reader resolves. */
import * as EffectJsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

export type JsonSchema = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonSchema => Predicate.isObject(value) && !Array.isArray(value)

/** Alternatives without duplicates: an optional field has null twice. */
const distinct = (alternatives: ReadonlyArray<unknown>): ReadonlyArray<unknown> => [
  ...new Map(alternatives.map((one) => [JSON.stringify(one), one])).values()
]

/** Puts definitions in the place of the references to them. No schema here refers to itself. */
const inline = (value: unknown, definitions: JsonSchema): unknown => {
  if (Array.isArray(value)) return value.map((item) => inline(item, definitions))
  if (!isObject(value)) return value
  const { $ref, ...rest } = value
  const referenced = Predicate.isString($ref) ? inline(definitions[$ref.replace("#/definitions/", "")], definitions) : {}
  const own = Object.fromEntries(Object.entries(rest).map(([name, inner]) => {
    const inlined = inline(inner, definitions)
    return [name, name === "anyOf" && Array.isArray(inlined) ? distinct(inlined) : inlined]
  }))
  return { ...(isObject(referenced) ? referenced : {}), ...own }
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
  const json = inline(document.schema, document.definitions)
  return isObject(json) ? json : {}
}

/** The names of an object's properties; undefined if any name is possible. */
export const propertiesOf = (schema: JsonSchema): ReadonlyArray<string> | undefined => {
  const { anyOf, properties } = schema
  if (isObject(properties)) return Object.keys(properties)
  if (!Array.isArray(anyOf)) return undefined
  const all = anyOf.map((one) => isObject(one) ? propertiesOf(one) : undefined)
  return all.some((names) => names === undefined) ? undefined : [...new Set(all.flatMap((names) => names ?? []))]
}

/** The schema of a list's items, of the schema of its page; undefined if it is no page. */
export const itemOf = ({ properties }: JsonSchema): JsonSchema | undefined => {
  const data = isObject(properties) && "next_cursor" in properties ? properties["data"] : undefined
  return isObject(data) && isObject(data["items"]) ? data["items"] : undefined
}

/** The dialect, for a schema that stands alone. */
export const dialect = EffectJsonSchema.META_SCHEMA_URI_DRAFT_07
