/**
 * The contract as an `HttpApi`: the 13 endpoints of the document with their payloads, responses, errors and delivery
 * classes. The client derives from it, the sandbox implements it, `openapi.json` is generated from it. Paths are
 * relative to the base URL, which ends with `/open/v1`.
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
import * as Schema from "effect/Schema"
import { Delivery } from "./Delivery.js"
import { anyOf } from "./Errors.js"
import { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "./Ids.js"
import { keySecretLength, requestsPerWindow } from "./Limits.js"
import { transform } from "./OpenApi.js"
import { inPath } from "./PathSegment.js"
import * as Requests from "./Requests.js"
import { Comment, Confirmation, Conversation, Media, Message, Order, Page, Post, Product, Profile } from "./Resources.js"

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
export class Authorization extends HttpApiMiddleware.Tag<Authorization>()("@plaza/domain/Authorization", {
  security: { bearer: bearer },
  failure: anyOf([
    "INVALID_API_KEY",
    "INSUFFICIENT_SCOPE",
    "DEVELOPER_ACCESS_REVOKED",
    "FORBIDDEN",
    "RATE_LIMITED",
    "INTERNAL_ERROR"
  ])
}) {}

/** The errors of any call with a parameter, a query or a body. */
const invalid = ["VALIDATION_ERROR"] as const

/** The errors of any write: a missing profile photo or cover, or a body that is too large. */
const writeErrors = ["PROFILE_INCOMPLETE", "PAYLOAD_TOO_LARGE", ...invalid] as const

/** The errors of any write with a JSON body. */
const jsonWriteErrors = [...writeErrors, "INVALID_JSON"] as const

const byId = <A extends string>(id: Schema.Schema<A, string>) => Schema.Struct({ id: inPath(id) })

/**
 * Profiles and follows.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class ProfilesGroup extends HttpApiGroup.make("profiles", { topLevel: true })
  .add(
    HttpApiEndpoint.get("getMe", "/me")
      .addSuccess(Profile)
      .annotate(Delivery, "Read")
      .annotate(OpenApi.Summary, "Read the key's own account")
      .annotate(OpenApi.Description, "Describes the account that owns the key.")
  )
  .add(
    HttpApiEndpoint.get("getUser", "/users/:id")
      .setPath(byId(ProfileId))
      .addSuccess(Profile)
      .addError(anyOf([...invalid, "NOT_FOUND", "USER_UNAVAILABLE"]))
      .annotate(Delivery, "Read")
      .annotate(OpenApi.Summary, "Read a profile by id")
      .annotate(OpenApi.Description, "Reads a profile by its id.")
  )
  .add(
    HttpApiEndpoint.get("getUserByUsername", "/users/by-username/:username")
      .setPath(Schema.Struct({ username: inPath(Username) }))
      .addSuccess(Profile)
      .addError(anyOf([...invalid, "NOT_FOUND", "USER_UNAVAILABLE"]))
      .annotate(Delivery, "Read")
      .annotate(OpenApi.Summary, "Read a profile by username")
      .annotate(OpenApi.Description, "Reads a profile by its username.")
  )
  .add(
    HttpApiEndpoint.post("followUser", "/users/:id/follow")
      .setPath(byId(ProfileId))
      .addSuccess(Confirmation)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(anyOf([...writeErrors, "NOT_FOUND", "USER_UNAVAILABLE"]))
      .annotate(Delivery, "Repeatable")
      .annotate(OpenApi.Summary, "Follow a user")
      .annotate(OpenApi.Description, "Follows a user. A second follow is assumed to change nothing.")
  )
  .annotate(OpenApi.Description, "The key's own account, other people's profiles and follows")
{}

/**
 * Uploads.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class MediaGroup extends HttpApiGroup.make("media", { topLevel: true })
  .add(
    HttpApiEndpoint.post("uploadMedia", "/media")
      .setPayload(HttpApiSchema.MultipartStream(Requests.MediaUpload))
      .addSuccess(Media)
      .addError(anyOf(writeErrors))
      .annotate(Delivery, "Repeatable")
      .annotate(OpenApi.Summary, "Upload a file")
      .annotate(OpenApi.Description, "Uploads one file for use in a post. A repeated upload can leave an unused file.")
  )
  .annotate(OpenApi.Description, "Files for use in posts")
{}

/**
 * Posts, comments and likes.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class PostsGroup extends HttpApiGroup.make("posts", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createPost", "/posts")
      .setPayload(Requests.NewPost)
      .addSuccess(Post)
      .addError(anyOf([...jsonWriteErrors, "NOT_FOUND"]))
      .annotate(Delivery, "Checkable")
      .annotate(OpenApi.Summary, "Create a post")
      .annotate(OpenApi.Description, "Creates a post. After an ambiguous failure, look for it in the account's posts.")
  )
  .add(
    HttpApiEndpoint.get("listPosts", "/me/posts")
      .setUrlParams(Requests.PageQuery)
      .addSuccess(Page(Post))
      .addError(anyOf(invalid))
      .annotate(Delivery, "Read")
      .annotate(OpenApi.Summary, "List the account's posts")
      .annotate(OpenApi.Description, "Lists the account's posts, a page at a time.")
  )
  .add(
    HttpApiEndpoint.post("createComment", "/posts/:id/comments")
      .setPath(byId(PostId))
      .setPayload(Requests.NewComment)
      .addSuccess(Comment)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(anyOf([...jsonWriteErrors, "NOT_FOUND", "USER_UNAVAILABLE"]))
      .annotate(Delivery, "Once")
      .annotate(OpenApi.Summary, "Comment on a post")
      .annotate(OpenApi.Description,
        "Comments on a post. The interface can't list comments: after an ambiguous failure, check in the web app before you send the comment again.")
  )
  .add(
    HttpApiEndpoint.post("likePost", "/posts/:id/like")
      .setPath(byId(PostId))
      .addSuccess(Confirmation)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(anyOf([...writeErrors, "NOT_FOUND", "USER_UNAVAILABLE"]))
      .annotate(Delivery, "Repeatable")
      .annotate(OpenApi.Summary, "Like a post")
      .annotate(OpenApi.Description, "Likes a post. A second like is assumed to change nothing.")
  )
  .annotate(OpenApi.Description, "Posts with comments and likes")
{}

/**
 * Stock and shipping.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class StoreGroup extends HttpApiGroup.make("store", { topLevel: true })
  .add(
    HttpApiEndpoint.patch("setStock", "/store/products/:id/stock")
      .setPath(byId(ProductId))
      .setPayload(Requests.StockUpdate)
      .addSuccess(Product)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(anyOf([...jsonWriteErrors, "NOT_FOUND", "STORE_BLOCKED"]))
      .annotate(Delivery, "Repeatable")
      .annotate(OpenApi.Summary, "Set a product's stock")
      .annotate(OpenApi.Description, "Sets the stock of a product.")
  )
  .add(
    HttpApiEndpoint.post("shipOrder", "/store/orders/:id/ship")
      .setPath(byId(OrderId))
      .setPayload(Requests.NewShipment)
      .addSuccess(Order)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(anyOf([...jsonWriteErrors, "NOT_FOUND", "STORE_BLOCKED", "CONFLICT"]))
      .annotate(Delivery, "Checkable")
      .annotate(OpenApi.Summary, "Ship an order")
      .annotate(OpenApi.Description, "Ships an order. A second call for the same order is a conflict.")
  )
  .annotate(OpenApi.Description, "Stock and shipping")
{}

/**
 * Conversations and messages.
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 * @category groups
 */
