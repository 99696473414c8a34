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
import * as String from "effect/String"
import { variables } from "../profiles/ConnectionSettings.ts"
import type * as JsonSchema from "../schema/JsonSchema.ts"
import { fail, type Json, type Tool, withoutNulls } from "./Tool.ts"

const isOffered = (path: string): boolean => /^\/sandbox\/(?:faults|clock|snapshots|requests)(?:\/|$)/.test(path)

// Without PUT, which replaces a fault: its schema is long, and removing and adding one does the same.
const methods = ["get", "post", "delete"] as const

type Method = (typeof methods)[number]

const toJson = (value: unknown): Json => Predicate.isObject(value) ? value : {}

const component = "#/components/schemas/"

const document = OpenApi.fromApi(ControlApi)

/** Puts components in the place of the references to them, in this many levels. No component refers to itself. */
const inline = (value: unknown, levels = 9): unknown => {
  if (Array.isArray(value)) return value.map((item) => inline(item, levels))
  if (!Predicate.isObject(value)) return value
  const { $ref, ...own }: Json = value
  const referenced = Predicate.isString($ref) && levels > 0
    ? toJson(inline(document.components.schemas[$ref.replace(component, "")], levels - 1))
    : {}
  return { ...referenced, ...Object.fromEntries(Object.entries(own).map(([name, inner]) => [name, inline(inner, levels)])) }
}

/** A fault in a result needs no schema: it is the one that was added. */
const resultLevels = 2

/** What the body of a request is made of: its fields, or one argument named after its schema. */
const bodyOf = (
  schema: Json | undefined
): { readonly properties: Json; readonly required: ReadonlyArray<string>; readonly whole?: string } => {
  const { properties, required } = toJson(inline(schema))
  if (schema === undefined) return { properties: {}, required: [] }
  if (properties !== undefined)
    return { properties: toJson(properties), required: Array.isArray(required) ? required.filter(Predicate.isString) : [] }
  const whole = Predicate.isString(schema["$ref"]) ? String.uncapitalize(schema["$ref"].replace(component, "")) : "body"
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
    return json === "" ? { done: true } : toJson(yield* Effect.sync((): unknown => JSON.parse(json)))
  }).pipe(Effect.provide(Node.layerConfig))

const presets = Object.keys(faultPresets)

const toTool = (path: string, method: Method, operation: OpenApi.OpenAPISpecOperation): Tool => {
  const { description = "", operationId, parameters, requestBody, responses, summary = operationId } = operation
  const body = bodyOf(requestBody?.content["application/json"]?.schema)
  const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name)
  const takesPreset = operationId === "addFault"
  const properties: Json = {
    ...Object.fromEntries(parameters.map(({ name, schema }) => [name, inline(schema)])),
    ...body.properties,
    ...(takesPreset ? { preset: { type: "string", enum: presets, description: "The name of a fault, instead of fault" } } : {})
  }
  const required = [...inPath, ...(takesPreset ? [] : body.required)]
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
      output: success === undefined ? done : toJson(inline(success, resultLevels))
    }),
    prepare: (args) =>
      Effect.gen(function*() {
        const { preset, ...given } = yield* withoutNulls(args, Object.keys(properties))
        const missing = required.find((name) => !(name in given))
        if (missing !== undefined) return yield* fail(missing, `${missing} is missing`)
        if (takesPreset && (preset === undefined) === (given["fault"] === undefined)) return yield* fail("fault",
            "use either fault or preset")
        const named = Predicate.isString(preset) && Object.hasOwn(faultPresets, preset) ? faultPresets[preset]?.fault : undefined
        if (preset !== undefined && named === undefined) return yield* fail("preset", `preset: must be one of ${presets.join(", ")}`)
        const texts = Object.entries(given).map(([name, value]) =>
          [name, Predicate.isString(value) ? value : JSON.stringify(value)] as const
        )
        const query = texts.filter(([name]) => !inPath.includes(name) && !(name in body.properties))
        const filled = texts.reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(value)), path)
        const fields = Object.fromEntries(Object.entries(given).filter(([name]) => name in body.properties))
        const content = requestBody === undefined ? undefined : named ?? (body.whole === undefined ? fields : given[body.whole])
        return send(method, filled, Object.fromEntries(query), content)
      })
  }
}

/** The tools, of the description of the control API. */
export const tools: ReadonlyArray<Tool> = Object.entries(document.paths).filter(([path]) => isOffered(path)).flatMap(([path, operations]) =>
  methods.flatMap((method) => operations[method] === undefined ? [] : [toTool(path, method, operations[method])])
)
