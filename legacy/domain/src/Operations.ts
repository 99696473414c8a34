/**
 * The operations of the document and `POST /stories`: method, path, delivery class, schemas and error codes of each. `PlazaApi` is
 * built from these definitions, and the client compiles them. They import nothing of `HttpApi`, so that a client loads without it.
 * Paths are relative to the base URL, which ends with `/open/v1`.
 *
 * Source: interface v1, "Endpoints", "Retry rules" and "Errors".
 *
 * @since 0.1.0
 */
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Schema from "effect/Schema"
import type { DeliveryClass } from "./Delivery.ts"
import type { byCode, ErrorCode } from "./Errors.ts"
import { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "./Ids.ts"
import { inPath } from "./PathSegment.ts"
import * as Requests from "./Requests.ts"
import { Comment, Confirmation, Conversation, Media, Message, Order, Page, Post, Product, Profile } from "./Resources.ts"

/**
 * An operation. Functions return its schemas, so that a program creates only the schemas that it uses.
 *
 * @since 0.1.0
 * @category models
 */
export interface Operation {
  readonly area: string
  readonly method: HttpMethod
  /** With a colon before each parameter, such as `/users/:id`. */
  readonly path: `/${string}`
  readonly delivery: DeliveryClass
  /** The parameters of the path (default: none). */
  readonly parameters?: () => Schema.Schema.AnyNoContext
  /** The query (default: none). Encodes to texts. */
  readonly query?: () => Schema.Schema.AnyNoContext
  /** The JSON body (default: none). */
  readonly payload?: () => Schema.Schema.AnyNoContext
  /** The multipart body (default: none). */
  readonly multipart?: () => Schema.Schema.AnyNoContext
  /** The body of a success. */
  readonly success: () => Schema.Schema.AnyNoContext
  /** Whether a response without a body is a success too. */
  readonly mayBeEmpty: boolean
  /** The codes of its errors in addition to {@link commonErrors}. */
  readonly errors: ReadonlyArray<ErrorCode>
}

/**
 * The codes that every operation can fail with.
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 * @category operations
 */
export const commonErrors = [
  "INVALID_API_KEY",
  "INSUFFICIENT_SCOPE",
  "DEVELOPER_ACCESS_REVOKED",
  "FORBIDDEN",
  "RATE_LIMITED",
  "INTERNAL_ERROR"
] as const

/** The errors of any call with a parameter, a query or a body. */
const invalid = ["VALIDATION_ERROR"] as const

/** The errors of any write: a missing profile photo or cover, or a body that is too large. */
const writeErrors = ["PROFILE_INCOMPLETE", "PAYLOAD_TOO_LARGE", ...invalid] as const

/** The errors of any write with a JSON body. */
const jsonWriteErrors = [...writeErrors, "INVALID_JSON"] as const

const byId = <A extends string>(id: Schema.Schema<A, string>) => () => Schema.Struct({ id: inPath(id) })

/**
 * The operations by name.
 *
 * @since 0.1.0
 * @category operations
 */
export const operations = {
  getMe: {
    area: "profiles",
    method: "GET",
    path: "/me",
    delivery: "Read",
    success: () => Profile,
    mayBeEmpty: false,
    errors: []
  },
  getUser: {
    area: "profiles",
    method: "GET",
    path: "/users/:id",
    delivery: "Read",
    parameters: byId(ProfileId),
    success: () => Profile,
    mayBeEmpty: false,
    errors: [...invalid, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  getUserByUsername: {
    area: "profiles",
    method: "GET",
    path: "/users/by-username/:username",
    delivery: "Read",
    parameters: () => Schema.Struct({ username: inPath(Username) }),
    success: () => Profile,
    mayBeEmpty: false,
    errors: [...invalid, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  followUser: {
    area: "profiles",
    method: "POST",
    path: "/users/:id/follow",
    delivery: "Repeatable",
    parameters: byId(ProfileId),
    success: () => Confirmation,
    mayBeEmpty: true,
    errors: [...writeErrors, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  uploadMedia: {
    area: "media",
    method: "POST",
    path: "/media",
    delivery: "Repeatable",
    multipart: () => Requests.MediaUpload,
    success: () => Media,
    mayBeEmpty: false,
    errors: writeErrors
  },
  createPost: {
    area: "posts",
    method: "POST",
    path: "/posts",
    delivery: "Checkable",
    payload: () => Requests.NewPost,
    success: () => Post,
    mayBeEmpty: false,
    errors: [...jsonWriteErrors, "NOT_FOUND"]
  },
  listPosts: {
    area: "posts",
    method: "GET",
    path: "/me/posts",
    delivery: "Read",
    query: () => Requests.PageQuery,
    success: () => Page(Post),
    mayBeEmpty: false,
    errors: invalid
  },
  createComment: {
    area: "posts",
    method: "POST",
    path: "/posts/:id/comments",
    delivery: "Once",
    parameters: byId(PostId),
    payload: () => Requests.NewComment,
    success: () => Comment,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  likePost: {
    area: "posts",
    method: "POST",
    path: "/posts/:id/like",
    delivery: "Repeatable",
    parameters: byId(PostId),
    success: () => Confirmation,
    mayBeEmpty: true,
    errors: [...writeErrors, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  setStock: {
    area: "store",
    method: "PATCH",
    path: "/store/products/:id/stock",
    delivery: "Repeatable",
    parameters: byId(ProductId),
    payload: () => Requests.StockUpdate,
    success: () => Product,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND", "STORE_BLOCKED"]
  },
  shipOrder: {
    area: "store",
    method: "POST",
    path: "/store/orders/:id/ship",
    delivery: "Checkable",
    parameters: byId(OrderId),
    payload: () => Requests.NewShipment,
    success: () => Order,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND", "STORE_BLOCKED", "CONFLICT"]
  },
  listConversations: {
    area: "chat",
    method: "GET",
    path: "/conversations",
    delivery: "Read",
    query: () => Requests.PageQuery,
    success: () => Page(Conversation),
    mayBeEmpty: false,
    errors: invalid
  },
  sendMessage: {
    area: "chat",
    method: "POST",
    path: "/conversations/:id/messages",
    delivery: "Once",
    parameters: byId(ConversationId),
    payload: () => Requests.NewMessage,
    success: () => Message,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND", "USER_UNAVAILABLE", "CHAT_NOT_ALLOWED", "CHAT_BLOCKED"]
  },
  // The document names `POST /stories` but doesn't show its payload or its response (interface v1, "Endpoints", gaps).
  createStory: {
    area: "stories",
    method: "POST",
    path: "/stories",
    delivery: "Once",
    payload: () => Requests.NewStory,
    success: () => Confirmation,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND"]
  }
} as const satisfies Readonly<Record<string, Operation>>

type Operations = typeof operations

/**
 * The name of an operation.
 *
 * @since 0.1.0
 * @category models
 */
export type OperationName = keyof Operations

/**
 * The names of all operations.
 *
 * @since 0.1.0
 * @category operations
 */
// True because `operations` has no other keys.
export const names = Object.keys(operations) as ReadonlyArray<OperationName>

/**
 * A group of operations, such as `posts`.
 *
 * @since 0.1.0
 * @category models
 */
export type Area = Operations[OperationName]["area"]

/**
 * The operations of an area.
 *
 * @since 0.1.0
 * @category models
 */
export type NameIn<A extends Area> = { [Name in OperationName]: Operations[Name]["area"] extends A ? Name : never }[OperationName]

/**
 * The method of an operation.
 *
 * @since 0.1.0
 * @category models
 */
export type MethodOf<Name extends OperationName> = Operations[Name]["method"]

/** The type of a schema of an operation; `never` if the operation has none. */
type TypeOf<Names extends OperationName, Part extends keyof Operation> = {
  [Name in Names]: Operations[Name] extends { readonly [_ in Part]: () => Schema.Schema<infer A, infer _I> } ? A : never
}[Names]

/**
 * The path parameters of an operation; `never` without any.
 *
 * @since 0.1.0
 * @category models
 */
export type ParametersOf<Name extends OperationName> = TypeOf<Name, "parameters">

/**
 * The query of an operation; `never` without one.
 *
 * @since 0.1.0
 * @category models
 */
export type QueryOf<Name extends OperationName> = TypeOf<Name, "query">

/**
 * The JSON payload of an operation; `never` without one.
 *
 * @since 0.1.0
 * @category models
 */
export type PayloadOf<Name extends OperationName> = TypeOf<Name, "payload">

/**
 * The parts of a multipart payload of an operation; `never` without one.
 *
 * @since 0.1.0
 * @category models
 */
export type MultipartOf<Name extends OperationName> = TypeOf<Name, "multipart">

/**
 * The success of an operation; `void` for a response without a body, if the operation allows one.
 *
 * @since 0.1.0
 * @category models
 */
export type SuccessOf<Name extends OperationName> =
  | TypeOf<Name, "success">
  | (Operations[Name]["mayBeEmpty"] extends true ? void : never)

/**
 * The errors that every operation can fail with.
 *
 * @since 0.1.0
 * @category models
 */
export type CommonError = InstanceType<(typeof byCode)[(typeof commonErrors)[number]]>

/**
 * The errors of an operation in addition to {@link CommonError}.
 *
 * @since 0.1.0
 * @category models
 */
export type ErrorOf<Name extends OperationName> = InstanceType<(typeof byCode)[Operations[Name]["errors"][number]]>
