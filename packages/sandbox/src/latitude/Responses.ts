/**
 * Shapes responses by a latitude: which fields they have, with what status and body they confirm, and their headers.
 *
 * @since 0.1.0
 */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import * as Envelope from "../http/Envelope.js"
import type { Operation } from "../http/Operation.js"
import type { Latitude, Presence } from "../Latitude.js"

type Response = HttpServerResponse.HttpServerResponse

type Json = Readonly<Record<string, unknown>>

/** The fields of a latitude that say whether a field of a resource is there. */
type PresenceName = { [Name in keyof Latitude]: Latitude[Name] extends Presence ? Name : never }[keyof Latitude]

/** The fields of a resource that may be absent, each with what says so. */
type Shown = Readonly<Record<string, PresenceName>>

const profile: Shown = { id: "profileId", username: "username" }
const post: Shown = { text: "postTextInResponse", mediaIds: "postMediaIdsInResponse", createdAt: "postCreatedAtInResponse" }
const message: Shown = { text: "messageText" }
const product: Shown = { stock: "stock" }
const order: Shown = { carrier: "carrier", trackingNumber: "trackingNumber" }

const shownBy: Readonly<Record<string, Shown>> = {
  getMe: profile,
  getUser: profile,
  getUserByUsername: profile,
  createPost: post,
  editPost: post,
  getPost: post,
  listPosts: { text: "postTextInList", mediaIds: "postMediaIdsInList", createdAt: "postCreatedAtInList" },
  createComment: { text: "commentText" },
  sendMessage: message,
  listMessages: message,
  setStock: product,
  getProduct: product,
  listProducts: product,
  shipOrder: order,
  getOrder: order,
  listOrders: order
}

const creating = new Set(["createPost", "createComment", "sendMessage", "createStory"])
const updating = new Set(["setStock", "shipOrder", "editPost"])

/** Fields of no document, with names that resources have deeper inside. */
const extra: Json = {
  addedLater: true,
  "x-rev": 7,
  newList: [],
  newObject: { id: "other", text: "not this one", createdAt: null, data: [], next_cursor: "not this one" }
}

const escapeInside = (text: string): string =>
  text.replace(/[^ -~]|[/<>&'+]/g, (unit) => unit === "/" ? "\\/" : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

const write = (value: unknown, json: Latitude["json"]): string => {
  switch (json) {
    case "plain":
      return JSON.stringify(value)
    case "escaped":
      return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, escapeInside)
    case "indented":
      return JSON.stringify(value, null, 2)
  }
}

const jsonResponse = ({ contentType, json }: Latitude, status: number, value: unknown): Response =>
  Envelope.raw(status, write(value, json), contentType)

/** `createdAt` by the service's clock, as exact as it is stored. */
const shownDate = ({ clockOffsetMillis, createdAtOffsetMillis, createdAtPrecision }: Latitude, written: string): string => {
  const millis = Date.parse(written) + clockOffsetMillis + createdAtOffsetMillis
  return new Date(createdAtPrecision === "seconds" ? Math.floor(millis / 1_000) * 1_000 : millis).toISOString()
}

const shapeResource = (latitude: Latitude, shown: Shown, resource: unknown): unknown => {
  if (!Predicate.isReadonlyRecord(resource)) {
    return resource
  }
  const shaped: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(resource)) {
    const presenceName = Object.hasOwn(shown, name) ? shown[name] : undefined
    const presence = presenceName === undefined ? "present" : latitude[presenceName]
    if (presence !== "omitted") {
      shaped[name] = presence === "null"
        ? null
        : name === "createdAt" && typeof value === "string"
        ? shownDate(latitude, value)
        : value
    }
  }
  return latitude.extraFields ? { ...shaped, ...extra } : shaped
}

const shapePage = (latitude: Latitude, shown: Shown, { data, next_cursor, ...rest }: Json): Json => ({
  ...rest,
  data: Array.isArray(data) ? data.map((item) => shapeResource(latitude, shown, item)) : data,
  ...(next_cursor !== null
    ? { next_cursor }
    : latitude.lastCursor === "omitted"
    ? {}
    : { next_cursor: latitude.lastCursor === "null" ? null : "" }),
  ...(latitude.extraFields ? extra : {})
})

