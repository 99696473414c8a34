/**
 * The operation catalogue: method, path, delivery class, schemas and error codes of each endpoint of the document, and of
 * `POST /stories`. Every list of operations derives from it. It imports nothing of `HttpApi`, so that a client loads without it.
 * Paths are relative to the base URL, which ends with `/open/v1`. `OperationTexts` has the texts.
 *
 * Source: interface v1, "Endpoints", "Retry rules" and "Errors".
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { byCode, ErrorCode } from "./Errors.ts"
import { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "./Ids.ts"
import { inPath } from "./PathSegment.ts"
import * as Requests from "./Requests.ts"
import { Comment, Confirmation, Conversation, Media, Message, Order, Page, Post, Product, Profile } from "./Resources.ts"

/**
 * What a client does after an ambiguous failure (a 5xx, a timeout, a lost connection; for a write also a 3xx or 408):
 *
 * - `Read` changes nothing: send again.
 * - `Repeatable` is assumed to be idempotent: send again.
 * - `Checkable`: check first. Look for a post in the account's posts and send it again only if it is missing. Ship an
 *   order again, because the service refuses a second shipment.
 * - `Once` can't be checked: don't send again.
 *
 * After a retryable failure (no connection, 429) a client may send a request of any class again. After a refusal (every other 4xx
 * except 408) it sends none again.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category models
 */
export type DeliveryClass = "Read" | "Repeatable" | "Checkable" | "Once"

/**
 * The effect of a success: `read` changes nothing, `create` adds a resource, `update` changes the resource that the path
 * identifies, `confirm` has no resource.
 *
 * @since 0.1.0
 * @category models
 */
export type Action = "read" | "create" | "update" | "confirm"

/** A schema of fields that encode to texts. */
type Texts = Schema.Encoder<Readonly<Record<string, string | undefined>>> & {
  readonly fields: Readonly<Record<string, Schema.Encoder<string | undefined>>>
}

/**
 * An operation.
 *
 * @since 0.1.0
 * @category models
 */
