/** The tools of `plaza mcp`, of the operation catalogue: every read, and the writes that the user allows. */
import { Cursor } from "@plaza/domain/Ids"
import * as Limits from "@plaza/domain/Limits"
import * as NestingDepth from "@plaza/domain/NestingDepth"
import {
  type Area,
  type DeliveryClass,
  isList,
  isWrite,
  names,
  type Operation,
  type OperationName,
  operations,
  type WriteName
} from "@plaza/domain/Operations"
import { texts } from "@plaza/domain/OperationTexts"
import type { Page } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Rec from "effect/Record"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Stream from "effect/Stream"
import { capitalize } from "effect/String"
import * as JsonSchema from "../schema/JsonSchema.ts"
import * as Problem from "../schema/Problem.ts"
import { fail, type Json, maxShownDepth, type Services, type Tool, withoutNulls } from "./Tool.ts"
import type { UploadFolder } from "./UploadFolder.ts"

/** The writes that `plaza mcp` can offer. */
export const writes: ReadonlyArray<WriteName> = names.filter(isWrite)

/** Whether an operation sends a file, which requires a folder for uploads. */
const isUpload = (name: OperationName): boolean => {
  const { multipart }: Operation = operations[name]
  return multipart !== undefined
}

/** The writes that require a folder for uploads. */
export const uploads: ReadonlyArray<WriteName> = writes.filter(isUpload)

/** What the delivery class means for a caller. */
const meanings: Readonly<Record<DeliveryClass, string>> = {
  Read: "Delivery class Read: changes nothing, and is safe to call again.",
  Repeatable: "Delivery class Repeatable: retried after a failure that leaves the outcome open, and safe to call again.",
  Checkable:
    "Delivery class Checkable: after a failure that leaves the outcome open, the outcome is checked before anything is sent again. " +
    "If the call fails with OutcomeUnknown, do not call it again before you know what happened.",
  Once:
    "Delivery class Once: not sent again after a failure that leaves the outcome open. The call then fails with OutcomeUnknown: do not " +
    "call it again before a person has checked what happened."
}

/** What differs between kinds of operations: arguments, call and result. */
interface Form {
  readonly fields: Schema.Struct.Fields
  /** A sentence in addition to the description of the catalogue. */
  readonly note?: string
  readonly output: () => JsonSchema.JsonSchema
  readonly run: (input: Json) => Effect.Effect<Json, unknown, Services>
}

const failInvalid = (args: Json, { issue }: Schema.SchemaError) => {
  if (NestingDepth.isBeyond(args, maxShownDepth)) {
    return fail("", `the arguments have another form, and are nested in more than ${maxShownDepth} levels`)
  }
  const { field, problem } = Problem.first(issue)
  return fail(field, field === "" ? problem : problem === Problem.missing ? `${field} ${problem}` : `${field}: ${problem}`)
}

// The platform's schema of a struct without fields permits any value.
const noArguments: JsonSchema.JsonSchema = { type: "object", properties: {}, additionalProperties: false }

const toTool = (name: OperationName, { fields, note, output, run }: Form): Tool => {
  const { action, delivery, errors }: Operation = operations[name]
  const { description, summary } = texts[name]
  const input = Schema.Struct(fields)
  // True because the schema is a struct, and no schema of the catalogue requires a service.
  const decode = Schema.decodeUnknownEffect(input as Schema.Constraint as Schema.Decoder<Json>)
  return {
    name,
    title: summary,
    description: [description, ...(note === undefined ? [] : [note]), meanings[delivery]].join(" "),
    delivery,
    isDestructive: action === "update",
    isOfService: true,
    mayBeMissing: errors.includes("NOT_FOUND"),
    schemas: () => ({ input: Rec.isEmptyRecord(fields) ? noArguments : JsonSchema.make(input, "strict"), output: output() }),
    prepare: (args) =>
      Effect.flatMap(withoutNulls(args, Object.keys(fields)), (args) =>
        decode(args).pipe(Effect.catch((error) => failInvalid(args, error)), Effect.map(run)))
  }
}