/**
 * The response to an operation that was carried out, of the value that the contract writes.
 *
 * @since 0.1.0
 * @category responses
 */
export const success = (latitude: Latitude, { method, name }: Pick<Operation, "method" | "name">, value: unknown): Response => {
  const shown = shownBy[name] ?? {}
  const shaped = () =>
    Predicate.isReadonlyRecord(value) && Array.isArray(value["data"])
      ? shapePage(latitude, shown, value)
      : shapeResource(latitude, shown, value)
  const confirmed = (status: number, body: "resource" | "none" | "unexpected"): Response =>
    status === 204 || body === "resource" && value === undefined
      ? Envelope.empty(204)
      : body === "none"
      ? Envelope.empty(status)
      : jsonResponse(latitude, status, body === "unexpected" ? { ok: true } : shaped())
  return method === "GET"
    ? jsonResponse(latitude, 200, shaped())
    : name === "uploadMedia"
    ? jsonResponse(latitude, latitude.uploadStatus, shaped())
    : creating.has(name)
    ? confirmed(latitude.createStatus, latitude.createBody)
    : updating.has(name)
    ? confirmed(latitude.updateStatus, latitude.updateBody)
    : confirmed(latitude.confirmStatus, latitude.confirmBody)
}

const shapeError = ({ extraErrorFields, newCodes }: Latitude, body: Json, { code, message, ...details }: Json): Json => ({
  ...body,
  error: {
    code: typeof code === "string" && newCodes.includes(code) ? `NEW_${code}` : code,
    message,
    ...details,
    ...(extraErrorFields ? { details: [{ path: ["a", 0], issue: "example" }], hint: null, docs: "https://example.org/errors" } : {})
  },
  ...(extraErrorFields ? { traceId: "example", errors: [] } : {})
})

/** Rounded up to whole seconds, so that waiting until then is long enough. */
const httpDate = (millis: number): string => new Date(Math.ceil(millis / 1_000) * 1_000).toUTCString()

const withRetryAfter = (latitude: Latitude, response: Response, now: number): Response => {
  const own = response.headers["retry-after"]
  const seconds = own !== undefined ? Number(own) : response.status === 503 ? latitude.retryAfterOn503Seconds : 0
  return seconds === 0
    ? response
    : Envelope.withHeader(
      response,
      "retry-after",
      latitude.retryAfter === "date" ? httpDate(now + latitude.clockOffsetMillis + seconds * 1_000) : String(seconds)
    )
}

/**
 * The response to a request that failed. A body that was written by hand stays as it is.
 *
 * @since 0.1.0
 * @category responses
 */
export const failure = (
  latitude: Latitude,
  response: Response,
  options: { readonly now: number; readonly isByHand: boolean }
): Response => {
  const delayed = withRetryAfter(latitude, response, options.now)
  if (options.isByHand) {
    return delayed
  }
  const body = Envelope.jsonOf(delayed)
  const shaped = Predicate.isReadonlyRecord(body) && Predicate.isReadonlyRecord(body["error"])
    ? shapeError(latitude, body, body["error"])
    : body
  return HttpServerResponse.setBody(delayed, jsonResponse(latitude, delayed.status, shaped).body)
}

/**
 * Adds the headers that every response has. Without a date of ours it has none; see `NodeServer`.
 *
 * @since 0.1.0
 * @category responses
 */
export const withHeaders = (
  { clockOffsetMillis, dateHeader, requestId }: Latitude,
  response: Response,
  options: { readonly now: number; readonly id: string }
): Response =>
  HttpServerResponse.setHeaders(response, {
    ...(requestId ? { "x-request-id": options.id } : {}),
    ...(dateHeader === "absent" ? {} : { date: new Date(options.now + clockOffsetMillis).toUTCString() })
  })
