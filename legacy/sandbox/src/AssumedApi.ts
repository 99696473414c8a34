/**
 * The operations that the document names but does not show: reading, editing and deleting a post, reading the store, and
 * reading the messages of a conversation. Their paths, payloads and responses are assumed, so they are not part of the
 * contract.
 *
 * Source: interface v1, "Endpoints", gaps.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { errorResponse } from "@plaza-legacy/domain/ErrorSchema"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId } from "@plaza-legacy/domain/Ids"
import { transform } from "@plaza-legacy/domain/OpenApi"
import { inPath } from "@plaza-legacy/domain/PathSegment"
import { Authorization, StoriesGroup } from "@plaza-legacy/domain/PlazaApi"
import { PageQuery } from "@plaza-legacy/domain/Requests"
import { Message, optional, Order, Page, Post, Product } from "@plaza-legacy/domain/Resources"
import * as Schema from "effect/Schema"

/**
 * The changes of a post. Omitted fields keep their value. An edit without any field is refused.
 */
const PostEdit = Schema.Struct({
  text: optional(Schema.String),
  mediaIds: optional(Schema.Array(MediaId))
}).annotations({ identifier: "PostEdit" })

/** @since 0.1.0 @category resources */
export const StoreDetails = Schema.Struct({
  /** The owner of the store. */
  ownerId: ProfileId,
  name: optional(Schema.String)
}).annotations({ identifier: "StoreDetails" })
/** @since 0.1.0 @category resources */
export interface StoreDetails extends Schema.Schema.Type<typeof StoreDetails> {}

const invalid = errorResponse("VALIDATION_ERROR")
const notFound = errorResponse("NOT_FOUND")
const userUnavailable = errorResponse("USER_UNAVAILABLE")
const storeBlocked = errorResponse("STORE_BLOCKED")
const profileIncomplete = errorResponse("PROFILE_INCOMPLETE")

const byId = <A extends string>(id: Schema.Schema<A, string>) => Schema.Struct({ id: inPath(id) })

/** Marks an assumed operation in the OpenAPI file. */
const mark = (operation: Record<string, unknown>): Record<string, unknown> => ({
  ...operation,
  description: `${String(operation["description"])} Assumed: the interface names this operation but does not show it.`,
  "x-plaza-assumed": true
})

/** @since 0.1.0 @category groups */
export class AssumedPostsGroup extends HttpApiGroup.make("posts", { topLevel: true })
  .add(
    HttpApiEndpoint.get("getPost", "/posts/:id")
      .setPath(byId(PostId))
      .addSuccess(Post)
      .addError(invalid)
      .addError(notFound)
      .addError(userUnavailable)
      .annotate(OpenApi.Summary, "Read a post")
      .annotate(OpenApi.Description, "Reads a post of any available account.")
  )
  .add(
    HttpApiEndpoint.patch("editPost", "/posts/:id")
      .setPath(byId(PostId))
      .setPayload(PostEdit)
      .addSuccess(Post)
      .addError(invalid)
      .addError(errorResponse("INVALID_JSON"))
      .addError(errorResponse("PAYLOAD_TOO_LARGE"))
      .addError(profileIncomplete)
      .addError(notFound)
      .addError(userUnavailable)
      .annotate(OpenApi.Summary, "Edit a post")
      .annotate(OpenApi.Description, "Changes the text or the media of the account's own post.")
  )
  .add(
    HttpApiEndpoint.del("deletePost", "/posts/:id")
      .setPath(byId(PostId))
      .addError(invalid)
      .addError(profileIncomplete)
      .addError(notFound)
      .addError(userUnavailable)
      .annotate(OpenApi.Summary, "Delete a post")
      .annotate(OpenApi.Description, "Deletes the account's own post with its comments and likes.")
  )
  .annotateEndpoints(OpenApi.Transform, mark)
{}

/** @since 0.1.0 @category groups */
export class AssumedStoreGroup extends HttpApiGroup.make("store", { topLevel: true })
  .add(
    HttpApiEndpoint.get("getStore", "/store")
      .addSuccess(StoreDetails)
      .annotate(OpenApi.Summary, "Read the account's store")
      .annotate(OpenApi.Description, "Describes the store of the account that owns the key.")
  )
  .add(
    HttpApiEndpoint.get("listProducts", "/store/products")
      .setUrlParams(PageQuery)
      .addSuccess(Page(Product))
      .addError(invalid)
      .annotate(OpenApi.Summary, "List the store's products")
      .annotate(OpenApi.Description, "Lists the products of the account's store, a page at a time.")
  )
  .add(
    HttpApiEndpoint.get("getProduct", "/store/products/:id")
      .setPath(byId(ProductId))
      .addSuccess(Product)
      .addError(invalid)
      .addError(notFound)
      .addError(userUnavailable)
      .addError(storeBlocked)
      .annotate(OpenApi.Summary, "Read a product")
      .annotate(OpenApi.Description, "Reads a product of any store that has not blocked the account.")
  )
  .add(
    HttpApiEndpoint.get("listOrders", "/store/orders")
      .setUrlParams(PageQuery)
      .addSuccess(Page(Order))
      .addError(invalid)
      .annotate(OpenApi.Summary, "List the store's orders")
      .annotate(OpenApi.Description, "Lists the orders of the account's store, a page at a time.")
  )
  .add(
    HttpApiEndpoint.get("getOrder", "/store/orders/:id")
      .setPath(byId(OrderId))
      .addSuccess(Order)
      .addError(invalid)
      .addError(notFound)
      .addError(storeBlocked)
      .annotate(OpenApi.Summary, "Read an order")
      .annotate(OpenApi.Description, "Reads an order of the account's store.")
  )
  .annotateEndpoints(OpenApi.Transform, mark)
{}

/** @since 0.1.0 @category groups */
export class AssumedChatGroup extends HttpApiGroup.make("chat", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listMessages", "/conversations/:id/messages")
      .setPath(byId(ConversationId))
      .setUrlParams(PageQuery)
      .addSuccess(Page(Message))
      .addError(invalid)
      .addError(notFound)
      .annotate(OpenApi.Summary, "List a conversation's messages")
      .annotate(OpenApi.Description, "Lists the messages of both sides of a conversation, a page at a time.")
  )
  .annotateEndpoints(OpenApi.Transform, mark)
{}

/**
 * The assumed operations. None of them is part of the contract.
 *
 * @since 0.1.0
 * @category api
 */
export class AssumedApi extends HttpApi.make("assumed")
  .add(AssumedPostsGroup)
  .add(AssumedStoreGroup)
  .add(AssumedChatGroup)
  .middleware(Authorization)
  .annotate(OpenApi.Transform, transform)
{}

/**
 * `POST /stories`: the path is documented, the payload and the response are assumed.
 *
 * @since 0.1.0
 * @category api
 */
export class StoriesApi extends HttpApi.make("stories")
  .add(StoriesGroup.annotateEndpoints(OpenApi.Transform, mark))
  .middleware(Authorization)
  .annotate(OpenApi.Transform, transform)
{}
