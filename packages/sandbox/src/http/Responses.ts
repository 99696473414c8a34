/** Changes responses as a latitude permits: fields, status, body and headers. */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import type { Operation } from "../InterfaceApi.ts"
import type { Latitude, Presence } from "../Latitude.ts"
import * as Envelope from "./Envelope.ts"

type Response = HttpServerResponse.HttpServerResponse

type Json = Readonly<Record<string, unknown>>

/** The fields of a latitude that decide the presence of a field of a resource. */
type PresenceName = { [Name in keyof Latitude]: Latitude[Name] extends Presence ? Name : never }[keyof Latitude]

/** The fields of a resource that may be absent, each with the field of the latitude that decides it. */
type PresenceByField = Readonly<Record<string, PresenceName>>

const postInResponse: PresenceByField = {
  text: "postTextInResponse",
  mediaIds: "postMediaIdsInResponse",
  createdAt: "postCreatedAtInResponse"
}
const postInList: PresenceByField = { text: "postTextInList", mediaIds: "postMediaIdsInList", createdAt: "postCreatedAtInList" }

const presenceByResource: Readonly<Record<string, PresenceByField>> = {
  Profile: { id: "profileId", username: "username" },
  Post: postInResponse,
  Comment: { text: "commentText" },
  Message: { text: "messageText" },
  Product: { stock: "stock" },
  Order: { carrier: "carrier", trackingNumber: "trackingNumber" }
}

const presencesOf = ({ isList, resource = "" }: Pick<Operation, "isList" | "resource">): PresenceByField =>
  isList && resource === "Post" ? postInList : presenceByResource[resource] ?? {}

/** Undocumented fields, some of them named like documented ones at another depth. */
const extra: Json = {
  addedLater: true,
  revNumber: 7,
  newList: [],
  newObject: { id: "other", text: "not this one", createdAt: null, data: [], next_cursor: "not this one" }
}

const escapeCharacters = (text: string): string =>
  text.replace(/[^ -~]|[/<>&'+]/g, (unit) => unit === "/" ? "\\/" : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

const write = (value: unknown, json: Latitude["json"]): string => {
  switch (json) {
    case "plain":
      return JSON.stringify(value)
    case "escaped":
      return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, escapeCharacters)
    case "indented":
      return JSON.stringify(value, null, 2)
  }
}

const jsonResponse = ({ contentType, json }: Latitude, status: number, value: unknown): Response =>
  Envelope.raw(status, write(value, json), contentType)

/** `createdAt` by the clock and in the precision of the service. */
const formatCreatedAt = ({ clockOffsetMillis, createdAtOffsetMillis, createdAtPrecision }: Latitude, written: string): string => {
  const millis = Date.parse(written) + clockOffsetMillis + createdAtOffsetMillis
  return new Date(createdAtPrecision === "seconds" ? Math.floor(millis / 1_000) * 1_000 : millis).toISOString()
}

const shapeResource = (latitude: Latitude, presences: PresenceByField, resource: unknown): unknown => {
  if (!Predicate.isReadonlyObject(resource)) {
    return resource
  }
  const shaped: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(resource)) {
    const presenceName = Object.hasOwn(presences, name) ? presences[name] : undefined
    const presence = presenceName === undefined ? "present" : latitude[presenceName]
    if (presence !== "omitted") {
      shaped[name] = presence === "null"
        ? null
        : name === "createdAt" && typeof value === "string"
        ? formatCreatedAt(latitude, value)
        : value
    }
  }
  return latitude.extraFields ? { ...shaped, ...extra } : shaped
}

const shapePage = (latitude: Latitude, presences: PresenceByField, { data, next_cursor, ...rest }: Json): Json => ({
  ...rest,
  data: Array.isArray(data) ? data.map((item) => shapeResource(latitude, presences, item)) : data,
  ...(next_cursor !== null
    ? { next_cursor }
    : latitude.lastCursor === "omitted"
    ? {}
    : { next_cursor: latitude.lastCursor === "null" ? null : "" }),
  ...(latitude.extraFields ? extra : {})
})

/** The response to a successful operation, from its encoded result. */
export const success = (latitude: Latitude, operation: Operation, value: unknown): Response => {
  const presences = presencesOf(operation)
  const shaped = () =>
    Predicate.isReadonlyObject(value) && Array.isArray(value["data"])
      ? shapePage(latitude, presences, value)
      : shapeResource(latitude, presences, value)
  const confirmed = (status: number, body: "resource" | "none" | "unexpected"): Response =>
    status === 204 || body === "resource" && value === undefined
      ? Envelope.empty(204)
      : body === "none"
      ? Envelope.empty(status)
      : jsonResponse(latitude, status, body === "unexpected" ? { ok: true } : shaped())
  switch (operation.action) {
    case "read":
      return jsonResponse(latitude, 200, shaped())
    case "upload":
      return jsonResponse(latitude, latitude.uploadStatus, shaped())
    case "create":
      return confirmed(latitude.createStatus, latitude.createBody)
    case "update":
      return confirmed(latitude.updateStatus, latitude.updateBody)
    case "confirm":
      return confirmed(latitude.confirmStatus, latitude.confirmBody)
  }
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

/** Rounded up to whole seconds, so that a client that waits until then waits long enough. */
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

/** The response to a failed request. The body of a fault and a response without a body stay unchanged. */
export const failure = (
  latitude: Latitude,
  response: Response,
  options: { readonly now: number; readonly hasOwnBody: boolean }
): Response => {
  const delayed = withRetryAfter(latitude, response, options.now)
  if (options.hasOwnBody || delayed.body._tag === "Empty") {
    return delayed
  }
  const body = Envelope.jsonOf(delayed)
  const shaped = Predicate.isReadonlyObject(body) && Predicate.isReadonlyObject(body["error"])
    ? shapeError(latitude, body, body["error"])
    : body
  return HttpServerResponse.setBody(delayed, jsonResponse(latitude, delayed.status, shaped).body)
}

/** The texts of the last time: most responses have the time of the one before. */
let lastDate = { seconds: 0, text: new Date(0).toUTCString() }

const toUtcText = (millis: number): string => {
  const seconds = Math.floor(millis / 1_000)
  if (lastDate.seconds !== seconds) {
    lastDate = { seconds, text: new Date(millis).toUTCString() }
  }
  return lastDate.text
}

/** Adds the headers that every response has. `NodeServer` adds no `Date` of its own. */
export const withHeaders = (
  { clockOffsetMillis, dateHeader, requestId }: Latitude,
  response: Response,
  options: { readonly now: number; readonly id: string }
): Response =>
  HttpServerResponse.setHeaders(response, {
    ...(requestId ? { "x-request-id": options.id } : {}),
    ...(dateHeader === "absent" ? {} : { date: toUtcText(options.now + clockOffsetMillis) })
  })
