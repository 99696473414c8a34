/**
 * Behaviour that the document lets a service choose. The defaults are the simplest service; `fromSeed` draws another.
 *
 * Source: interface v1, all sections; each field names its own.
 *
 * @since 0.1.0
 */
import { byCode } from "@plaza/domain/Errors"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { described, issuesOf, oneOf } from "./Validation.ts"

const flag = described(Schema.Boolean, "true or false")

const whole = (least: number, most: number) =>
  described(Schema.Int.check(Schema.isBetween({ minimum: least, maximum: most })), `a whole number from ${least} to ${most}`)

const maybeWhole = (least: number, most: number) =>
  described(Schema.NullOr(whole(least, most)), `null or a whole number from ${least} to ${most}`)

/** The maximum duration, so that every date keeps a four-digit year. */
const mostMillis = 366 * 24 * 60 * 60 * 1_000
const millis = whole(0, mostMillis)
const signedMillis = whole(-mostMillis, mostMillis)

const Presence = oneOf(["present", "null", "omitted"])
/**
 * Whether a field has its value, is null, or is absent. The last two mean the same ("Resources", conventions).
 *
 * @since 0.1.0
 * @category models
 */
export type Presence = typeof Presence.Type
const presence = Presence

const TextForm = Schema.Literals([
  "linksShortened",
  "emojiCodes",
  "smartPunctuation",
  "trimmed",
  "lf",
  "collapsed",
  "htmlEscaped",
  "nfc",
  "namedEntities",
  "numericEntities"
])
/**
 * A change to a text before it is stored:
 *
 * - `linksShortened`: a short link in place of each `http` or `https` address.
 * - `emojiCodes`: a name such as `:tada:` in place of each emoji.
 * - `smartPunctuation`: typographic quotes, dashes and ellipses.
 * - `trimmed`: without white space at both ends.
 * - `lf`: LF for CRLF and CR.
 * - `collapsed`: one space for each run of white space.
 * - `htmlEscaped`: `&amp; &lt; &gt; &quot; &#39;`.
 * - `nfc`: composed Unicode.
 * - `namedEntities`: HTML's names for what has one and is not ASCII, such as `&ouml;`.
 * - `numericEntities`: numbers for what is not ASCII, such as `&#246;`.
 *
 * @since 0.1.0
 * @category models
 */
export type TextForm = typeof TextForm.Type

/**
 * Every form of a text.
 *
 * @since 0.1.0
 * @category models
 */
export const textForms = TextForm.literals

const status = oneOf([200, 201, 204])
const body = oneOf(["resource", "none", "unexpected"])
const headerValue = described(Schema.String.check(Schema.isPattern(/^[!-~](?:[ -~]*[!-~])?$/u)),
  "printable ASCII without space at either end")
const strings = described(Schema.Array(Schema.String), "a list of strings")

/** Statuses that don't show whether the request took effect, and that the document does not list. */
const gatewayStatuses = [301, 302, 303, 307, 308, 408] as const

const LateStatus = Schema.Literals([500, 502, 503, 504])
const lateStatuses = LateStatus.literals

/**
 * The behaviour of a service that the document permits.
 *
 * @since 0.1.0
 * @category models
 */
