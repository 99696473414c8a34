/** JSON Schemas and OpenAPI documents, a line for each field, parameter and response. */

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)
const entriesOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> => isJson(value) ? Object.entries(value) : []
const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []
const textOf = (value: unknown): string => typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)

/** Keywords that say which parts a value has. The others constrain the value itself. */
const structure = new Set([
  ..."$ref description enum const type title examples $schema $defs definitions".split(" "),
  ..."additionalProperties patternProperties properties required items anyOf oneOf allOf".split(" ")
])

/** A generator describes a constraint by itself in words like these. */
const generated = /^an? (?:string|number|integer|positive|negative|non-|array|object|value|valid)/

const constraintsOf = (schema: Json): ReadonlyArray<string> =>
  Object.entries(schema).filter(([name]) => !structure.has(name)).toSorted(([one], [other]) => one < other ? -1 : 1)
    .map(([name, value]) => `${name} ${textOf(value)}`)

const alternativesOf = (schema: Json): ReadonlyArray<Json> =>
  ["anyOf", "oneOf", "allOf"].flatMap((name) => listOf(schema[name]).filter(isJson))

export type Definitions = Readonly<Record<string, unknown>>

const isPlain = (schema: Json): boolean =>
  !["properties", "patternProperties", "items"].some((name) => isJson(schema[name])) && !isJson(schema["additionalProperties"])

/** A value without parts, or a reference; undefined for an object or an array. A name for a plain value is no part of the surface. */
const leafText = (schema: Json, definitions: Definitions): string | undefined => {
  const name = textOf(schema["$ref"]).replace(/^.*\//, "")
  const target = definitions[name]
  if (name !== "")
    return [isJson(target) && isPlain(target) ? leafText(target, definitions) ?? name : name, ...constraintsOf(schema)].join(", ")
  const alternatives = alternativesOf(schema).map((each) => leafText(each, definitions))
  if (!isPlain(schema) || alternatives.includes(undefined) || textOf(schema["type"]) === "array") return undefined
  const values = "const" in schema ? [schema["const"]] : listOf(schema["enum"])
  const types = values.length > 0
    ? values
    : Array.isArray(schema["type"])
    ? schema["type"]
    : schema["type"] === undefined
    ? []
    : [schema["type"]]
  const words = [...new Set([...types.map(textOf), ...alternatives.map((each) => each ?? "")])].toSorted()
  return [words.join(" | ") || "unknown", ...constraintsOf(schema)].join(", ")
}

const described = (schema: Json): string => {
  const description = textOf(schema["description"])
  return description === "" || generated.test(description) ? "" : ` "${description.replace(/\s+/g, " ")}"`
}

/** A line for each field below a path. `[]` is an item, `*` a field of any name. An alternative adds its fields. */
export const fieldLines = (path: string, schema: unknown, definitions: Definitions = {}): ReadonlyArray<string> => {
  if (!isJson(schema)) return []
  const leaf = leafText(schema, definitions)
  if (leaf !== undefined) return [`${path}: ${leaf}${described(schema)}`]
  const required = listOf(schema["required"])
  const alternatives = alternativesOf(schema)
  const leaves = alternatives.flatMap((each) => leafText(each, definitions) ?? []).toSorted()
  const notes = [...(leaves.length > 0 ? [leaves.join(" | ")] : []), ...constraintsOf(schema)].join(", ") + described(schema)
  const inner = (path: string, schema: unknown) => fieldLines(path, schema, definitions)
  return [
    ...(notes === "" ? [] : [`${path}: ${notes.trim()}`]),
    ...entriesOf(schema["properties"]).flatMap(([name, value]) => inner(`${path}.${name}${required.includes(name) ? "" : "?"}`, value)),
    ...entriesOf(schema["patternProperties"]).flatMap(([, value]) => inner(`${path}.*`, value)),
    ...inner(`${path}.*`, schema["additionalProperties"]),
    ...(textOf(schema["type"]) === "array" ? inner(`${path}[]`, schema["items"] ?? {}) : []),
    ...alternatives.filter((each) => leafText(each, definitions) === undefined).flatMap((each) => inner(path, each))
  ]
}

const contentLines = (path: string, message: unknown, definitions: Definitions): ReadonlyArray<string> =>
  entriesOf(isJson(message) ? message["content"] : undefined).flatMap(([type, content]) =>
    fieldLines(`${path} ${type}`, isJson(content) ? content["schema"] : undefined, definitions)
  )

const operationLines = (path: string, operation: Json, definitions: Definitions): ReadonlyArray<string> => {
  const responses = entriesOf(operation["responses"]).toSorted(([one], [other]) => one < other ? -1 : 1)
  return [
    `${path}: ${textOf(operation["operationId"])}: ${textOf(operation["summary"])}`,
    ...listOf(operation["parameters"]).filter(isJson).flatMap((parameter) =>
      fieldLines(`${path} ${textOf(parameter["in"])} ${textOf(parameter["name"])}${parameter["required"] === true ? "" : "?"}`,
        parameter["schema"], definitions)
    ),
    ...contentLines(`${path} body`, operation["requestBody"], definitions),
    ...responses.filter(([status]) => status < "400").flatMap(([status, response]) => {
      const lines = contentLines(`${path} ${status}`, response, definitions)
      return lines.length === 0 ? [`${path} ${status}: no body`] : lines
    }),
    `${path} fails: ${responses.flatMap(([status]) => status < "400" ? [] : [status]).join(" ")}`
  ]
}

/** The operations of an OpenAPI document, and its named schemas. */
export const documentLines = (document: unknown): ReadonlyArray<string> => {
  const { components, paths } = isJson(document) ? document : {}
  const definitions = isJson(components) && isJson(components["schemas"]) ? components["schemas"] : {}
  return [
    ...entriesOf(paths).flatMap(([path, item]) =>
      entriesOf(item).flatMap(([method, operation]) =>
        isJson(operation) ? operationLines(`${method.toUpperCase()} ${path}`, operation, definitions) : []
      )
    ),
    ...entriesOf(definitions).flatMap(([name, schema]) =>
      isJson(schema) && isPlain(schema) && alternativesOf(schema).length === 0 ? [] : fieldLines(name, schema, definitions)
    )
  ]
}
