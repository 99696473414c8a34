/**
 * From a contract to something that can be called: what the parts of a request decode to, how its result is written. The
 * refusals stand in an order that a sandbox must be able to state (see `Gate`), and every one of them leaves in the
 * document's envelope, so this is done here and not by a router with answers of its own. Knows nothing of keys, limits or
 * storage, nor of which operation a request means: that is `Routes`.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type { DocumentedError, ValidationError } from "@plaza/domain/Errors"
import type { Brand } from "effect/Brand"
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { Answer } from "./Envelope.js"
import * as Envelope from "./Envelope.js"
import * as Encoder from "./Encoder.js"
import type { UploadedFile } from "../areas/media/Upload.js"

/**
 * What a handler is given of a request, by the endpoint's own schemas.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestOf<E extends HttpApiEndpoint.HttpApiEndpoint.Any> =
  & ([HttpApiEndpoint.HttpApiEndpoint.PathParsed<E>] extends [never] ? {}
    : { readonly path: HttpApiEndpoint.HttpApiEndpoint.PathParsed<E> })
  & ([HttpApiEndpoint.HttpApiEndpoint.UrlParams<E>] extends [never] ? {}
    : { readonly urlParams: HttpApiEndpoint.HttpApiEndpoint.UrlParams<E> })
  & ([HttpApiEndpoint.HttpApiEndpoint.Payload<E>] extends [never] ? {}
    : HttpApiEndpoint.HttpApiEndpoint.Payload<E> extends Brand<HttpApiSchema.MultipartStreamTypeId>
      ? { readonly payload: UploadedFile }
    : { readonly payload: HttpApiEndpoint.HttpApiEndpoint.Payload<E> })

/**
 * One handler for every operation of a group.
 *
 * @since 0.1.0
 * @category models
 */
export type HandlersOfGroup<Group extends HttpApiGroup.HttpApiGroup.Any, ApiError, C> = HandlersOfEndpoints<
  HttpApiGroup.HttpApiGroup.Endpoints<Group>,
  ApiError,
  C
>

type HandlersOfEndpoints<E extends HttpApiEndpoint.HttpApiEndpoint.Any, ApiError, C> = {
  readonly [Endpoint in E as HttpApiEndpoint.HttpApiEndpoint.Name<Endpoint>]: (
    request: RequestOf<Endpoint>,
    call: C
  ) => Effect.Effect<
    HttpApiEndpoint.HttpApiEndpoint.Success<Endpoint>,
    Extract<HttpApiEndpoint.HttpApiEndpoint.Error<Endpoint> | ApiError, DocumentedError>
  >
}

/**
 * One handler for every operation of an api: it may fail with what the contract declares for it and nothing else.
 *
 * @since 0.1.0
 * @category models
 */
export type HandlersOf<A, C> = A extends
  HttpApi.HttpApi<infer _Id, infer Groups, infer ApiError, infer _R>
  ? HandlersOfGroup<Groups, ApiError, C>
  : never

/**
 * A handler as it stands in a table of all of them: what it takes is known by its operation alone.
 *
 * @since 0.1.0
 * @category models
 */
export type AnyHandler<C> = (request: never, call: C) => Effect.Effect<unknown, DocumentedError>

/**
 * The parts of a request as they were decoded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Decoded {
  readonly path?: unknown
  readonly urlParams?: unknown
  readonly payload?: unknown
}

/** @since 0.1.0 @category models */
export interface Operation {
  readonly name: string
  /** The area that it belongs to. */
  readonly group: string
  readonly method: string
  /** The parts of its path; those that begin with a colon are parameters. */
  readonly segments: ReadonlyArray<string>
  readonly body: "none" | "json" | "file"
  readonly decodePath: (params: Params) => Either.Either<Decoded, ValidationError>
  readonly decodeQuery: (query: string) => Either.Either<Decoded, ValidationError>
  readonly decodePayload: (payload: unknown) => Either.Either<Decoded, ValidationError>
  /** Writes a result as plain JSON; undefined stays, which is no result. */
  readonly write: (result: unknown) => unknown
  readonly encode: (result: unknown) => Answer
}

