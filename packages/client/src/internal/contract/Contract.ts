/**
 * Compiles each endpoint of the domain's `HttpApi` to encoders of its request and a decoder of its response.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import { Delivery } from "@plaza/domain/Delivery"
import type { DeliveryClass } from "@plaza/domain/Delivery"
import type { UnrecognizedError } from "@plaza/domain/Errors"
import * as PathSegment from "@plaza/domain/PathSegment"
import { PlazaApiWithStories } from "@plaza/domain/PlazaApi"
import type * as Brand from "effect/Brand"
import * as Context from "effect/Context"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { InvalidInput } from "../../ClientError.js"
import type { CallFailure, OutcomeUnknown } from "../../ClientError.js"
import { decodeUnknownEither } from "./Decoder.js"

type Groups = typeof PlazaApiWithStories extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? Groups
  : never
type Endpoints = HttpApiGroup.HttpApiGroup.Endpoints<Groups>
type EndpointOf<Name extends OperationName> = HttpApiEndpoint.HttpApiEndpoint.WithName<Endpoints, Name>

/** The errors of every endpoint of the contract, without the decode error of the platform's server. */
type EveryCallError = Exclude<
  typeof PlazaApiWithStories extends HttpApi.HttpApi<infer _Id, infer _Groups, infer E, infer _R> ? E : never,
  { readonly _tag: "HttpApiDecodeError" }
>

/**
 * The name of an endpoint of the contract.
 *
 * @since 0.1.0
 * @category models
 */
export type OperationName = Endpoints["name"]

/**
 * The success of an operation; `void` for a response without a body, if the contract allows one.
 *
 * @since 0.1.0
 * @category models
 */
export type SuccessOf<Name extends OperationName> = HttpApiEndpoint.HttpApiEndpoint.Success<EndpointOf<Name>>

/**
 * The failures of an operation: its error codes in the contract, the failures of any call, and for a write `OutcomeUnknown`.
 *
 * @since 0.1.0
 * @category models
 */
export type FailureOf<Name extends OperationName> =
  | EveryCallError
  | HttpApiEndpoint.HttpApiEndpoint.Error<EndpointOf<Name>>
  | UnrecognizedError
  | CallFailure
  | (EndpointOf<Name> extends { readonly method: "GET" } ? never : OutcomeUnknown)

/**
 * The request of an operation in the contract: its path, query and payload.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestOf<Name extends OperationName> = EndpointOf<Name> extends HttpApiEndpoint.HttpApiEndpoint<
  infer _Name,
  infer _Method,
  infer Path,
  infer UrlParams,
  infer Payload,
  infer _Headers,
  infer _Success,
  infer _Error,
  infer _R,
  infer _RE
> ?
    & ([Path] extends [never] ? unknown : { readonly path: Path })
    & ([UrlParams] extends [never] ? unknown : { readonly urlParams: UrlParams })
    // The caller passes a multipart payload as a body, because the contract has only the server's type for it.
    & ([Payload] extends [never] ? unknown
      : Payload extends Brand.Brand<HttpApiSchema.MultipartStreamTypeId> ? unknown
      : { readonly payload: Payload })
  : never

type Encode<I = unknown> = (value: unknown) => Either.Either<I, InvalidInput>

type Query = Readonly<Record<string, string | undefined>>

/** @since 0.1.0 @category models */
export interface Operation {
  readonly name: string
  readonly area: string
  readonly method: HttpMethod
  readonly delivery: DeliveryClass
  readonly listed: ReadonlySet<string>
  readonly path: (params: unknown) => Either.Either<string, InvalidInput>
  readonly query: Encode<Query>
  /** Undefined if the operation has no JSON body. */
  readonly payload: Encode | undefined
  readonly decode: (body: unknown) => Either.Either<unknown, string>
  /** Whether a response without a body is a success. */
  readonly mayBeEmpty: boolean
}

const summary = (issues: ReadonlyArray<ParseResult.ArrayFormatterIssue>): { field: string; message: string } => {
  const field = issues[0]?.path.map(String).join(".") ?? ""
  const message = issues[0]?.message ?? "can't be used"
  return { field, message: field === "" ? message : `${field}: ${message}` }
}

/** Encodes with a schema. The failure is one sentence that names the field. */
const encoder = <A, I>(schema: Schema.Schema<A, I>): Encode<I> => {
  const encode = Schema.encodeUnknownEither(schema)
  return (value) =>
    Either.mapLeft(
      encode(value),
      (error) => new InvalidInput(summary(ParseResult.ArrayFormatter.formatErrorSync(error)))
    )
}

/**
 * Decodes with a schema. The failure is one sentence that names the field.
 *
 * @since 0.1.0
 * @category encoding
 */
