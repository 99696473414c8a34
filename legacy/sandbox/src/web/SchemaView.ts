/**
 * Renders a JSON Schema: a type as one line, a named schema as a table of fields.
 *
 * @since 0.1.0
 */
import type { JsonSchema } from "@effect/platform/OpenApiJsonSchema"
import * as Predicate from "effect/Predicate"
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"
import * as Page from "./Page.ts"

/** The JSON Schema keywords that constrain a type. */
const constraints = ["format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern"]

const bounds = (schema: object): string => {
  const found = Object.entries(schema).flatMap(([keyword, value]) => constraints.includes(keyword) ? [`${keyword} ${String(value)}`] : [])
  return found.length === 0 ? "" : ` (${found.join(", ")})`
}

const joined = (parts: ReadonlyArray<Piece>, by: string): ReadonlyArray<Piece> =>
  parts.flatMap((part, index) => index === 0 ? [part] : [by, part])

/** A schema, or the framework's bare schema of any object or array. */
type Shape = JsonSchema | { readonly type: "object" | "array" }

/**
 * Renders the type of a schema on one line.
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
 * Renders a named schema.
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
        ["Field", "Type", "Required"],
        fields.map(([field, inner, needed]) =>
          html`<tr><th scope="row"><code>${field}</code></th><td>${"properties" in inner ? "object" : type(inner)}</td><td>${
            needed ? "yes" : "no"
          }</td></tr>`
        )
      )
  }
</section>`
}
