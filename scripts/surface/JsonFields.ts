/** JSON Schemas and OpenAPI documents, a line for each field, parameter and response. */

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const entriesOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> => isJson(value) ? Object.entries(value) : []
const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []
const textOf = (value: unknown): string => typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)

/** What a schema says about its value, without what its parts say. Descriptions are texts of the surface, too. */
const ownText = (schema: Json): string => {
  const { $ref, description, enum: values, type, ...rest } = schema
  const parts = ["additionalProperties", "patternProperties", "properties", "required", "items", "anyOf", "oneOf", "allOf", "definitions", "$defs", "$schema",
    "title", "examples"]
  const constraints = Object.entries(rest).filter(([name]) => !parts.includes(name)).toSorted(([one], [other]) => one < other ? -1 : 1)
    .map(([name, value]) => `${name} ${textOf(value)}`)
  return [
    textOf($ref).replace(/^.*\//, "") || listOf(values).map(textOf).join(" | ") || textOf(type) || "any",
    ...constraints,
    ...(description === undefined ? [] : [`"${textOf(description)}"`])
  ].join(", ").replace(/\s+/g, " ")
}

/** A line for each field below a path. `[]` is an item, `*` a field of any name, `|` an alternative. */
export const fieldLines = (path: string, schema: unknown): ReadonlyArray<string> => {
  if (!isJson(schema)) return schema === undefined || typeof schema === "boolean" ? [] : [`${path}: ${textOf(schema)}`]
  const required = listOf(schema["required"])
  const alternatives = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"]), ...listOf(schema["allOf"])]
  const isObject = isJson(schema["properties"])
  return [
    ...(alternatives.length > 0 && schema["description"] === undefined ? [] : isObject ? [] : [`${path}: ${ownText(schema)}`]),
    ...entriesOf(schema["properties"]).flatMap(([name, inner]) => fieldLines(`${path}.${name}${required.includes(name) ? "" : "?"}`, inner)),
    ...entriesOf(schema["patternProperties"]).flatMap(([, inner]) => fieldLines(`${path}.*`, inner)),
    ...fieldLines(`${path}.*`, schema["additionalProperties"]),
    ...fieldLines(`${path}[]`, schema["items"]),
    ...alternatives.flatMap((inner) => fieldLines(isJson(inner) && isJson(inner["properties"]) ? path : `${path} |`, inner))
  ]
}

const contentLines = (path: string, message: unknown): ReadonlyArray<string> =>
  entriesOf(isJson(message) ? message["content"] : undefined).flatMap(([type, content]) =>
    fieldLines(`${path} ${type}`, isJson(content) ? content["schema"] : undefined)
  )

const operationLines = (path: string, operation: Json): ReadonlyArray<string> => {
  const responses = entriesOf(operation["responses"]).toSorted(([one], [other]) => one < other ? -1 : 1)
  return [
    `${path}: ${textOf(operation["operationId"])}: ${textOf(operation["summary"])}`,
    ...listOf(operation["parameters"]).filter(isJson).flatMap((parameter) =>
      fieldLines(`${path} ${textOf(parameter["in"])} ${textOf(parameter["name"])}${parameter["required"] === true ? "" : "?"}`, parameter["schema"])
    ),
    ...contentLines(`${path} body`, operation["requestBody"]),
    ...responses.filter(([status]) => status < "400").flatMap(([status, response]) => {
      const lines = contentLines(`${path} ${status}`, response)
      return lines.length === 0 ? [`${path} ${status}: no body`] : lines
    }),
    `${path} fails: ${responses.flatMap(([status]) => status < "400" ? [] : [status]).join(" ")}`
  ]
}

/** The operations of an OpenAPI document, and its named schemas. */
export const documentLines = (document: unknown): ReadonlyArray<string> => {
  const { components, paths } = isJson(document) ? document : {}
  return [
    ...entriesOf(paths).flatMap(([path, item]) =>
      entriesOf(item).flatMap(([method, operation]) => isJson(operation) ? operationLines(`${method.toUpperCase()} ${path}`, operation) : [])
    ),
    ...entriesOf(isJson(components) ? components["schemas"] : undefined).flatMap(([name, schema]) => fieldLines(name, schema))
  ]
}