export interface Operation {
  readonly area: string
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE"
  /** With a colon before each parameter, such as `/users/:id`. */
  readonly path: `/${string}`
  readonly delivery: DeliveryClass
  readonly action: Action
  /** The parameters of the path (default: none). */
  readonly parameters?: Texts
  /** The query (default: none). */
  readonly query?: Texts
  /** The JSON body (default: none). */
  readonly payload?: Schema.Top
  /** The multipart body (default: none). */
  readonly multipart?: Schema.Top
  /** The body of a success. */
  readonly success: Schema.Top
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

const byId = <S extends Schema.Schema<string>>(id: S) => Schema.Struct({ id: inPath(id) })

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
    action: "read",
    success: Profile,
    mayBeEmpty: false,
    errors: []
  },
  getUser: {
    area: "profiles",
    method: "GET",
    path: "/users/:id",
    delivery: "Read",
    action: "read",
    parameters: byId(ProfileId),
    success: Profile,
    mayBeEmpty: false,
    errors: [...invalid, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  getUserByUsername: {
    area: "profiles",
    method: "GET",
    path: "/users/by-username/:username",
    delivery: "Read",
    action: "read",
    parameters: Schema.Struct({ username: inPath(Username) }),
    success: Profile,
    mayBeEmpty: false,
    errors: [...invalid, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  followUser: {
    area: "profiles",
    method: "POST",
    path: "/users/:id/follow",
    delivery: "Repeatable",
    action: "confirm",
    parameters: byId(ProfileId),
    success: Confirmation,
    mayBeEmpty: true,
    errors: [...writeErrors, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  uploadMedia: {
    area: "media",
    method: "POST",
    path: "/media",
    delivery: "Repeatable",
    action: "create",
    multipart: Requests.MediaUpload,
    success: Media,
    mayBeEmpty: false,
    errors: writeErrors
  },
  createPost: {
    area: "posts",
    method: "POST",
    path: "/posts",
    delivery: "Checkable",
    action: "create",
    payload: Requests.NewPost,
    success: Post,
    mayBeEmpty: false,
    errors: [...jsonWriteErrors, "NOT_FOUND"]
  },
  listPosts: {
    area: "posts",
    method: "GET",
    path: "/me/posts",
    delivery: "Read",
    action: "read",
    query: Requests.PageQuery,
    success: Page(Post),
    mayBeEmpty: false,
    errors: invalid
  },
  createComment: {
    area: "posts",
    method: "POST",
    path: "/posts/:id/comments",
    delivery: "Once",
    action: "create",
    parameters: byId(PostId),
    payload: Requests.NewComment,
    success: Comment,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  likePost: {
    area: "posts",
    method: "POST",
    path: "/posts/:id/like",
    delivery: "Repeatable",
    action: "confirm",
    parameters: byId(PostId),
    success: Confirmation,
    mayBeEmpty: true,
    errors: [...writeErrors, "NOT_FOUND", "USER_UNAVAILABLE"]
  },
  // The document names `POST /stories` but doesn't show its payload or its response (interface v1, "Endpoints", gaps).
  createStory: {
    area: "stories",
    method: "POST",
    path: "/stories",
    delivery: "Once",
    action: "create",
    payload: Requests.NewStory,
    success: Confirmation,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND"]
  },
  setStock: {
    area: "store",
    method: "PATCH",
    path: "/store/products/:id/stock",
    delivery: "Repeatable",
    action: "update",
    parameters: byId(ProductId),
    payload: Requests.StockUpdate,
    success: Product,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND", "STORE_BLOCKED"]
  },
  shipOrder: {
    area: "store",
    method: "POST",
    path: "/store/orders/:id/ship",
    delivery: "Checkable",
    action: "update",
    parameters: byId(OrderId),
    payload: Requests.NewShipment,
    success: Order,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND", "STORE_BLOCKED", "CONFLICT"]
  },
  listConversations: {
    area: "chat",
    method: "GET",
    path: "/conversations",
    delivery: "Read",
    action: "read",
    query: Requests.PageQuery,
    success: Page(Conversation),
    mayBeEmpty: false,
    errors: invalid
  },
  sendMessage: {
    area: "chat",
    method: "POST",
    path: "/conversations/:id/messages",
    delivery: "Once",
    action: "create",
    parameters: byId(ConversationId),
    payload: Requests.NewMessage,
    success: Message,
    mayBeEmpty: true,
    errors: [...jsonWriteErrors, "NOT_FOUND", "USER_UNAVAILABLE", "CHAT_NOT_ALLOWED", "CHAT_BLOCKED"]
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
 * The name of an operation that changes something.
 *
 * @since 0.1.0
 * @category models
 */
export type WriteName = { [Name in OperationName]: Operations[Name]["delivery"] extends "Read" ? never : Name }[OperationName]

/**
 * Whether an operation changes something: its delivery class isn't `Read`.
 *
 * @since 0.1.0
 * @category operations
 */
export const isWrite = (name: OperationName): name is WriteName => operations[name].delivery !== "Read"

/**
 * Whether an operation lists items on pages: it takes `cursor` and `limit`. Source: interface v1, "Endpoints", list behaviour.
 *
 * @since 0.1.0
 * @category operations
 */
export const isList = (name: OperationName): boolean => {
  const { query }: Operation = operations[name]
  return query !== undefined && "cursor" in query.fields && "limit" in query.fields
}

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
 * The schema of a part of an operation, such as `payload`; `never` if the operation has none.
 *
 * @since 0.1.0
 * @category models
 */
export type SchemaOf<Name extends OperationName, Part extends keyof Operation> = {
  [N in Name]: Operations[N] extends { readonly [_ in Part]: infer S extends Schema.Top } ? S : never
}[Name]

/**
 * The value of a part of an operation, such as `parameters`, `query` or `payload`; `never` if the operation has none.
 *
 * @since 0.1.0
 * @category models
 */
export type TypeOf<Name extends OperationName, Part extends keyof Operation> = SchemaOf<Name, Part>["Type"]

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