/** @since 0.1.0 @category models */
export type Params = Readonly<Record<string, string>>

const problemLength = 300

/**
 * Whether a schema takes any object as it is. Such a payload is kept as it was parsed: the schema's own decoding copies
 * it property by property, and loses one that is called "__proto__".
 */
const isAnyObject = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isTypeLiteral(ast) && ast.propertySignatures.length === 0 &&
  ast.indexSignatures.some(({ type }) => SchemaAST.isUnknownKeyword(type))

const decoder = (part: keyof Decoded, schema: Option.Option<Schema.Schema.All>) => {
  if (Option.isNone(schema)) {
    return (): Either.Either<Decoded, ValidationError> => Either.right({})
  }
  // An HttpApi erases its schemas' types; those of our contracts need no services.
  const decode = Schema.decodeUnknownEither(schema.value as Schema.Schema<unknown, unknown>)
  const asItIs = isAnyObject(schema.value.ast)
  return (input: unknown): Either.Either<Decoded, ValidationError> =>
    Either.mapBoth(decode(input), {
      onRight: (value) => ({ [part]: asItIs ? input : value }),
      onLeft: (error) => {
        const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
        const field = issue === undefined || issue.path.length === 0 ? "body" : issue.path.map(String).join(".")
        return Envelope.invalidField(field, `is missing or invalid: ${(issue?.message ?? "").slice(0, problemLength)}`)
      }
    })
}

/** Repeated names become lists, which no schema of ours takes for a single value. */
const readQuery = (query: string): Record<string, string | Array<string>> => {
  const found = new Map<string, string | Array<string>>()
  for (const [name, value] of new URLSearchParams(query)) {
    const before = found.get(name)
    found.set(name, before === undefined ? value : [before, value].flat())
  }
  return Object.fromEntries(found)
}

/** An endpoint as far as it can be told without its types. */
interface AnyEndpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly pathSchema: Option.Option<Schema.Schema.All>
  readonly urlParamsSchema: Option.Option<Schema.Schema.All>
  readonly payloadSchema: Option.Option<Schema.Schema.All>
  readonly successSchema: Schema.Schema.All
}

/**
 * What becomes of fields of an answer that the contract doesn't have. Both are allowed: clients ignore what they don't
 * know.
 *
 * @since 0.1.0
 * @category models
 */
export type FurtherFields = "preserve" | "ignore"

const toOperation = (group: string, endpoint: AnyEndpoint, furtherFields: FurtherFields): Operation => {
  const decodeQuery = decoder("urlParams", endpoint.urlParamsSchema)
  const isFile = Option.exists(endpoint.payloadSchema, ({ ast }) => HttpApiSchema.getMultipartStream(ast) !== undefined)
  const encode = furtherFields === "preserve"
    ? Encoder.make(endpoint.successSchema)
    // See `decoder`.
    : Schema.encodeUnknownSync(endpoint.successSchema as Schema.Schema<unknown, unknown>)
  return {
    name: endpoint.name,
    group,
    method: endpoint.method,
    segments: endpoint.path.split("/").slice(1),
    body: isFile ? "file" : Option.isSome(endpoint.payloadSchema) ? "json" : "none",
    decodePath: decoder("path", endpoint.pathSchema),
    decodeQuery: (query) => decodeQuery(readQuery(query)),
    decodePayload: isFile ? (payload) => Either.right({ payload }) : decoder("payload", endpoint.payloadSchema),
    write: (result) => result === undefined ? undefined : encode(result),
    encode: (result) => result === undefined ? Envelope.empty(204) : Envelope.json(200, encode(result))
  }
}

/**
 * Every operation of an api.
 *
 * @since 0.1.0
 * @category constructors
 */
export const operationsOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  furtherFields: FurtherFields
): ReadonlyArray<Operation> => {
  const operations: Array<Operation> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      operations.push(toOperation(group.identifier, endpoint, furtherFields))
    }
  })
  return operations
}
