/**
 * The contract made ready for sending: each endpoint of the domain's `HttpApi` compiled once into what encodes its
 * parts and decodes its answer. Nothing about the wire is written here; everything is read from the contract.
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
import { decodeUnknownEither } from "./Decoder.js"
import { InvalidInput } from "../../ClientError.js"
import type { CallFailure, OutcomeUnknown } from "../../ClientError.js"

type Groups = typeof PlazaApiWithStories extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? Groups
  : never
type Endpoints = HttpApiGroup.HttpApiGroup.Endpoints<Groups>
type Endpoint<Name extends OperationName> = HttpApiEndpoint.HttpApiEndpoint.WithName<Endpoints, Name>

/** What the contract says that every call may fail with, less what only its framework knows of. */
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
 * What an operation answers; `void` stands for an answer without a body where the contract allows it.
 *
 * @since 0.1.0
 * @category models
 */
export type SuccessOf<Name extends OperationName> = HttpApiEndpoint.HttpApiEndpoint.Success<Endpoint<Name>>

/**
 * All that an operation may fail with, derived from the contract: the codes that it lists, what any call may meet, and
 * for a write the unknown outcome.
 *
 * @since 0.1.0
 * @category models
 */
export type FailureOf<Name extends OperationName> =
  | EveryCallError
  | HttpApiEndpoint.HttpApiEndpoint.Error<Endpoint<Name>>
  | UnrecognizedError
  | CallFailure
  | (Endpoint<Name> extends { readonly method: "GET" } ? never : OutcomeUnknown)

/**
 * What an operation is called with, by the contract: its path, query and payload.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestOf<Name extends OperationName> = Endpoint<Name> extends HttpApiEndpoint.HttpApiEndpoint<
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
    // A multipart payload is a body that the caller writes; the contract's type for it is the server's.
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
  /** Undefined where the body isn't JSON or there is none. */
  readonly payload: Encode | undefined
  readonly decode: (body: unknown) => Either.Either<unknown, string>
  /** Whether an answer without a body is as good as one with it. */
  readonly mayBeEmpty: boolean
}

const summary = (issues: ReadonlyArray<ParseResult.ArrayFormatterIssue>): { field: string; message: string } => {
  const field = issues[0]?.path.map(String).join(".") ?? ""
  const message = issues[0]?.message ?? "can't be used"
  return { field, message: field === "" ? message : `${field}: ${message}` }
}

/**
 * Encodes by a schema; what doesn't fit becomes one sentence that names the field.
 *
 * @since 0.1.0
 * @category encoding
 */
export const encoder = <A, I>(schema: Schema.Schema<A, I>): Encode<I> => {
  const encode = Schema.encodeUnknownEither(schema)
  return (value) =>
    Either.mapLeft(
      encode(value),
      (error) => new InvalidInput(summary(ParseResult.ArrayFormatter.formatErrorSync(error)))
    )
}

/**
 * Decodes by a schema; what doesn't fit becomes one sentence that names the field.
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

// The schemas of the contract need no context, and those of a query encode to strings: what the contract's own types
// check, the reflection erases.
const erased = <I = unknown>(schema: Schema.Schema.All): Schema.Schema<unknown, I> => schema as Schema.Schema<unknown, I>

/** Whether a schema takes any object. Encoding copies such an object by property, and loses one that is called "__proto__". */
const isAnyObject = (ast: AST.AST): boolean =>
  AST.isTypeLiteral(ast) && ast.propertySignatures.length === 0 && ast.indexSignatures.some(({ type }) => AST.isUnknownKeyword(type))

/** As {@link encoder}, but an object of any form is sent as it is. */
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

// Each error of the contract is described by its code; a class's name would not outlive a minifier.
const codesOf = (ast: AST.AST): ReadonlyArray<string> =>
  (AST.isUnion(ast) ? ast.types : [ast]).flatMap((member) => Option.toArray(AST.getDescriptionAnnotation(member)))

const compile = (): ReadonlyMap<string, Operation> => {
  const operations = new Map<string, Operation>()
  HttpApi.reflect(PlazaApiWithStories, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, group, mergedAnnotations, payloads, successes }) => {
      const json = payloads.get("application/json")
      const body = Option.flatMap(Option.fromNullable(successes.get(200)), ({ ast }) => ast)
      const listed = [...errors.values()].flatMap(({ ast }) => Option.match(ast, { onNone: () => [], onSome: codesOf }))
      operations.set(endpoint.name, {
        name: endpoint.name,
        area: group.identifier,
        method: endpoint.method,
        delivery: Context.unsafeGet(mergedAnnotations, Delivery),
        listed: new Set(listed),
        path: pathOf(endpoint.path, endpoint.pathSchema),
        query: Option.match(endpoint.urlParamsSchema, {
          onNone: () => noQuery,
          onSome: (schema) => encoder(erased<Query>(schema))
        }),
        payload: json === undefined ? undefined : payloadEncoder(json.ast),
        decode: decoder(erased(Schema.make(Option.getOrElse(body, () => AST.unknownKeyword)))),
        mayBeEmpty: successes.has(204)
      })
    }
  })
  return operations
}

let compiled: ReadonlyMap<string, Operation> | undefined

/**
 * The compiled endpoint of a name.
 *
 * @since 0.1.0
 * @category contract
 */
export const operation = (name: OperationName): Operation => {
  compiled ??= compile()
  const found = compiled.get(name)
  if (found === undefined) {
    // The type allows only names of the contract.
    throw new Error(`no operation ${name}`)
  }
  return found
}
