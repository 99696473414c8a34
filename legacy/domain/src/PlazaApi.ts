/**
 * The contract as an `HttpApi`: the 13 endpoints of the document, built from their definitions in `Operations`, with the texts of
 * OpenAPI. The sandbox implements it, and `openapi.json` is generated from it.
 *
 * Source: interface v1, "Endpoints", "Authentication" and "Errors".
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as OpenApi from "@effect/platform/OpenApi"
import type { Brand } from "effect/Brand"
import { Delivery } from "./Delivery.ts"
import { anyOf } from "./ErrorSchema.ts"
import { keySecretLength, requestsPerWindow } from "./Limits.ts"
import { transform } from "./OpenApi.ts"
import * as Operations from "./Operations.ts"

const bearer = HttpApiSecurity.annotate(
  HttpApiSecurity.bearer,
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
export class Authorization extends HttpApiMiddleware.Tag<Authorization>()("@plaza-legacy/domain/Authorization", {
  security: { bearer: bearer },
  failure: anyOf(Operations.commonErrors)
}) {}

/** The summary and the description of each operation. */
const texts: { readonly [Name in Operations.OperationName]: readonly [summary: string, description: string] } = {
  getMe: ["Read the key's own account", "Describes the account that owns the key."],
  getUser: ["Read a profile by id", "Reads a profile by its id."],
  getUserByUsername: ["Read a profile by username", "Reads a profile by its username."],
  followUser: ["Follow a user", "Follows a user. A second follow is assumed to change nothing."],
  uploadMedia: ["Upload a file", "Uploads one file for use in a post. A repeated upload can leave an unused file."],
  createPost: ["Create a post", "Creates a post. After an ambiguous failure, look for it in the account's posts."],
  listPosts: ["List the account's posts", "Lists the account's posts, a page at a time."],
  createComment: [
    "Comment on a post",
    "Comments on a post. The interface can't list comments: after an ambiguous failure, check in the web app before you send the comment again."
  ],
  likePost: ["Like a post", "Likes a post. A second like is assumed to change nothing."],
  setStock: ["Set a product's stock", "Sets the stock of a product."],
  shipOrder: ["Ship an order", "Ships an order. A second call for the same order is a conflict."],
  listConversations: ["List the account's conversations", "Lists the account's conversations, a page at a time."],
  sendMessage: [
    "Send a message",
    "Sends a message. The interface can't list messages: after an ambiguous failure, check in the web app before you send the message again."
  ],
  createStory: [
    "Create a story",
    "Creates a story. The interface can't list stories: after an ambiguous failure, check in the web app before you send the story again."
  ]
}

/** The endpoint of each of these operations, as a union. */
type EndpointOf<Names extends Operations.OperationName> = {
  [Name in Names]: HttpApiEndpoint.HttpApiEndpoint<
    Name,
    Operations.MethodOf<Name>,
    Operations.ParametersOf<Name>,
    Operations.QueryOf<Name>,
    Operations.PayloadOf<Name> | (Operations.MultipartOf<Name> & Brand<HttpApiSchema.MultipartStreamTypeId>),
    never,
    Operations.SuccessOf<Name>,
    Operations.ErrorOf<Name>
  >
}[Names]

const endpointOf = <Name extends Operations.OperationName>(name: Name): EndpointOf<Name> => {
  const { delivery, errors, mayBeEmpty, method, multipart, parameters, path, payload, query, success }: Operations.Operation =
    Operations.operations[name]
  const [summary, description] = texts[name]
  // True of every endpoint: `AnyWithProps` is the same interface without the types of its schemas.
  let endpoint = HttpApiEndpoint.make(method)(name, path) as unknown as HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
  if (parameters !== undefined) endpoint = endpoint.setPath(parameters())
  if (query !== undefined) endpoint = endpoint.setUrlParams(query())
  if (payload !== undefined) endpoint = endpoint.setPayload(payload())
  if (multipart !== undefined) endpoint = endpoint.setPayload(HttpApiSchema.MultipartStream(multipart()))
  endpoint = endpoint.addSuccess(success())
  // After the schema, because the platform drops a response without a body that is added first.
  if (mayBeEmpty) endpoint = endpoint.addSuccess(HttpApiSchema.NoContent)
  if (errors.length > 0) endpoint = endpoint.addError(anyOf(errors))
  const annotated = endpoint.annotate(Delivery, delivery).annotate(OpenApi.Summary, summary).annotate(OpenApi.Description, description)
  // True because `EndpointOf` derives each type from the part of the definition that is set above.
  return annotated as unknown as EndpointOf<Name>
}

type GroupOf<A extends Operations.Area> = HttpApiGroup.HttpApiGroup<A, EndpointOf<Operations.NameIn<A>>, never, never, true>

/** The group of an area with the endpoints of its operations. */
const groupOf = <A extends Operations.Area>(area: A): GroupOf<A> => {
  const isInArea = (name: Operations.OperationName): name is Operations.NameIn<A> => Operations.operations[name].area === area
  const empty: GroupOf<A> = HttpApiGroup.make(area, { topLevel: true })
  return Operations.names.filter(isInArea).reduce((group, name) => group.add(endpointOf(name)), empty)
}

/**
 * Profiles and follows.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class ProfilesGroup
  extends groupOf("profiles").annotate(OpenApi.Description, "The key's own account, other people's profiles and follows")
{}

/**
 * Uploads.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class MediaGroup extends groupOf("media").annotate(OpenApi.Description, "Files for use in posts") {}

/**
 * Posts, comments and likes.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class PostsGroup extends groupOf("posts").annotate(OpenApi.Description, "Posts with comments and likes") {}

/**
 * Stock and shipping.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class StoreGroup extends groupOf("store").annotate(OpenApi.Description, "Stock and shipping") {}

/**
 * Conversations and messages.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class ChatGroup extends groupOf("chat").annotate(OpenApi.Description, "Conversations and messages") {}

const about = [
  "An approved integration acts on the one account that owns its key: profiles, posts with uploaded media, comments, likes, follows, stock, shipping and chat.",
  `A key may make ${requestsPerWindow} requests per minute. New fields and new error codes may appear at any time: ignore unknown fields, and treat an unknown code by its status.`,
  "This file is Plaza's interpretation of the interface and is under Plaza's licence. A field is required only where the interface shows that it is always present."
].join("\n\n")

/**
 * The contract of the documented interface.
 *
 * @example
 * import { HttpApiClient } from "@effect/platform"
 * import { PlazaApi } from "@plaza-legacy/domain"
 *
 * const client = HttpApiClient.make(PlazaApi, { baseUrl: "http://127.0.0.1:4010/open/v1" })
 *
 * @since 0.1.0
 * @category api
 */
export class PlazaApi extends HttpApi.make("plaza")
  .add(ProfilesGroup)
  .add(MediaGroup)
  .add(PostsGroup)
  .add(StoreGroup)
  .add(ChatGroup)
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
export class StoriesGroup extends groupOf("stories").annotate(OpenApi.Description, "Stories") {}

/**
 * {@link PlazaApi} and {@link StoriesGroup}.
 *
 * @since 0.1.0
 * @category api
 */
export class PlazaApiWithStories extends HttpApi.make("plaza")
  .addHttpApi(PlazaApi)
  .add(StoriesGroup)
  .middleware(Authorization)
{}
