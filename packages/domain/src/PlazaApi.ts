/**
 * The contract as an `HttpApi`: the endpoints of the document, built from the operation catalogue, with the texts of OpenAPI. The
 * sandbox implements it, and `openapi.json` is generated from it.
 *
 * Source: interface v1, "Endpoints", "Authentication" and "Errors".
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import { constUndefined } from "effect/Function"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Transformation from "effect/SchemaTransformation"
import { retryAfter } from "./ErrorResponse.ts"
import { byCode, envelope, fromCode, RateLimited } from "./Errors.ts"
import type { DocumentedError, ErrorCode, ErrorEnvelope } from "./Errors.ts"
import { keySecretLength, requestsPerWindow } from "./Limits.ts"
import { transform } from "./OpenApi.ts"
import * as Operations from "./Operations.ts"
import { areas, texts } from "./OperationTexts.ts"

/**
 * The annotation of an endpoint with its {@link Operations.DeliveryClass}.
 *
 * @since 0.1.0
 * @category annotations
 */
export class Delivery extends Context.Service<Delivery, Operations.DeliveryClass>()("@plaza/domain/Delivery") {}

const schemaOf = (code: ErrorCode) => {
  const { _tag, status } = fromCode(code, { message: "" })
  return envelope({ code: Schema.Literal(code), message: Schema.String }).annotate({ identifier: _tag, description: code }).pipe(
    Schema.decodeTo(
      Schema.declare((error: unknown): error is DocumentedError => error instanceof byCode[code]),
      Transformation.transform({
        decode: ({ error: { code: _, message, ...details } }) => fromCode(code, { message, details }),
        encode: ({ details, message }) => ({ error: { ...details, code, message } })
      })
    )
  ).annotate({ description: code, httpApiStatus: status })
}

// Each schema is created once, because a component of OpenAPI is one schema.
const schemas = new Map<ErrorCode, ReturnType<typeof schemaOf>>()

/**
 * The schema of a documented error as a response body, `{ error: { code, message, ...details } }`, annotated with its
 * status. Headers such as `Retry-After` are not part of it.
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 * @category schemas
 */
export const errorResponse = <Code extends ErrorCode>(
  code: Code
): Schema.Codec<InstanceType<(typeof byCode)[Code]>, ErrorEnvelope> => {
  const schema = schemas.get(code) ?? schemaOf(code)
  schemas.set(code, schema)
  // True because `byCode` maps each code to its class. The compiler can't follow the lookup.
  return schema as unknown as Schema.Codec<InstanceType<(typeof byCode)[Code]>, ErrorEnvelope>
}

/** `RATE_LIMITED` with the header `Retry-After`, in whole seconds when it is encoded. */
const rateLimited = RateLimited.pipe(HttpApiSchema.encodeToWithHeaders({
  body: errorResponse("RATE_LIMITED"),
  headers: { "retry-after": Schema.optionalKey(Schema.String) }
}, {
  // Without the clock of the caller: a date counts as absent.
  decode: ({ body: { details, message }, headers }) =>
    new RateLimited({ message, details, retryAfter: Option.getOrUndefined(retryAfter(headers["retry-after"], Number.NaN)) }),
  encode: (error) => ({
    body: error,
    headers: error.retryAfter === undefined ? {} : { "retry-after": Headers.formatRetryAfter(Headers.retryAfterDuration(error.retryAfter)) }
  })
})).annotate({ description: "RATE_LIMITED" })

const commonErrors = Operations.commonErrors.map((code) => code === "RATE_LIMITED" ? rateLimited : errorResponse(code))

const bearer = HttpApiSecurity.annotate(
  HttpApiSecurity.http({ scheme: "bearer" }),
  OpenApi.Description,
  `A personal key: a fixed prefix followed by ${keySecretLength} characters.`
)

/**
 * Bearer authorization, with the errors that every endpoint can return.
 * Source: interface v1, "Authentication".
 *
 * @since 0.1.0
 * @category middleware
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()("@plaza/domain/Authorization", {
  security: { bearer },
  error: commonErrors
}) {}

type Catalogue = typeof Operations.operations

type MultipartOf<S> = S extends Schema.Top ? HttpApiSchema.asMultipartStream<S> : never

/**
 * The endpoint of each of these operations, as a union, whose success has a schema of the catalogue or `Success`.
 *
 * @since 0.1.0
 * @category models
 */
export type EndpointOf<Names extends Operations.OperationName, Success = undefined> = {
  [Name in Names]: HttpApiEndpoint.HttpApiEndpoint<
    Name,
    Catalogue[Name]["method"],
    Catalogue[Name]["path"],
    Operations.SchemaOf<Name, "parameters">,
    Operations.SchemaOf<Name, "query">,
    Operations.SchemaOf<Name, "payload"> | MultipartOf<Operations.SchemaOf<Name, "multipart">>,
    never,
    | (Success extends Schema.Top ? Success : Operations.SchemaOf<Name, "success">)
    | (Catalogue[Name]["mayBeEmpty"] extends true ? HttpApiSchema.NoContent : never),
    Schema.Codec<Operations.ErrorOf<Name> | Operations.CommonError, ErrorEnvelope>
  >
}[Names]

