/**
 * The decisions of the sandbox where the document is silent: values that can be configured, and a list of built-in
 * assumptions.
 *
 * Source: interface v1, the lists headed "Gaps".
 *
 * @since 0.1.0
 */
import * as Limits from "@plaza/domain/Limits"
import type { OperationName } from "@plaza/domain/Operations"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { closest } from "fastest-levenshtein"
import { issuesOf, nonNegativeInt } from "./Validation.ts"

const count = nonNegativeInt

/**
 * The scope that each operation needs. The document says that there are 13 and names only `posts:write`; these are 13
 * names of the form `<area>:<action>`, each required by at least one operation of the document. Reading the store requires
 * the scopes of writing to it, so that the number stays 13.
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
} as const satisfies { readonly [Name in OperationName]: string } & Readonly<Record<string, string>>

/**
 * All scopes; 13 by default.
 *
 * @since 0.1.0
 * @category assumptions
 */
export const allScopes: ReadonlyArray<string> = [...new Set(Object.values(scopes))]

/** @since 0.1.0 @category models */
export const Assumptions = Schema.Struct({
  /**
   * Whether to serve more than the document shows: the paths of `AssumedApi`, fields beyond the contract's in responses, and
   * fields beside `code` and `message` in errors.
   */
  undocumented: Schema.Boolean,
  /** The scope that each operation needs; an operation without an entry needs none. */
  scopes: Schema.Record(Schema.String, Schema.UndefinedOr(Schema.String)),
  /** Requests that one key may make in a `rateWindow`. The document states the number, but not that the window slides. */
  requestsPerWindow: count,
  /** The length of the rate window, as the document states it. In milliseconds in a file. */
  rateWindow: Schema.DurationFromMillis.check(Schema.makeFilter((window) => Duration.toMillis(window) >= 0 || "must not be negative")),
  /** Whether a request that is refused with 429 counts against the rate limit. */
  countRefused: Schema.Boolean,
  /** Requests of all keys of an account between two midnights UTC, reads and writes alike. */
  dailyQuota: count,
  /** The maximum size of a JSON body in bytes, and of a body that the endpoint doesn't have. */
  maxBodyBytes: count,
  /** The maximum nesting depth of a JSON body. */
  maxJsonDepth: count.check(Schema.isLessThanOrEqualTo(1_000)),
  /** The maximum size of an uploaded file in bytes. */
  maxFileBytes: count,
  /** The maximum length of the name of an uploaded file, in code points. */
  maxFileNameLength: count,
  /** The maximum length of the text of a post, a comment or a message, in code points. */
  maxTextLength: count,
  /** The maximum length of a carrier or a tracking number, in code points. */
  maxShippingFieldLength: count,
  /** The maximum stock. */
  maxStock: count,
  /** The default page size. */
  defaultPageSize: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  /** The maximum length of the use case of an access request, in code points. */
  maxUseCaseLength: count,
  /** The maximum length of the website of an access request, in code points. */
  maxWebsiteLength: count,
  /** The maximum length of the bot name of an access request, in code points. */
  maxBotNameLength: count,
  /** The maximum length of the name of a key, in code points. */
  maxKeyNameLength: count,
  /** Whether a private account is available to its followers. */
  privateVisibleToFollowers: Schema.Boolean,
  /** The contact in the message of `DEVELOPER_ACCESS_REVOKED`. */
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
  countRefused: false,
  dailyQuota: 200_000,
  maxBodyBytes: 1024 * 1024,
  maxJsonDepth: 200,
  maxFileBytes: 32 * 1024 * 1024,
  maxFileNameLength: 1_000,
  maxTextLength: 5_000,
  maxShippingFieldLength: 200,
  maxStock: 1_000_000_000,
  defaultPageSize: 20,
  maxUseCaseLength: 5_000,
  maxWebsiteLength: 2_000,
  maxBotNameLength: 100,
  maxKeyNameLength: 100,
  privateVisibleToFollowers: true,
  supportContact: "support@sandbox.localhost"
}

/**
 * The meaning of each value, for the documentation.
 *
 * @since 0.1.0
 * @category documentation
 */
export const meanings: Readonly<Record<keyof Assumptions, string>> = {
  undocumented:
    "serves the operations that the document names but does not show, further fields in responses, and fields beside `code` and `message` in errors",
  scopes: "the scope that each operation requires; merged operation by operation. The document names only `posts:write`",
  requestsPerWindow: "requests of a key in a window (the document's number)",
  rateWindow: "length of the window in milliseconds (the document's minute)",
  countRefused: "a request refused with 429 because of the rate counts against the rate",
  dailyQuota: "requests of an account with all its keys between two midnights UTC",
  maxBodyBytes: "bytes of a JSON body, and of a body sent to an endpoint that takes none",
  maxJsonDepth: "nesting depth of arrays and objects in a JSON body",
  maxFileBytes: "bytes of an uploaded file",
  maxFileNameLength: "characters of the name of an uploaded file",
  maxTextLength: "characters of the text of a post, a comment or a message",
  maxShippingFieldLength: "characters of `carrier` and of `trackingNumber`",
  maxStock: "maximum stock",
  defaultPageSize: "items on a page without `limit`",
  maxUseCaseLength: "characters of the use case of an access request",
  maxWebsiteLength: "characters of the website of an access request",
  maxBotNameLength: "characters of the bot name of an access request",
  maxKeyNameLength: "characters of the name of a key",
  privateVisibleToFollowers: "a private account is available to its followers",
  supportContact: "the contact in the message of `DEVELOPER_ACCESS_REVOKED`"
}

/**
 * Overrides the base with the values that are set; scopes per operation.
 *
 * @since 0.1.0
 * @category combinators
 */
export const merge = (base: Assumptions, over: Partial<Assumptions>): Assumptions => ({
  ...base,
  ...over,
  scopes: { ...base.scopes, ...over.scopes }
})

/** In a file, null means that an operation needs no scope, because JSON has no undefined. */
const Written = Schema.Struct({
  ...Assumptions.fields,
  scopes: Schema.Struct(
    Object.fromEntries(Object.keys(scopes).map((operation) => [operation, Schema.optionalKey(Schema.NullOr(Schema.String))]))
  )
}).mapFields(Struct.map(Schema.optionalKey))

const decodeWritten = Schema.decodeUnknownResult(Written, { onExcessProperty: "error", reportInput: true })

const problemOf = (error: Schema.SchemaError): string => {
  const [issue] = issuesOf(error)
  const name = (issue?.path ?? []).map(String).join(".")
  const names = issue?.path.length === 1 ? Object.keys(Assumptions.fields) : Object.keys(scopes)
  const problem = issue?.tag === "Unexpected"
    ? `is not a known assumption: did you mean "${closest(String(issue.path.at(-1)), names)}"?`
    : `has an invalid value: ${(issue?.message ?? "").split("\n", 1)[0] ?? ""}`
  return name === "" ? "the file must contain a JSON object" : `"${name}" ${problem}`
}

/**
 * Decodes the assumptions that differ from the defaults from plain JSON data. The error is one sentence that names the field.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (data: unknown): Result.Result<Partial<Assumptions>, string> =>
  Result.mapBoth(decodeWritten(data), {
    onFailure: problemOf,
    onSuccess: ({ scopes, ...values }) => ({
      ...values,
      ...(scopes === undefined
        ? {}
        : { scopes: Object.fromEntries(Object.entries(scopes).map(([operation, scope]) => [operation, scope ?? undefined])) })
    })
  })

/**
 * The assumptions of a sandbox.
 *
 * @since 0.1.0
 * @category services
 */
export class CurrentAssumptions extends Context.Service<CurrentAssumptions, Assumptions>()("@plaza/sandbox/CurrentAssumptions") {}

/** An assumption that can't be configured. */
interface FixedAssumption {
  /** A stable name. */
  readonly id: string
  /** The section of the interface that leaves it open. */
  readonly section: string
  readonly assumption: string
}

/**
 * Every assumption that is not a value of {@link Assumptions}. `scripts/reference.ts` generates the table of the
 * documentation from it.
 *
 * @since 0.1.0
 * @category assumptions
 */
export const fixedAssumptions: ReadonlyArray<FixedAssumption> = ([
  [
    "refusals.order",
    "Errors",
    "A request is refused for the first of: unknown route or method (404) or malformed path (400); key (401); developer access (403); rate, then quota (429); scope (403); photo and cover on writes (403); size (413); JSON (400); parameters and fields (400); existence (404); user, store, chat and ownership (403); conflict (409)."
  ],
  [
    "refusals.route",
    "Errors",
    "An unknown path and an unknown method of a known path are 404 `NOT_FOUND`, before the key is checked. A path with malformed percent-encoding is 400 `VALIDATION_ERROR`."
  ],
  [
    "refusals.http",
    "Errors",
    "Malformed HTTP, headers beyond 16 KiB and a request that takes too long to arrive are 400 `VALIDATION_ERROR`."
  ],
  [
    "refusals.host",
    "Errors",
    "A request is 403 `FORBIDDEN` unless its `Host` is this machine, the address that the sandbox listens on or an allowed host."
  ],
  [
    "paths.exact",
    "Endpoints",
    "Paths are compared exactly: letter case, trailing slashes and empty segments count. A literal segment takes precedence over a parameter. A parameter is one segment, decoded once."
  ],
  [
    "query.unknown",
    "Endpoints",
    "Unknown query parameters and unknown body fields are ignored. A repeated parameter is invalid."
  ],
  [
    "body.contentType",
    "Endpoints",
    "A JSON body without the content type `application/json` is 400 `VALIDATION_ERROR` for `Content-Type`; parameters of the type are ignored."
  ],
  ["body.empty", "Endpoints", "An empty JSON body is 400 `INVALID_JSON`, and so is one that is not UTF-8."],
  [
    "body.unasked",
    "Endpoints",
    "A body that is sent to an endpoint that takes none is read up to `maxBodyBytes` and ignored, whatever its type; a larger one is 413."
  ],
  ["body.optional", "Resources and their fields", "Null in an optional field of a request means the same as an omitted field."],
  [
    "text.least",
    "Resources and their fields",
    "Texts, carriers, tracking numbers and names have at least one character, except the text of a post with media. They are well-formed Unicode without U+0000, measured in code points and stored unchanged."
  ],
  [
    "success.status",
    "Endpoints",
    "Success is 200 with a body. A like, a follow, a deletion and, with `--document-only`, a story are confirmed with 204 and no body."
  ],
  ["headers.requestId", "Endpoints", "Every response of the interface has an `x-request-id`, which the document does not mention."],
  ["headers.retryAfter", "Limits", "`Retry-After` is in whole seconds, rounded up."],
  [
    "errors.fields",
    "Errors",
    "A validation error names the field as `field`: `limit`, `text`, `mediaIds.0`, `Content-Type`, `file`, `path`, `headers`, or `body` for the whole. `NOT_FOUND` has the `id` and the kind of `resource`; `RATE_LIMITED` has the `limit`, `rate` or `quota`; `INSUFFICIENT_SCOPE` has the `scope`. With `--document-only` errors have `code` and `message` only, and the message names the field."
  ],
  [
    "limits.window",
    "Limits",
    "The rate window slides over the times of arrival, for each key. Every request with a valid key and developer access counts, also a refused one; `countRefused` is the exception. A request that a fault stops before the service counts as well."
  ],
  [
    "limits.day",
    "Limits",
    "A day of the daily quota starts at midnight UTC. The data file keeps rate window and quota, also after a kill."
  ],
  ["auth.header", "Authentication", "`Bearer` is accepted in any letter case, followed by one or more spaces."],
  [
    "auth.prefix",
    "Authentication",
    "Keys begin with `key_`, or with the `keyPrefix` of the service variant; the 40 characters after it are letters and digits. Keys with an earlier prefix stay valid."
  ],
  [
    "scopes.form",
    "Authentication",
    "A key may have any set of scopes, also an empty one; the page requires at least one. Assumed operations require scopes of documented ones."
  ],
  [
    "access.denied",
    "States and transitions",
    "An account without granted developer access is refused with `DEVELOPER_ACCESS_REVOKED`, for any reason."
  ],
  [
    "access.requests",
    "States and transitions",
    "An account can request access while it has none and no request is pending; after a decline it can request it again. A decision is final. A request requires no photo or cover."
  ],
  [
    "access.approval",
    "States and transitions",
    "Approving a request grants access. If the operator granted it meanwhile, it stays granted and the request is approved. While access is suspended or revoked, a pending request can only be declined."
  ],
  [
    "access.transitions",
    "States and transitions",
    "The operator can grant access without a request, revoke suspended access, and restore suspended or revoked access."
  ],
  [
    "access.website",
    "What the service does",
    "A website is an address that starts with `http://` or `https://`. White space around the three inputs is removed."
  ],
  ["keys.names", "Authentication", "Names of keys need not be unique. A key cannot be changed, and a revoked key stays in the list."],
  ["profile.fields", "Resources and their fields", "In addition to `id` and `username` a profile has `name`, `hasPhoto` and `hasCover`."],
  [
    "users.reach",
    "Errors",
    "A suspended or private account, and one with a block on either side, is `USER_UNAVAILABLE` to others and always available to itself. The same applies to its posts and products."
  ],
  ["users.username", "Endpoints", "A username is compared exactly."],
  ["follow.self", "Endpoints", "An account cannot follow itself: `VALIDATION_ERROR` for `id`."],
  ["follow.repeat", "Endpoints", "Following or liking again changes nothing and is confirmed again. An account may like its own posts."],
  [
    "ids.form",
    "Resources and their fields",
    "Ids of posts are digits beyond the precision of a double; of media `media-` and six digits, of stories `story-` and a number, of conversations `conv_` and a number; of comments and messages a number. No id is reused."
  ],
  [
    "posts.fields",
    "Resources and their fields",
    "A post needs a `text`, `mediaIds` or both; the same media may occur more than once and in any order. In addition to the known fields a post has `authorId`, a comment `id`, `postId`, `authorId` and `createdAt`."
  ],
  [
    "posts.edit",
    "Endpoints",
    "Only the author can edit or delete a post: `FORBIDDEN` for others. An edit changes only the fields it has, and `createdAt` stays. A deletion also deletes comments and likes."
  ],
  [
    "media.use",
    "Resources and their fields",
    "A post may have any number of media, only of its own account. Media cannot be read or deleted, and may be used in many posts."
  ],
  [
    "media.upload",
    "Endpoints",
    "An upload is exactly one part, named `file`, with a file name and a content type, both not empty; any content type and an empty file are accepted. Delimiters and headers may add 64 KiB, headers of the part 16 KiB. The response also has `fileName`, `contentType` and `size`."
  ],
  ["stories.payload", "Endpoints", "A story is any JSON object, stored unchanged. The response has `id` and `createdAt`."],
  [
    "store.owner",
    "Endpoints",
    "Every account has one store. Changing products and orders of another store is `STORE_BLOCKED` if that store blocked the caller, and `FORBIDDEN` otherwise. Every account that the store has not blocked can read its products; only the owner can read its orders."
  ],
  ["store.stock", "Resources and their fields", "A stock is a whole number from 0 to `maxStock`."],
  [
    "store.orders",
    "States and transitions",
    "In addition to the known fields a product has `name`, and an order has `state`: `not shipped` or `shipped`. Both fields of a shipment are required."
  ],
  [
    "chat.order",
    "Errors",
    "A message is refused for the first of: a block (`CHAT_BLOCKED`); a suspended peer (`USER_UNAVAILABLE`); the anti-spam rule (`CHAT_NOT_ALLOWED`). A private peer can receive messages."
  ],
  ["chat.reply", "Errors", "An account that received a message may always write to its sender, in any conversation with it."],
  [
    "chat.conversations",
    "Resources and their fields",
    "Each side has its own conversation with the other; both conversations show the messages of both sides, also after a block. A conversation of other accounts is `NOT_FOUND`. In addition to the known fields a conversation has `peerId`, a message `id`, `conversationId`, `senderId` and `createdAt`."
  ],
  ["lists.order", "Endpoints", "Lists start with the newest item."],
  ["lists.limit", "Endpoints", "`limit` consists of decimal digits and is optional for every list."],
  [
    "lists.cursor",
    "Endpoints",
    "A cursor is a position and not a number of items: it stays valid when items are added or deleted, the item at its position included, and after a restart. It does not expire. It is signed; an altered cursor, or one of another list, conversation or account, is 400 `VALIDATION_ERROR` for `cursor`."
  ],
  [
    "dates.clock",
    "Resources and their fields",
    "`createdAt` is the time of the sandbox's clock when the request was handled, in milliseconds."
  ]
] as const).map(([id, section, assumption]) => ({ id, section, assumption }))