export const Latitude = Schema.Struct({
  /** `id` of a profile: the document guarantees no field ("Resources"). */
  profileId: presence,
  /** `username` of a profile ("Resources"). */
  username: presence,
  /** `text` of a post in lists: a list item need not be the whole resource ("Resources", "Endpoints", gaps). */
  postTextInList: presence,
  /** `mediaIds` of a post in lists. */
  postMediaIdsInList: presence,
  /** `createdAt` of a post in lists. */
  postCreatedAtInList: presence,
  /** `text` of a post in the response that creates, edits or reads one ("Endpoints", gaps). */
  postTextInResponse: presence,
  /** `mediaIds` of a post in such a response. */
  postMediaIdsInResponse: presence,
  /** `createdAt` of a post in such a response. */
  postCreatedAtInResponse: presence,
  /** `text` of a comment ("Resources"). */
  commentText: presence,
  /** `text` of a message ("Resources"). */
  messageText: presence,
  /** `stock` of a product ("Resources"). */
  stock: presence,
  /** `carrier` of a shipped order ("Resources"). */
  carrier: presence,
  /** `trackingNumber` of a shipped order ("Resources"). */
  trackingNumber: presence,
  /** Fields that the document does not show, in every resource and list envelope ("Resources", conventions; "Versioning"). */
  extraFields: flag,
  /** How texts of posts, comments and messages are changed before they are stored; the forms apply in the order of {@link TextForm} ("Endpoints", gaps). */
  text: described(Schema.Array(TextForm), `a list of ${textForms.join(", ")}`),
  /** Maximum characters (code points) of a stored text; null: unlimited. A longer text is cut, not refused ("Endpoints", gaps). */
  storedTextLength: maybeWhole(1, 1_000_000),
  /** Whether a cut text ends in an ellipsis, which counts towards its length. */
  ellipsis: flag,
  /** The order in which the media of a post are stored ("Endpoints", gaps). */
  mediaOrder: oneOf(["asSent", "reversed", "sorted"]),
  /** The precision of `createdAt`; it is formatted with milliseconds either way ("Resources", conventions). */
  createdAtPrecision: oneOf(["milliseconds", "seconds"]),
  /** How far `createdAt` is ahead of the `Date` header, in milliseconds; negative: behind. The document does not relate the two. */
  createdAtOffsetMillis: signedMillis,
  /** How far the service's clock (`Date`, `createdAt`, `Retry-After` dates) is ahead of the caller's Clock, in milliseconds; negative: behind. */
  clockOffsetMillis: signedMillis,
  /** The `Date` header, by the service's clock. The document does not mention it. */
  dateHeader: oneOf(["present", "absent"]),
  /** How long after its commit a post appears in `GET /me/posts`, in milliseconds ("List behaviour" promises no moment). */
  listLagMillis: millis,
  /** The order of lists ("List behaviour" names none). `shuffled` gives each item a fixed place. */
  listOrder: oneOf(["newestFirst", "oldestFirst", "shuffled"]),
  /** Items on a page without `limit`; null: as assumed ("Endpoints", gaps). */
  defaultPageSize: maybeWhole(1, 100),
  /** How pages are filled while more items follow. `short`: some hold fewer than `limit`. `someEmpty`: some hold none ("List behaviour", rule 5: only `next_cursor` marks the end). */
  pages: oneOf(["full", "short", "someEmpty"]),
  /** The form of cursors ("List behaviour", rule 6: opaque). `special` needs percent-encoding, `long` has 2,000 characters. */
  cursorForm: oneOf(["base64url", "decimal", "uuid", "special", "long"]),
  /** How long a cursor is valid, in milliseconds; an expired one is refused with 400 VALIDATION_ERROR. 0: no expiry ("List behaviour", rule 6: not kept for long). */
  cursorExpiresAfterMillis: millis,
  /** `next_cursor` of the last page ("List behaviour", rule 5; "Resources", conventions). */
  lastCursor: oneOf(["null", "omitted", "emptyString"]),
  /**
   * The form of generated ids: of posts, media, conversations and accounts, and of generated products and
   * orders ("Resources", conventions: strings). `special` holds slashes, spaces, `%`, `?`, `#` and non-ASCII.
   */
  idForm: oneOf(["plain", "uuid", "special", "prefixed"]),
  /** Success status of creating a post, comment, message or story ("Endpoints", gaps). 204 has no body. */
  createStatus: status,
  /** Body of that success: the resource, none, or an object without the resource's fields ("Endpoints", gaps). */
  createBody: body,
  /** Success status of setting stock and shipping. */
  updateStatus: status,
  /** Body of that success. */
  updateBody: body,
  /** Success status of liking and following ("Endpoints": "confirmation"). */
  confirmStatus: status,
  /** Body of that success. */
  confirmBody: oneOf(["none", "unexpected"]),
  /** Success status of an upload, whose body always has the `mediaId`. */
  uploadStatus: oneOf([200, 201]),
  /** How JSON is written. `escaped`: `\/` and `\u` escapes. `indented`: with white space. All mean the same. */
  json: oneOf(["plain", "escaped", "indented"]),
  /** `Content-Type` of JSON responses. The document states only that of requests. */
  contentType: headerValue,
  /** Whether responses carry `x-request-id`. The document does not mention it. */
  requestId: flag,
  /** Fields beside `code` and `message`, and beside `error` ("Errors": some errors add fields of unknown shape). */
  extraErrorFields: flag,
  /** Documented codes that are replaced by new codes with the same status ("Errors", "Versioning": new codes may be added). */
  newCodes: strings,
  /** The form of `Retry-After` ("Errors": how long to wait). A date uses the service's clock. */
  retryAfter: oneOf(["seconds", "date"]),
  /** Seconds in the `Retry-After` header of a 503; 0: no such header. The document neither requires nor excludes it. */
  retryAfterOn503Seconds: whole(0, 86_400),
  /** What a daily quota counts ("Limits", gaps: which operations count against which quota). */
  quotaPer: oneOf(["account", "area", "operation"]),
  /** Requests in each daily quota; null: as assumed ("Limits", gaps). */
  dailyQuota: maybeWhole(0, 1_000_000_000),
  /** What keys begin with, before their 40 characters ("Authentication", rule 3: a fixed prefix). */
  keyPrefix: described(Schema.String.check(Schema.isPattern(/^[!-~]{1,100}$/u)), "1 to 100 printable ASCII characters without spaces"),
  /**
   * How long after its request failed a write is carried out, in milliseconds; 0: never ("Errors", retry rules: the action may
   * have happened). It applies after a dropped connection, a connection that the caller closed, and `lateCommitStatuses`.
   */
  lateCommitMillis: millis,
  /** Statuses after which a late commit may follow ("Errors", retry rules: of any 5xx, check that the action did not already happen). */
  lateCommitStatuses: described(Schema.Array(LateStatus), `a list of ${lateStatuses.join(", ")}`),
  /**
   * A status that a gateway in front of the service sends instead of the service's own response: a redirect to `/elsewhere` or
   * 408, with an empty body; null: none ("Errors" and "Endpoints", gaps: no list of statuses is complete).
   */
  gatewayStatus: described(Schema.NullOr(Schema.Literals(gatewayStatuses)), `one of null, ${gatewayStatuses.join(", ")}`),
  /** Every nth request gets `gatewayStatus`. */
  gatewayStatusEvery: whole(1, 1_000_000),
  /** Whether the gateway responds `before` the service receives the request, or `after` the service carried it out. */
  gatewayStatusWhen: oneOf(["before", "after"]),
  /**
   * How the rate of a key is counted ("Limits": 120 requests per minute): in a sliding window, in windows that start with each
   * minute, or by a token bucket that holds `rateBurst` requests and refills at the rate.
   */
  rateCounting: oneOf(["slidingWindow", "fixedWindow", "tokenBucket"]),
  /** Capacity of the `tokenBucket`, at most the requests of a window; null: the requests of a window. */
  rateBurst: maybeWhole(1, 1_000_000),
  /** Whether a request refused for the rate counts against the rate; null: as assumed ("Limits", gaps). */
  countRefused: described(Schema.NullOr(flag), "null, true or false")
}).annotate({ identifier: "Latitude" })
/** @since 0.1.0 @category models */
export type Latitude = typeof Latitude.Type