/** What a method of the client's service of an area returns. */
const call = (area: Area, method: string, args: ReadonlyArray<unknown>): Effect.Effect<unknown, never, Services> =>
  Effect.gen(function*() {
    const client = yield* Effect.promise(() => import("@plaza/client"))
    const key: Context.Key<Services, object> = client[capitalize(area)]
    const operation: unknown = Reflect.get(Context.get(yield* Effect.context<Services>(), key), method)
    // True because the arguments are those of the catalogue, which the client checks too.
    return Predicate.isFunction(operation) ? (operation as (...args: ReadonlyArray<unknown>) => unknown)(...args) : operation
  })

/** The result of an operation of the client. The cast is true: a method is an effect, or returns one. A test calls each. */
const callEffect = (area: Area, method: string, args: ReadonlyArray<unknown>) =>
  Effect.flatMap(call(area, method, args), (operation) => operation as Effect.Effect<unknown, unknown>)

// A result of the client is valid, so encoding it can't fail. The cast is true: no schema of the catalogue requires a service.
const encoder = (success: Schema.Top) => {
  const encode = Schema.encodeUnknownEffect(success as Schema.Encoder<unknown>)
  return (result: unknown) => Effect.orDie(encode(result))
}

/** An object stays as it is, because the success of the catalogue is one. */
const asJson = (value: unknown): Json => Predicate.isObject(value) ? value : { response: value }

// Small enough for the context of a model. More items are on the next page.
const defaultLimit = 20

const limitProblem = `must be a whole number from ${Limits.minPageSize} to ${Limits.maxPageSize}`

/** The arguments of every list. */
const listFields = {
  limit: Schema.optionalKey(
    Schema.Number.check(
      Schema.isInt({ message: limitProblem }),
      Schema.isBetween({ minimum: Limits.minPageSize, maximum: Limits.maxPageSize }, { message: limitProblem })
    ).annotate({ default: defaultLimit, description: `The maximum number of items (default: ${defaultLimit})` })
  ),
  cursor: Schema.optionalKey(
    Cursor.annotate({ description: "The nextCursor of the previous result (default: none, to start at the first item)" })
  )
}

/** One result: as many items as were asked for, from as many pages as the service needs for them. */
const list = ({ area, query, success }: Operation & { readonly area: Area }): Form => {
  const encode = encoder(success)
  return {
    fields: { ...query?.fields, ...listFields },
    output: () => ({
      type: "object",
      required: ["data", "nextCursor"],
      properties: {
        data: { type: "array", items: JsonSchema.itemOf(JsonSchema.make(success, "allow")) ?? {} },
        nextCursor: { anyOf: [{ type: "string" }, { type: "null" }], description: "Continues the list; null at its end" }
      }
    }),
    run: ({ limit = defaultLimit, ...rest }) =>
      Effect.gen(function*() {
        // True because `pages` of the client returns the pages of the list.
        const pages = (yield* call(area, "pages", [{ ...rest, limit, pageSize: limit }])) as Stream.Stream<Page<unknown>, unknown>
        const read = yield* Stream.runCollect(pages)
        const nextCursor = read.at(-1)?.nextCursor ?? null
        const { data } = asJson(yield* encode({ data: read.flatMap(({ data }) => data), nextCursor }))
        return { data, nextCursor }
      })
  }
}

const parameterTexts: Readonly<Record<string, string>> = { username: "A username, without @" }

/** The resource that a parameter of a path identifies, such as the user of `/users/:id`. */
const describeParameter = (path: string, name: string): string => {
  const resource = (new RegExp(`([\\w-]+)/:${name}`).exec(path)?.[1] ?? "").replace(/s$/, "")
  return parameterTexts[name] ?? `The ${name} of ${/^[aeio]/.test(resource) ? "an" : "a"} ${resource}`
}

/** Any response of the service, as a value that can be encoded. */
const shown = (response: unknown): unknown =>
  NestingDepth.isBeyond(response, maxShownDepth)
    ? `The response has more than ${maxShownDepth} levels of nesting, so it is not shown.`
    : response ?? null

const fieldsOf = (schema: Schema.Top | undefined): Schema.Struct.Fields | undefined =>
  // True because only structs of the catalogue have `fields`.
  Predicate.hasProperty(schema, "fields") ? schema.fields as Schema.Struct.Fields : undefined

