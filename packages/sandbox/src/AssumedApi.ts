/**
 * The operations that the document names but does not show: reading, editing and deleting a post, reading the store, and
 * reading the messages of a conversation. Their paths, payloads and responses are assumed, so they are not part of the
 * contract.
 *
 * Source: interface v1, "Endpoints", gaps.
 */
import type { ErrorCode } from "@plaza/domain/Errors"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId } from "@plaza/domain/Ids"
import { transform } from "@plaza/domain/OpenApi"
import { inPath } from "@plaza/domain/PathSegment"
import { Authorization, errorResponse, StoriesGroup } from "@plaza/domain/PlazaApi"
import { PageQuery } from "@plaza/domain/Requests"
import { Message, optional, Order, Page, Post, Product } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"

/** The changes of a post. Omitted fields keep their value. An edit without any field is refused. */
const PostEdit = Schema.Struct({
  text: optional(Schema.String),
  mediaIds: optional(Schema.Array(MediaId))
}).annotate({ identifier: "PostEdit" })

export const StoreDetails = Schema.Struct({
  /** The owner of the store. */
  ownerId: ProfileId,
  name: optional(Schema.String)
}).annotate({ identifier: "StoreDetails" })
export interface StoreDetails extends Schema.Struct.Type<typeof StoreDetails.fields> {}

const errors = <const Codes extends ReadonlyArray<ErrorCode>>(...codes: Codes) => codes.map((code) => errorResponse<Codes[number]>(code))

const byId = <S extends Schema.Schema<string>>(id: S) => ({ id: inPath(id) })

/** Marks an assumed operation in the OpenAPI file. */
const mark = (operation: Record<string, unknown>): Record<string, unknown> => ({
  ...operation,
  description: `${String(operation["description"])} Assumed: the interface names this operation but does not show it.`,
  "x-plaza-assumed": true
})

const described = (summary: string, description: string) =>
  Context.make(OpenApi.Summary, summary).pipe(Context.add(OpenApi.Description, description), Context.add(OpenApi.Transform, mark))

/** The assumed operations of posts, with the schema of a post. */
export const assumedPosts = <P extends Schema.Top>(post: P) =>
  [
    HttpApiEndpoint.get("getPost", "/posts/:id", {
      disableCodecs: true,
      params: byId(PostId),
      success: post,
      error: errors("VALIDATION_ERROR", "NOT_FOUND", "USER_UNAVAILABLE")
    }).annotateMerge(described("Read a post", "Reads a post of any available account.")),
    HttpApiEndpoint.patch("editPost", "/posts/:id", {
      disableCodecs: true,
      params: byId(PostId),
      payload: PostEdit,
      success: post,
      error: errors("VALIDATION_ERROR", "INVALID_JSON", "PAYLOAD_TOO_LARGE", "PROFILE_INCOMPLETE", "NOT_FOUND", "USER_UNAVAILABLE",
        "FORBIDDEN")
    }).annotateMerge(described("Edit a post", "Changes the text or the media of the account's own post.")),
    HttpApiEndpoint.delete("deletePost", "/posts/:id", {
      disableCodecs: true,
      params: byId(PostId),
      success: HttpApiSchema.NoContent,
      error: errors("VALIDATION_ERROR", "PROFILE_INCOMPLETE", "NOT_FOUND", "USER_UNAVAILABLE", "FORBIDDEN")
    }).annotateMerge(described("Delete a post", "Deletes the account's own post with its comments and likes."))
  ] as const

/** The assumed operations of the store, with the schemas of a product and an order. */
export const assumedStore = <P extends Schema.Top, O extends Schema.Top>(product: P, order: O) =>
  [
    HttpApiEndpoint.get("getStore", "/store", { disableCodecs: true, success: StoreDetails })
      .annotateMerge(described("Read the account's store", "Describes the store of the account that owns the key.")),
    HttpApiEndpoint.get("listProducts", "/store/products", {
      disableCodecs: true,
      query: PageQuery.fields,
      success: Page(product),
      error: errors("VALIDATION_ERROR")
    }).annotateMerge(described("List the store's products", "Lists the products of the account's store, a page at a time.")),
    HttpApiEndpoint.get("getProduct", "/store/products/:id", {
      disableCodecs: true,
      params: byId(ProductId),
      success: product,
      error: errors("VALIDATION_ERROR", "NOT_FOUND", "USER_UNAVAILABLE", "STORE_BLOCKED")
    }).annotateMerge(described("Read a product", "Reads a product of any store that has not blocked the account.")),
    HttpApiEndpoint.get("listOrders", "/store/orders", {
      disableCodecs: true,
      query: PageQuery.fields,
      success: Page(order),
      error: errors("VALIDATION_ERROR")
    }).annotateMerge(described("List the store's orders", "Lists the orders of the account's store, a page at a time.")),
    HttpApiEndpoint.get("getOrder", "/store/orders/:id", {
      disableCodecs: true,
      params: byId(OrderId),
      success: order,
      error: errors("VALIDATION_ERROR", "NOT_FOUND", "STORE_BLOCKED", "FORBIDDEN")
    }).annotateMerge(described("Read an order", "Reads an order of the account's store."))
  ] as const

/** The assumed operations of conversations, with the schema of a message. */
export const assumedChat = <M extends Schema.Top>(message: M) =>
  [
    HttpApiEndpoint.get("listMessages", "/conversations/:id/messages", {
      disableCodecs: true,
      params: byId(ConversationId),
      query: PageQuery.fields,
      success: Page(message),
      error: errors("VALIDATION_ERROR", "NOT_FOUND")
    }).annotateMerge(described("List a conversation's messages", "Lists the messages of both sides of a conversation, a page at a time."))
  ] as const

/** The assumed operations. None of them is part of the contract. */
export class AssumedApi extends HttpApi.make("assumed")
  .add(
    HttpApiGroup.make("posts", { topLevel: true }).add(...assumedPosts(Post)),
    HttpApiGroup.make("store", { topLevel: true }).add(...assumedStore(Product, Order)),
    HttpApiGroup.make("chat", { topLevel: true }).add(...assumedChat(Message))
  )
  .middleware(Authorization)
  .annotate(OpenApi.Transform, transform)
{}

/** `POST /stories`: the path is documented, the payload and the response are assumed. */
export class StoriesApi extends HttpApi.make("stories")
  .add(StoriesGroup.annotateEndpoints(OpenApi.Transform, mark))
  .middleware(Authorization)
  .annotate(OpenApi.Transform, transform)
{}