/**
 * A lenient and exact service.
 *
 * @since 0.1.0
 * @category constants
 */
export const defaults: Latitude = {
  profileId: "present",
  username: "present",
  postTextInList: "present",
  postMediaIdsInList: "present",
  postCreatedAtInList: "present",
  postTextInResponse: "present",
  postMediaIdsInResponse: "present",
  postCreatedAtInResponse: "present",
  commentText: "present",
  messageText: "present",
  stock: "present",
  carrier: "present",
  trackingNumber: "present",
  extraFields: false,
  text: [],
  storedTextLength: null,
  ellipsis: false,
  mediaOrder: "asSent",
  createdAtPrecision: "milliseconds",
  createdAtOffsetMillis: 0,
  clockOffsetMillis: 0,
  dateHeader: "present",
  listLagMillis: 0,
  listOrder: "newestFirst",
  defaultPageSize: null,
  pages: "full",
  cursorForm: "base64url",
  cursorExpiresAfterMillis: 0,
  lastCursor: "null",
  idForm: "plain",
  createStatus: 200,
  createBody: "resource",
  updateStatus: 200,
  updateBody: "resource",
  confirmStatus: 204,
  confirmBody: "none",
  uploadStatus: 200,
  json: "plain",
  contentType: "application/json; charset=utf-8",
  requestId: true,
  extraErrorFields: false,
  newCodes: [],
  retryAfter: "seconds",
  retryAfterOn503Seconds: 0,
  quotaPer: "account",
  dailyQuota: null,
  keyPrefix: "key_",
  lateCommitMillis: 0,
  lateCommitStatuses: [502, 504],
  gatewayStatus: null,
  gatewayStatusEvery: 10,
  gatewayStatusWhen: "before",
  rateCounting: "slidingWindow",
  rateBurst: null,
  countRefused: null
}