/** The result of an operation: its resource, a confirmation without a resource, or a response of unknown form. */
const resultOf = (
  { action, success }: Operation,
  parameters: ReadonlyArray<string>
): { readonly output: Form["output"]; readonly encode: (result: unknown, input: Json) => Effect.Effect<Json> } => {
  if (action === "confirm") {
    return {
      output: () => ({
        type: "object",
        required: [...parameters, "done"],
        properties: { ...Object.fromEntries(parameters.map((name) => [name, { type: "string" }])), done: { const: true } }
      }),
      encode: (_, input) => Effect.succeed({ ...Object.fromEntries(parameters.map((name) => [name, input[name]])), done: true })
    }
  }
  if (SchemaAST.isObjects(success.ast)) {
    const encode = encoder(success)
    return { output: () => JsonSchema.make(success, "allow"), encode: (result) => Effect.map(encode(result), asJson) }
  }
  return {
    output: () => ({
      type: "object",
      required: ["response"],
      properties: {
        response: { description: "The response of the service; null if it had no body, a note if it is nested too deeply to show" }
      }
    }),
    encode: (result) => Effect.succeed({ response: shown(result) })
  }
}

/** The arguments are the parameters of the path, the query, and the fields of the body. */
const single = (name: OperationName, operation: Operation & { readonly area: Area }): Form => {
  const { area, parameters, path, payload, query } = operation
  const { clientMethod } = texts[name]
  const inPath: Readonly<Record<string, Schema.Top>> = parameters?.fields ?? {}
  const inQuery = Object.keys(query?.fields ?? {})
  // A body without known fields is one argument, named after what is created: the story of `createStory`.
  const whole = name.replace(/^[a-z]+(.)/, (_, first: string) => first.toLowerCase())
  const body = payload === undefined ? undefined : fieldsOf(payload) ?? { [whole]: payload }
  const isWhole = payload !== undefined && fieldsOf(payload) === undefined
  const { encode, output } = resultOf(operation, Object.keys(inPath))
  const inBody = Object.keys(body ?? {})
  return {
    fields: {
      ...Rec.map(inPath, (schema, name) => schema.pipe(Schema.annotateKey({ description: describeParameter(path, name) }))),
      ...query?.fields,
      ...body
    },
    ...(isWhole ? { note: `The interface does not show the fields of a ${whole}.` } : {}),
    output,
    run: (input) => {
      const pick = (names: ReadonlyArray<string>): Json =>
        Object.fromEntries(names.flatMap((name) => name in input ? [[name, input[name]]] : []))
      const [only, ...others] = inBody
      const args = [
        ...Object.keys(inPath).map((name) => input[name]),
        ...(inQuery.length === 0 ? [] : [pick(inQuery)]),
        ...(only === undefined ? [] : [others.length === 0 ? input[only] : pick(inBody)])
      ]
      return Effect.flatMap(callEffect(area, clientMethod, args), (result) => encode(result, input))
    }
  }
}

const upload = (name: OperationName, operation: Operation & { readonly area: Area }, folder: UploadFolder): Form => {
  const { encode, output } = resultOf(operation, [])
  return {
    fields: { path: Schema.String.annotate({ description: "The path of a file, relative to the folder for uploads" }) },
    note: "Uploads files from one folder only, without hidden files and folders.",
    output,
    run: (input) =>
      Effect.scoped(Effect.gen(function*() {
        const file = yield* folder.open(String(input["path"]))
        const result = yield* Effect.catchIf(
          callEffect(operation.area, texts[name].clientMethod, [file]),
          // The name and the size come from the file, so the only invalid input is a content of another length, or of other bytes in a retry.
          Predicate.isTagged("InvalidInput"),
          () => fail("path", "path: the file changed while it was uploaded")
        )
        return yield* encode(result, input)
      }))
  }
}

/** The reads and the allowed writes. Uploads require a folder. */
export const offered = (allowed: ReadonlyArray<WriteName>, folder: Option.Option<UploadFolder> = Option.none()): ReadonlyArray<Tool> =>
  [...names.filter((name) => !isWrite(name)), ...writes.filter((name) => allowed.includes(name))].flatMap((name) => {
    const operation: Operation & { readonly area: Area } = operations[name]
    return isUpload(name)
      ? Option.toArray(Option.map(folder, (folder) => toTool(name, upload(name, operation, folder))))
      : [toTool(name, isList(name) ? list(operation) : single(name, operation))]
  })