export class ChatGroup extends HttpApiGroup.make("chat", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listConversations", "/conversations")
      .setUrlParams(Requests.PageQuery)
      .addSuccess(Page(Conversation))
      .addError(anyOf(invalid))
      .annotate(Delivery, "Read")
      .annotate(OpenApi.Summary, "List the account's conversations")
      .annotate(OpenApi.Description, "Lists the account's conversations, a page at a time.")
  )
  .add(
    HttpApiEndpoint.post("sendMessage", "/conversations/:id/messages")
      .setPath(byId(ConversationId))
      .setPayload(Requests.NewMessage)
      .addSuccess(Message)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(anyOf([...jsonWriteErrors, "NOT_FOUND", "USER_UNAVAILABLE", "CHAT_NOT_ALLOWED", "CHAT_BLOCKED"]))
      .annotate(Delivery, "Once")
      .annotate(OpenApi.Summary, "Send a message")
      .annotate(OpenApi.Description,
        "Sends a message. The interface can't list messages: after an ambiguous failure, check in the web app before you send the message again.")
  )
  .annotate(OpenApi.Description, "Conversations and messages")
{}

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
 * import { PlazaApi } from "@plaza/domain"
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
export class StoriesGroup extends HttpApiGroup.make("stories", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createStory", "/stories")
      .setPayload(Requests.NewStory)
      .addSuccess(Confirmation)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(anyOf([...jsonWriteErrors, "NOT_FOUND"]))
      .annotate(Delivery, "Once")
      .annotate(OpenApi.Summary, "Create a story")
      .annotate(OpenApi.Description,
        "Creates a story. The interface can't list stories: after an ambiguous failure, check in the web app before you send the story again.")
  )
  .annotate(OpenApi.Description, "Stories")
{}

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