export const decoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = decodeUnknownEither(schema)
  return (body: unknown): Either.Either<A, string> =>
    Either.mapLeft(decode(body), (error) => summary(ParseResult.ArrayFormatter.formatErrorSync(error)).message)
}

const noQuery: Encode<Query> = () => Either.right({})

// The cast is true because the contract's types ensure that its schemas need no context and that a query encodes to strings. The
// reflection loses these types.
const erased = <I = unknown>(schema: Schema.Schema.All): Schema.Schema<unknown, I> => schema as Schema.Schema<unknown, I>

/** Whether a schema accepts any object. Encoding would copy the object without a property "__proto__". */
const isAnyObject = (ast: AST.AST): boolean =>
  AST.isTypeLiteral(ast) && ast.propertySignatures.length === 0 && ast.indexSignatures.some(({ type }) => AST.isUnknownKeyword(type))

/** As {@link encoder}, but returns an object of any form unchanged. */
const payloadEncoder = (ast: AST.AST): Encode => {
  const encode = encoder(erased(Schema.make(ast)))
  return isAnyObject(ast) ? (value) => Either.map(encode(value), () => value) : encode
}

const pathOf = (template: string, schema: Option.Option<Schema.Schema.All>): Operation["path"] => {
  if (Option.isNone(schema)) {
    return () => Either.right(template)
  }
  const encode = encoder(erased(schema.value))
  return (params) =>
    Either.map(encode(params), (encoded) => {
      const values = new Map(Object.entries(encoded ?? {}))
      return template.replace(/:(\w+)/g, (_, name: string) => PathSegment.encode(String(values.get(name))))
    })
}

// The description of an error schema is its code. A minifier would change the name of its class.
const codesOf = (ast: AST.AST): ReadonlyArray<string> =>
  (AST.isUnion(ast) ? ast.types : [ast]).flatMap((member) => Option.toArray(AST.getDescriptionAnnotation(member)))

/** The parts of an endpoint that {@link compile} needs. */
interface Endpoint {
  readonly name: string
  readonly area: string
  readonly method: HttpMethod
  readonly delivery: DeliveryClass
  /** With parameters such as `:id`. */
  readonly path: string
  readonly pathSchema: Option.Option<Schema.Schema.All>
  readonly querySchema: Option.Option<Schema.Schema.All>
  /** The JSON payload, if the endpoint has one. */
  readonly payload: Option.Option<AST.AST>
  readonly errors: ReadonlyArray<AST.AST>
  readonly success: Option.Option<AST.AST>
  readonly mayBeEmpty: boolean
}

/** Reads the endpoints from the contract. Only this function uses the platform's reflection. */
const reflect = (): ReadonlyArray<Endpoint> => {
  const endpoints: Array<Endpoint> = []
  HttpApi.reflect(PlazaApiWithStories, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, group, mergedAnnotations, payloads, successes }) => {
      endpoints.push({
        name: endpoint.name,
        area: group.identifier,
        method: endpoint.method,
        delivery: Context.unsafeGet(mergedAnnotations, Delivery),
        path: endpoint.path,
        pathSchema: endpoint.pathSchema,
        querySchema: endpoint.urlParamsSchema,
        payload: Option.map(Option.fromNullable(payloads.get("application/json")), ({ ast }) => ast),
        errors: [...errors.values()].flatMap(({ ast }) => Option.toArray(ast)),
        success: Option.flatMap(Option.fromNullable(successes.get(200)), ({ ast }) => ast),
        mayBeEmpty: successes.has(204)
      })
    }
  })
  return endpoints
}

const compile = (endpoint: Endpoint): Operation => ({
  name: endpoint.name,
  area: endpoint.area,
  method: endpoint.method,
  delivery: endpoint.delivery,
  listed: new Set(endpoint.errors.flatMap(codesOf)),
  path: pathOf(endpoint.path, endpoint.pathSchema),
  query: Option.match(endpoint.querySchema, {
    onNone: () => noQuery,
    onSome: (schema) => encoder(erased<Query>(schema))
  }),
  payload: Option.getOrUndefined(Option.map(endpoint.payload, payloadEncoder)),
  decode: decoder(erased(Schema.make(Option.getOrElse(endpoint.success, () => AST.unknownKeyword)))),
  mayBeEmpty: endpoint.mayBeEmpty
})

let compiled: ReadonlyMap<string, Operation> | undefined

/**
 * Returns the compiled endpoint with a name. The first call compiles all endpoints.
 *
 * @since 0.1.0
 * @category contract
 */
export const operation = (name: OperationName): Operation => {
  compiled ??= new Map(reflect().map((endpoint) => [endpoint.name, compile(endpoint)]))
  const found = compiled.get(name)
  if (found === undefined) {
    // Impossible, because the type allows only names of the contract.
    throw new Error(`no operation ${name}`)
  }
  return found
}