/** mulberry32: 32 bits of state, the same numbers everywhere. */
const generator = (seed: number): () => number => {
  let state = Math.imul(seed ^ Math.floor(seed / 0x1_0000_0000), 0x9e37_79b1) >>> 0
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

/** Every documented code can be replaced: a new code has the general meaning of its status. */
const replaceableCodes: ReadonlyArray<string> = Object.keys(byCode)

/** Small changes are frequent; changes that remove most of a text are rare. */
const drawnText = (
  some: (all: ReadonlyArray<TextForm>) => ReadonlyArray<TextForm>,
  rarely: <A>(usual: A, ...others: ReadonlyArray<A>) => A
): ReadonlyArray<TextForm> => {
  const small = some(["trimmed", "lf", "collapsed", "htmlEscaped", "nfc"])
  const large = rarely<ReadonlyArray<TextForm>>(
    [],
    ["smartPunctuation"],
    ["numericEntities"],
    ["namedEntities"],
    ["smartPunctuation", "numericEntities"],
    ["linksShortened"],
    ["emojiCodes"],
    ["linksShortened", "emojiCodes"]
  )
  return [...small, ...large]
}

/** Forms that can make a text empty. Then only the time of a post identifies it. */
const rewriting: ReadonlySet<TextForm> = new Set(["linksShortened", "emojiCodes"])

const minute = 60_000
const hour = 60 * minute

/** Clock skews of minutes, a time zone or a day. More than a day behind can be set, but is not drawn. */
const wrongClocks = [-24 * hour, -14 * hour, -hour, -10 * minute, -minute, minute, 10 * minute, hour, 14 * hour, 30 * hour]

/**
 * Draws a latitude from an integer: each field independently, about half of them as in {@link defaults}, because one
 * deviation can hide another. The same integer always gives the same latitude.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * import { Latitude } from "@plaza/sandbox"
 * import { Arbitrary, Schema } from "effect"
 *
 * // For a property of every service.
 * const anyService = Arbitrary.map(Arbitrary.schema(Schema.Int), Latitude.fromSeed)
 */
export const fromSeed = (seed: number): Latitude => {
  const next = generator(seed)
  const among = <A>(usual: A, ...others: ReadonlyArray<A>): A => next() < 0.5 ? usual : others[Math.floor(next() * others.length)] ?? usual
  const between = (usual: number, least: number, most: number): number =>
    next() < 0.5 ? usual : least + Math.floor(next() * (most - least + 1))
  /** For values that would hide all other deviations. */
  const rarely = <A>(usual: A, ...others: ReadonlyArray<A>): A => next() < 0.9 ? usual : others[Math.floor(next() * others.length)] ?? usual
  const some = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> => next() < 0.5 ? [] : all.filter(() => next() < 0.4)
  const presence = () => among<Presence>("present", "null", "omitted")
  const drawn: Latitude = {
    profileId: presence(),
    username: presence(),
    postTextInList: presence(),
    postMediaIdsInList: presence(),
    postCreatedAtInList: presence(),
    postTextInResponse: presence(),
    postMediaIdsInResponse: presence(),
    postCreatedAtInResponse: presence(),
    commentText: presence(),
    messageText: presence(),
    stock: presence(),
    carrier: presence(),
    trackingNumber: presence(),
    extraFields: among(false, true),
    text: drawnText(some, rarely),
    storedTextLength: among<number | null>(null, 10, 60, 500),
    ellipsis: among(false, true),
    mediaOrder: among<Latitude["mediaOrder"]>("asSent", "reversed", "sorted"),
    createdAtPrecision: among<Latitude["createdAtPrecision"]>("milliseconds", "seconds"),
    createdAtOffsetMillis: rarely(between(0, -2_000, 2_000), ...wrongClocks),
    clockOffsetMillis: among(0, -3_600_000, -600_000, -2_500, 700, 2_500, 600_000, 3_600_000),
    dateHeader: among<Latitude["dateHeader"]>("present", "absent"),
    listLagMillis: between(0, 50, 5_000),
    listOrder: among<Latitude["listOrder"]>("newestFirst", "oldestFirst", "shuffled"),
    defaultPageSize: among<number | null>(null, 1, 2, 7, 50, 100),
    pages: among<Latitude["pages"]>("full", "short", "someEmpty"),
    cursorForm: among<Latitude["cursorForm"]>("base64url", "decimal", "uuid", "special", "long"),
    cursorExpiresAfterMillis: among(0, 30_000, 600_000),
    lastCursor: among<Latitude["lastCursor"]>("null", "omitted", "emptyString"),
    idForm: among<Latitude["idForm"]>("plain", "uuid", "special", "prefixed"),
    createStatus: among<Latitude["createStatus"]>(200, 201, 204),
    createBody: among<Latitude["createBody"]>("resource", "none", "unexpected"),
    updateStatus: among<Latitude["updateStatus"]>(200, 201, 204),
    updateBody: among<Latitude["updateBody"]>("resource", "none", "unexpected"),
    confirmStatus: among<Latitude["confirmStatus"]>(204, 200, 201),
    confirmBody: among<Latitude["confirmBody"]>("none", "unexpected"),
    uploadStatus: among<Latitude["uploadStatus"]>(200, 201),
    json: among<Latitude["json"]>("plain", "escaped", "indented"),
    contentType: among("application/json; charset=utf-8", "application/json", "application/json;charset=UTF-8"),
    requestId: among(true, false),
    extraErrorFields: among(false, true),
    newCodes: some(replaceableCodes),
    retryAfter: among<Latitude["retryAfter"]>("seconds", "date"),
    retryAfterOn503Seconds: among(0, 1, 2, 5),
    quotaPer: among<Latitude["quotaPer"]>("account", "area", "operation"),
    dailyQuota: among<number | null>(null, 100, 500, 5_000),
    keyPrefix: among("key_", "sk-live.", "k", "pl/Live+2=", "a_b_c_"),
    lateCommitMillis: between(0, 100, 5_000),
    lateCommitStatuses: among<Latitude["lateCommitStatuses"]>([502, 504], lateStatuses, [500], [503]),
    gatewayStatus: rarely<Latitude["gatewayStatus"]>(null, ...gatewayStatuses),
    gatewayStatusEvery: among(10, 2, 3, 5),
    gatewayStatusWhen: among<Latitude["gatewayStatusWhen"]>("before", "after"),
    rateCounting: among<Latitude["rateCounting"]>("slidingWindow", "fixedWindow", "tokenBucket"),
    rateBurst: among<number | null>(null, 5, 10, 60),
    // True can be set, but is not drawn.
    countRefused: among<boolean | null>(null, false)
  }
  // Keeps the text or the time, so that a client can recognise its post.
  return drawn.text.some((form) => rewriting.has(form))
    ? { ...drawn, postCreatedAtInList: "present", createdAtOffsetMillis: 0, dateHeader: "present" }
    : drawn
}

/**
 * A change of a latitude: the fields to set. With a `seed` the other fields are drawn from it; without one they keep their value.
 *
 * @since 0.1.0
 * @category models
 */
export const Change = Schema.Struct({ seed: described(Schema.Int, "a whole number"), ...Latitude.fields })
  .mapFields(Struct.map(Schema.optionalKey))
  // Rejects unknown fields, which are usually misspelt.
  .annotate({ identifier: "LatitudeChange" })
/** @since 0.1.0 @category models */
export type Change = typeof Change.Type

/**
 * Applies a change, or the seed of a new latitude.
 *
 * @since 0.1.0
 * @category combinators
 */
export const apply = (before: Latitude, change: Change | number): Latitude => {
  const { seed, ...given } = typeof change === "number" ? { seed: change } : change
  return { ...(seed === undefined ? before : fromSeed(seed)), ...given }
}

const decodeChange = Schema.decodeUnknownResult(Change)
const isField = (name: string): boolean => name === "seed" || Object.hasOwn(Latitude.fields, name)

/**
 * Decodes a change from plain data. The error is one sentence that names the field.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (data: unknown): Result.Result<Change, string> => {
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    return Result.fail("it must be a JSON object")
  }
  const unknown = Object.keys(data).find((name) => !isField(name))
  return unknown === undefined
    ? Result.mapError(decodeChange(data), (error) => {
      const [issue] = issuesOf(error)
      return `"${String(issue?.path[0])}" ${issue?.message ?? "is wrong"}`
    })
    : Result.fail(`"${unknown}" is not one of its fields`)
}
