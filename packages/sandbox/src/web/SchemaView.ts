/**
 * How a JSON Schema looks: a type in a line, and a table of fields for what has a name. Knows nothing of operations.
 *
 * @since 0.1.0
 */
import type { JsonSchema } from "@effect/platform/OpenApiJsonSchema"
import * as Predicate from "effect/Predicate"
import type { Html, Piece } from "./Html.js"
import { html } from "./Html.js"
import * as Page from "./Page.js"

/** The words of a schema that narrow its type, as they stand in it. */
const narrowing = ["format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern"]

const bounds = (schema: object): string => {
  const told = Object.entries(schema).flatMap(([word, value]) => narrowing.includes(word) ? [`${word} ${String(value)}`] : [])
  return told.length === 0 ? "" : ` (${told.join(", ")})`
}

const joined = (parts: ReadonlyArray<Piece>, by: string): ReadonlyArray<Piece> =>
  parts.flatMap((part, index) => index === 0 ? [part] : [by, part])

/** A schema, or one of the bare ones that the framework puts where any object may stand. */
type Shape = JsonSchema | { readonly type: "object" | "array" }

/**
 * The type that a schema stands for, in a line.
 *
 * @since 0.1.0
 * @category parts
 */
export const type = (schema: Shape): Html => {
  if ("$ref" in schema) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)
    return html`<a href="#schema-${name}">${name}</a>`
  }
  if ("anyOf" in schema) {
    return html`${joined(schema.anyOf.map((member: Shape) => type(member)), " or ")}`
  }
  if ("enum" in schema) {
    return html`${joined(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`), " or ")}`
  }
  if (!("type" in schema)) {
    return html`any value`
  }
  if (schema.type === "array") {
    const items = "items" in schema ? schema.items : undefined
    return items === undefined || Array.isArray(items) ? html`array` : html`array of ${type(items)}`
  }
  return "properties" in schema
    ? html`{ ${joined(Object.entries(schema.properties).map(([name, inner]) => html`<code>${name}</code>: ${type(inner)}`), ", ")} }`
    : html`${schema.type}${bounds(schema)}`
}

const fieldsOf = (schema: JsonSchema): ReadonlyArray<readonly [name: string, schema: JsonSchema, needed: boolean]> =>
  "properties" in schema
    ? Object.entries(schema.properties).flatMap(([name, inner]) => [
      [name, inner, schema.required.includes(name)] as const,
      ...fieldsOf(inner).map(([below, deeper, needed]) => [`${name}.${below}`, deeper, needed] as const)
    ])
    : []

/**
 * A schema with a name.
 *
 * @since 0.1.0
 * @category parts
 */
export const section = (name: string, schema: JsonSchema): Html => {
  const fields = fieldsOf(schema)
  return html`<section aria-labelledby="schema-${name}">
<h3 id="schema-${name}">${name}</h3>
${Predicate.isString(schema.description) && html`<p>${schema.description}</p>`}
${
    fields.length === 0
      ? html`<p>${type(schema)}</p>`
      : Page.table(
        `Fields of ${name}`,
        ["Field", "Type", "Always there"],
        fields.map(([field, inner, needed]) =>
          html`<tr><th scope="row"><code>${field}</code></th><td>${"properties" in inner ? "object" : type(inner)}</td><td>${needed ? "yes" : "no"}</td></tr>`
        )
      )
  }
</section>`
}
