/** Renders a JSON Schema: a type as one line, a named schema as a table of fields. */
import * as Schema from "effect/Schema"
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"

/** The keywords of a JSON Schema that are rendered. */
interface Shape {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Shape>
  readonly enum?: ReadonlyArray<unknown>
  readonly type?: string
  readonly items?: Shape
  readonly properties?: { readonly [name: string]: Shape }
  readonly required?: ReadonlyArray<string>
  readonly description?: string
}

const Inner = Schema.suspend((): Schema.Codec<Shape, unknown> => Shape)

const Shape: Schema.Codec<Shape, unknown> = Schema.StructWithRest(
  Schema.Struct({
    $ref: Schema.optionalKey(Schema.String),
    anyOf: Schema.optionalKey(Schema.Array(Inner)),
    enum: Schema.optionalKey(Schema.Array(Schema.Unknown)),
    type: Schema.optionalKey(Schema.String),
    items: Schema.optionalKey(Inner),
    properties: Schema.optionalKey(Schema.Record(Schema.String, Inner)),
    required: Schema.optionalKey(Schema.Array(Schema.String)),
    description: Schema.optionalKey(Schema.String)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

/** Where a named schema is described. */
export const pathOf = (name: string): string => `${Layout.paths.schemas}#schema-${name}`

const decode = Schema.decodeUnknownSync(Shape)

/** The JSON Schema keywords that constrain a type. */
const constraints = ["format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern"]

const bounds = (schema: object): string => {
  const found = Object.entries(schema).flatMap(([keyword, value]) => constraints.includes(keyword) ? [`${keyword} ${String(value)}`] : [])
  return found.length === 0 ? "" : ` (${found.join(", ")})`
}

const joined = (parts: ReadonlyArray<Piece>, by: string): ReadonlyArray<Piece> =>
  parts.flatMap((part, index) => index === 0 ? [part] : [by, part])

const typeOf = (schema: Shape): Html => {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)
    return html`<a href="${pathOf(name)}">${name}</a>`
  }
  if (schema.anyOf !== undefined) {
    return html`${joined(schema.anyOf.map(typeOf), " or ")}`
  }
  if (schema.enum !== undefined) {
    return html`${joined(schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`), " or ")}`
  }
  if (schema.type === undefined) {
    return html`any value`
  }
  if (schema.type === "array") {
    return schema.items === undefined ? html`array` : html`array of ${typeOf(schema.items)}`
  }
  return schema.properties === undefined
    ? html`${schema.type}${bounds(schema)}`
    : html`{ ${joined(Object.entries(schema.properties).map(([name, inner]) => html`<code>${name}</code>: ${typeOf(inner)}`), ", ")} }`
}

/** Renders the type of a schema on one line. */
export const type = (schema: unknown): Html => typeOf(decode(schema))

const fieldsOf = ({ properties = {}, required = [] }: Shape): ReadonlyArray<readonly [name: string, schema: Shape, isRequired: boolean]> =>
  Object.entries(properties).flatMap(([name, inner]) => [
    [name, inner, required.includes(name)] as const,
    ...fieldsOf(inner).map(([below, deeper, isRequired]) => [`${name}.${below}`, deeper, isRequired] as const)
  ])

/** Renders a named schema. */
export const section = (name: string, schema: unknown): Html => {
  const shape = decode(schema)
  const fields = fieldsOf(shape)
  return html`<section aria-labelledby="schema-${name}">
<h2 id="schema-${name}">${name}</h2>
${shape.description !== undefined && html`<p>${shape.description}</p>`}
${
    fields.length === 0
      ? html`<p>${typeOf(shape)}</p>`
      : Layout.table(
        `Fields of ${name}`,
        ["Field", "Type", "Required"],
        fields.map(([field, inner, isRequired]) =>
          html`<tr><th scope="row"><code>${field}</code></th><td>${inner.properties !== undefined ? "object" : typeOf(inner)}</td><td>${
            isRequired ? "yes" : "no"
          }</td></tr>`
        )
      )
  }
</section>`
}
