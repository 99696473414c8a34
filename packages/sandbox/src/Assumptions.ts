/**
 * What the document leaves open and a working service has to settle: every such choice stands here, with its default,
 * and can be changed by whoever starts the sandbox. Knows nothing of how the choices are enforced.
 *
 * Source: interface v1, the lists headed "Gaps".
 *
 * @since 0.1.0
 */
import * as Limits from "@plaza/domain/Limits"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"

const count = Schema.NonNegativeInt

/**
 * The scope that each operation needs. The document tells that there are 13 and names only `posts:write`; these are 13
 * names of the form `<area>:<action>`, each needed by at least one operation of the document. Reading the store asks for
 * the scopes of writing to it, so that there are no more.
 *
 * @since 0.1.0
 * @category assumptions
 */
export const scopes = {
  getMe: "profile:read",
  getUser: "users:read",
  getUserByUsername: "users:read",
  followUser: "follows:write",
  uploadMedia: "media:write",
  createPost: "posts:write",
  listPosts: "posts:read",
  createComment: "comments:write",
  likePost: "likes:write",
  createStory: "stories:write",
  setStock: "products:write",
  shipOrder: "orders:write",
  listConversations: "chat:read",
  sendMessage: "chat:write",
  getPost: "posts:read",
  editPost: "posts:write",
  deletePost: "posts:write",
  getStore: "products:write",
  listProducts: "products:write",
  getProduct: "products:write",
  listOrders: "orders:write",
  getOrder: "orders:write",
  listMessages: "chat:read"
} as const

/**
 * Every scope there is, 13 by the defaults.
 *
 * @since 0.1.0
 * @category assumptions
 */
export const allScopes: ReadonlyArray<string> = [...new Set(Object.values(scopes))]

/** @since 0.1.0 @category models */
export const Assumptions = Schema.Struct({
  /**
   * Whether there is more than the document shows: the paths of `AssumedApi`, and fields beyond the contract's in
   * answers.
   */
  undocumented: Schema.Boolean,
  /** The scope that each operation needs; an operation without an entry needs none. */
  scopes: Schema.Record({ key: Schema.String, value: Schema.UndefinedOr(Schema.String) }),
  /**
   * Requests that one key may make in one `rateWindow`. The number is the document's; that the window slides over the
   * moments of arrival, and that a request refused with 429 isn't counted, is assumed.
   */
  requestsPerWindow: count,
  /** The length of the rate window. The number is the document's. */
  rateWindow: Schema.DurationFromMillis,
  /** Requests of all keys of an account between two midnights UTC, reads and writes alike. */
  dailyQuota: count,
  /** Most bytes that a JSON body may have. */
  maxBodyBytes: count,
  /** Most bytes that an uploaded file may have. Any type of file is taken. */
  maxFileBytes: count,
  /** Most characters (code points) of the text of a post, a comment or a message. The least is one. */
  maxTextLength: count,
  /** Most characters (code points) of a carrier or a tracking number. The least is one. */
  maxShippingFieldLength: count,
  /** The greatest stock. The least is 0, and a stock is a whole number. */
  maxStock: count,
  /** Items on a page when `limit` is left out. */
  defaultPageSize: count,
  /** Whom an account without developer access is told to write to. */
  supportContact: Schema.String
})
/** @since 0.1.0 @category models */
export type Assumptions = typeof Assumptions.Type

/** @since 0.1.0 @category assumptions */
export const defaults: Assumptions = {
  undocumented: true,
  scopes,
  requestsPerWindow: Limits.requestsPerWindow,
  rateWindow: Limits.rateWindow,
  dailyQuota: 200_000,
  maxBodyBytes: 1024 * 1024,
  maxFileBytes: 32 * 1024 * 1024,
  maxTextLength: 5_000,
  maxShippingFieldLength: 200,
  maxStock: 1_000_000_000,
  defaultPageSize: 20,
  supportContact: "support@sandbox.localhost"
}

/**
 * The choices in force.
 *
 * @since 0.1.0
 * @category services
 */
export class Assumed extends Context.Tag("@plaza/sandbox/Assumed")<Assumed, Assumptions>() {}
