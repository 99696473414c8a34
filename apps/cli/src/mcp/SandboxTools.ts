/** The further tools of `plaza mcp --sandbox`: the endpoints of the control API for faults, clock, snapshots and the log of requests. */
import * as Node from "@plaza/client/node"
import * as ErrorResponse from "@plaza/domain/ErrorResponse"
import { ControlApi, faultPresets } from "@plaza/sandbox"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Rec from "effect/Record"
import * as String from "effect/String"
import { variables } from "../profiles/ConnectionSettings.ts"
import * as JsonSchema from "../schema/JsonSchema.ts"
import { fail, type Json, type Tool, withoutNulls } from "./Tool.ts"

const isOffered = (path: string): boolean => /^\/sandbox\/(?:faults|clock|snapshots|requests)(?:\/|$)/.test(path)

// Without PUT, which replaces a fault: its schema is long, and removing and adding one does the same.
const methods = ["get", "post", "delete"] as const

type Method = (typeof methods)[number]

const document = OpenApi.fromApi(ControlApi)

const inline = (schema: unknown, levels?: number): Json =>
  JsonSchema.asObject(JsonSchema.inline(schema, document.components.schemas, levels))

// A fault in a result is the one that was added, which needs no schema.
const resultLevels = 2

/** Bodies with common values, by the name of the argument: their names are the argument `preset`, instead of the body's. */
const presetsByArgument: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  fault: Rec.map(faultPresets, ({ fault }) => fault)
}

/** What the body of a request is made of: its fields, or one argument named after its schema. */
const bodyOf = (
  schema: Json = { properties: {} }
): { readonly properties: Json; readonly required: ReadonlyArray<string>; readonly whole?: string } => {
  const { properties, required = [] } = inline(schema)
  if (properties !== undefined) {
    return { properties: JsonSchema.asObject(properties), required: Array.isArray(required) ? required.filter(Predicate.isString) : [] }
  }
  const whole = Predicate.isString(schema["$ref"]) ? String.uncapitalize(schema["$ref"].replace(/^.*\//, "")) : "body"
  return { properties: { [whole]: inline(schema) }, required: [whole], whole }
}

const done: JsonSchema.JsonSchema = { required: ["done"], properties: { done: { const: true } } }

const send = (method: Method, path: string, query: Readonly<Record<string, string>>, body: unknown) =>
  Effect.gen(function*() {
    const { origin } = new URL(yield* Config.String(variables.baseUrl))
    const request = HttpClientRequest.make(String.toUpperCase(method))(`${origin}${path}`).pipe(HttpClientRequest.setUrlParams(query))
    const { headers, status, text } = yield* HttpClient.execute(
      body === undefined ? request : HttpClientRequest.bodyJsonUnsafe(request, body)
    )
    const json = yield* text
    if (status >= 400) {
      return yield* Effect.fail(ErrorResponse.toError({ status, headers, body: json, receivedAt: yield* Clock.currentTimeMillis }))
    }
    return json === "" ? { done: true } : JsonSchema.asObject(yield* Effect.sync((): unknown => JSON.parse(json)))
  }).pipe(Effect.provide(Node.layerConfig))

const toTool = (path: string, method: Method, operation: OpenApi.OpenAPISpecOperation): Tool => {
  const { description = "", operationId, parameters, requestBody, responses, summary = operationId } = operation
  const body = bodyOf(requestBody?.content["application/json"]?.schema)
  const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)
  const { whole = "" } = body
  const presets = presetsByArgument[whole]
  const properties: Json = {
    ...Object.fromEntries(parameters.map(({ name, schema }) => [name, inline(schema)])),
    ...body.properties,
    ...(presets === undefined
      ? {}
      : { preset: { type: "string", enum: Object.keys(presets), description: `The name of a ${whole}, instead of ${whole}` } })
  }
  const required = [...inPath, ...(presets === undefined ? body.required : [])]
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content?.["application/json"]?.schema
  return {
    name: `sandbox${operationId.split(".").map(String.capitalize).join("")}`,
    title: `Sandbox: ${String.uncapitalize(summary)}`,
    description,
    delivery: method === "get" ? "Read" : method === "post" ? "Once" : "Repeatable",
    isDestructive: method === "delete" || path.endsWith("/restore"),
    isOfService: false,
    mayBeMissing: "404" in responses,
    schemas: () => ({
      input: { type: "object", ...(required.length === 0 ? {} : { required }), properties, additionalProperties: false },
      output: success === undefined ? done : inline(success, resultLevels)
    }),
    prepare: (args) =>
      Effect.gen(function*() {
        const { preset, ...given } = yield* withoutNulls(args, Object.keys(properties))
        const missing = required.find((name) => !(name in given))
        if (missing !== undefined) return yield* fail(missing, `${missing} is missing`)
        if (presets !== undefined && (preset === undefined) === (given[whole] === undefined)) {
          return yield* fail(whole, `use either ${whole} or preset`)
        }
        const named = presets !== undefined && Predicate.isString(preset) && Object.hasOwn(presets, preset) ? presets[preset] : undefined
        if (presets !== undefined && preset !== undefined && named === undefined) {
          return yield* fail("preset", `preset: must be one of ${Object.keys(presets).join(", ")}`)
        }
        const texts = Object.entries(given).map(([name, value]) =>
          [name, Predicate.isString(value) ? value : JSON.stringify(value)] as const
        )
        const query = texts.filter(([name]) => !inPath.includes(name) && !(name in body.properties))
        const filled = texts.reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(value)), path)
        const fields = Object.fromEntries(Object.entries(given).filter(([name]) => name in body.properties))
        const content = requestBody === undefined ? undefined : named ?? (whole === "" ? fields : given[whole])
        return send(method, filled, Object.fromEntries(query), content)
      })
  }
}

/** The tools, of the description of the control API. */
export const tools: ReadonlyArray<Tool> = Object.entries(document.paths).filter(([path]) => isOffered(path)).flatMap(([path, operations]) =>
  methods.flatMap((method) => operations[method] === undefined ? [] : [toTool(path, method, operations[method])])
)