// The platform's `NoContent` encodes any value to a response without a body. This one leaves a result to the other schema.
const noContent = Schema.Undefined.pipe(HttpApiSchema.asNoContent({ decode: constUndefined }), HttpApiSchema.status(204))
  .annotate({ description: "Success" })

/**
 * The endpoint of an operation. Its success has the schema of the catalogue, or another one, such as that of a service whose
 * resources have further fields.
 *
 * @since 0.1.0
 * @category constructors
 */
export const endpointOf = <Name extends Operations.OperationName, Success extends Schema.Top | undefined = undefined>(
  name: Name,
  otherSuccess?: Success
): EndpointOf<Name, Success> => {
  const { delivery, errors, mayBeEmpty, method, multipart, parameters, path, payload, query, success: catalogued }: Operations.Operation =
    Operations.operations[name]
  const success = otherSuccess ?? catalogued
  const endpoint = HttpApiEndpoint.make(method)(name, path, {
    // The schemas encode to texts and JSON by themselves.
    disableCodecs: true,
    params: parameters?.fields,
    query: query?.fields,
    payload: multipart?.pipe(HttpApiSchema.asMultipartStream()) ?? payload,
    success: mayBeEmpty ? [noContent, success] : success,
    error: [...commonErrors, ...errors.map((code) => errorResponse(code))]
  })
    .annotate(Delivery, delivery)
    .annotate(OpenApi.Summary, texts[name].summary)
    .annotate(OpenApi.Description, texts[name].description)
  // True because `EndpointOf` derives each type from the part of the definition that is set above.
  return endpoint as unknown as EndpointOf<Name, Success>
}

type GroupOf<A extends Operations.Area> = HttpApiGroup.HttpApiGroup<A, EndpointOf<Operations.NameIn<A>>, true>

/** The group of an area with the endpoints of its operations. */
const groupOf = <A extends Operations.Area>(area: A): GroupOf<A> => {
  const isInArea = (name: Operations.OperationName): name is Operations.NameIn<A> => Operations.operations[name].area === area
  // True because an area is that of an operation.
  const names = Operations.names.filter(isInArea) as unknown as Arr.NonEmptyReadonlyArray<Operations.NameIn<A>>
  return HttpApiGroup.make(area, { topLevel: true }).annotate(OpenApi.Description, areas[area]).add(
    ...Arr.map(names, (name) => endpointOf(name))
  )
}

/**
 * Profiles and follows.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class ProfilesGroup extends groupOf("profiles") {}

/**
 * Uploads.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class MediaGroup extends groupOf("media") {}

/**
 * Posts, comments and likes.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class PostsGroup extends groupOf("posts") {}

/**
 * Stock and shipping.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class StoreGroup extends groupOf("store") {}

/**
 * Conversations and messages.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class ChatGroup extends groupOf("chat") {}

const about = [
  "An approved integration acts on the one account that owns its key: profiles, posts with uploaded media, comments, likes, follows, stock, shipping and chat.",
  `A key may make ${requestsPerWindow} requests per minute. New fields and new error codes may appear at any time: ignore unknown fields, and treat an unknown code by its status.`,
  "This file is Plaza's interpretation of the interface and is under Plaza's licence. A field is required only where the interface shows that it is always present."
].join("\n\n")

/**
 * The contract of the documented interface.
 *
 * @example
 * import { PlazaApi } from "@plaza/domain"
 * import { Effect } from "effect"
 * import { HttpClient, HttpClientRequest } from "effect/http"
 * import { HttpApiClient } from "effect/http-api"
 *
 * const me = HttpApiClient.make(PlazaApi, {
 *   baseUrl: "https://host/open/v1",
 *   transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken("a key"))
 * }).pipe(Effect.flatMap(({ getMe }) => getMe()))
 * // => { username: "corner-shop" }
 *
 * @since 0.1.0
 * @category api
 */
export class PlazaApi extends HttpApi.make("plaza")
  .add(ProfilesGroup, MediaGroup, PostsGroup, StoreGroup, ChatGroup)
  .middleware(Authorization)
  .annotate(OpenApi.Title, "Social and Store Developer Interface")
  .annotate(OpenApi.Version, "1")
  .annotate(OpenApi.Description, about)
  .annotate(OpenApi.License, { name: "MIT", url: "https://opensource.org/license/mit" })
  .annotate(OpenApi.Servers, [{
    url: "{base_url}",
    variables: { base_url: { default: "http://127.0.0.1:4010/open/v1", description: "Ends with /open/v1" } }
  }])
  .annotate(OpenApi.Transform, transform)
{}

/**
 * Stories. The document names `POST /stories` but doesn't show its payload or its response, so {@link PlazaApi} doesn't contain
 * this group.
 * Source: interface v1, "Endpoints", gaps.
 *
 * @since 0.1.0
 * @category groups
 */
export class StoriesGroup extends groupOf("stories") {}

/**
 * {@link PlazaApi} and {@link StoriesGroup}.
 *
 * @since 0.1.0
 * @category api
 */
export class PlazaApiWithStories extends PlazaApi.add(StoriesGroup).middleware(Authorization) {}
