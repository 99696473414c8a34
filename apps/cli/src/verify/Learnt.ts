/**
 * What a run shows of the points that the document leaves open, as assumptions and a latitude of the sandbox. A value is learnt only if
 * the responses show it for certain.
 */
import { parseHttpDate } from "@plaza/domain/ErrorResponse"
import * as Limits from "@plaza/domain/Limits"
import { type Action, operations as catalogue } from "@plaza/domain/Operations"
import type { Latitude } from "@plaza/sandbox"
import * as Arr from "effect/Array"
import * as Rec from "effect/Record"
import * as Result from "effect/Result"
import {
  cut,
  errorOf,
  isDocumentedCode,
  isJsonObject,
  isSuccess,
  itemsOf,
  type Json,
  lastOf,
  limitOf,
  nextCursor,
  type Observations,
  pages,
  type Received,
  type ResourceName,
  resources,
  resourcesOf,
  type Response,
  responses,
  successes,
  successOf
} from "./Observation.ts"
import { invalidLimits, lists, probeText } from "./Plan.ts"
import { recognise } from "./TextForms.ts"

type Values = Latitude.Latitude

/** Assumptions as a file has them. */
interface LearntAssumptions {
  readonly defaultPageSize?: number
  readonly scopes?: Readonly<Record<string, string>>
}

/** `failed`: refused for another reason than the scope, or no response. */
export type Access = "succeeded" | "insufficientScope" | "failed"

export interface Learnt {
  /** Assumptions that differ from the sandbox's or agree with them. */
  readonly assumptions: LearntAssumptions
  readonly latitude: Latitude.Change
  /** Whether the key may call each operation of the run. */
  readonly operations: Readonly<Record<string, Access>>
  /** The success statuses of each operation. */
  readonly successStatuses: Readonly<Record<string, ReadonlyArray<number>>>
  /** Items on a page without `limit`, by operation of a list. */
  readonly defaultPageSizes: Readonly<Record<string, number>>
  /** The fields that were present and not null, by resource. */
  readonly fields: Readonly<Record<string, ReadonlyArray<string>>>
}

/** The value that all of these agree on. */
const same = <A>(values: ReadonlyArray<A>): A | undefined => new Set(values).size === 1 ? values[0] : undefined

const entry = <Name extends keyof Values>(name: Name, value: Values[Name] | undefined): { readonly [K in Name]?: Values[K] } =>
  // True because the object has this one property or none.
  (value === undefined ? {} : { [name]: value }) as { readonly [K in Name]?: Values[K] }

const presenceOf = (values: ReadonlyArray<Json>, field: string): Latitude.Presence | undefined =>
  values.length === 0
    ? undefined
    : values.some((value) => value[field] !== undefined && value[field] !== null)
    ? "present"
    : values.some((value) => value[field] === null)
    ? "null"
    : "omitted"

const valuesOf = (observations: Observations, name: ResourceName): ReadonlyArray<Json> =>
  resourcesOf(observations, name).map(({ value }) => value)

/** Changed resources: an object without any known field is not the resource. */
const changed = (observations: Observations, name: ResourceName, fields: ReadonlyArray<string>): ReadonlyArray<Json> =>
  valuesOf(observations, name).filter((value) => ["id", ...fields].some((field) => value[field] !== undefined))

const presences = (observations: Observations): Latitude.Change => {
  const profiles = valuesOf(observations, "Profile")
  const posts = valuesOf(observations, "Post")
  const orders = changed(observations, "Order", ["carrier", "trackingNumber"])
  return {
    ...entry("profileId", presenceOf(profiles, "id")),
    ...entry("username", presenceOf(profiles, "username")),
    ...entry("postTextInList", presenceOf(posts, "text")),
    ...entry("postMediaIdsInList", presenceOf(posts, "mediaIds")),
    ...entry("postCreatedAtInList", presenceOf(posts, "createdAt")),
    ...entry("commentText", presenceOf(changed(observations, "Comment", ["text"]), "text")),
    ...entry("messageText", presenceOf(changed(observations, "Message", ["text"]), "text")),
    ...entry("stock", presenceOf(changed(observations, "Product", ["stock"]), "stock")),
    ...entry("carrier", presenceOf(orders, "carrier")),
    ...entry("trackingNumber", presenceOf(orders, "trackingNumber"))
  }
}

// Fewer items can look ordered, or in whole seconds, by chance.
const minSample = 5

/** The longest part of the list of posts that was received in one order. */
const longestPosts = (observations: Observations): ReadonlyArray<Json> => {
  const [posts] = lists
  if (posts === undefined) return []
  const itemsOfStep = (step: string) =>
    Result.match(successOf(observations, `posts.${step}`), {
      onFailure: () => [],
      onSuccess: ({ response }) => itemsOf(response).filter(isJsonObject)
    })
  const walked = Array.from({ length: posts.pages }, (_, index) => itemsOfStep(`page${index + 1}`)).flat()
  const most = itemsOfStep("max")
  return walked.length > most.length ? walked : most
}

const times = (observations: Observations): Latitude.Change => {
  const instants = longestPosts(observations).flatMap(({ createdAt }) => {
    const millis = typeof createdAt === "string" ? Date.parse(createdAt) : Number.NaN
    return Number.isNaN(millis) ? [] : [millis]
  })
  const isMonotonic = (sign: 1 | -1) => instants.every((millis, index) => index === 0 || sign * (millis - (instants[index - 1] ?? 0)) >= 0)
  const hasMillis = instants.some((millis) => millis % 1_000 !== 0)
  const isEnough = new Set(instants).size >= minSample
  return {
    ...entry("createdAtPrecision", hasMillis ? "milliseconds" : isEnough ? "seconds" : undefined),
    ...entry("listOrder", !isEnough ? undefined : isMonotonic(-1) ? "newestFirst" : isMonotonic(1) ? "oldestFirst" : "shuffled")
  }
}

/** Responses of the service itself, not of a gateway in front of it. */
const ownResponses = (observations: Observations): ReadonlyArray<Received> =>
  responses(observations).filter(({ response }) => isSuccess(response.status) || errorOf(response) !== undefined)

/** How far the service's clock is ahead: `Date` has whole seconds, and was set between request and response. */
const clockOffset = (observations: Observations): number | undefined => {
  const bounds = ownResponses(observations).flatMap(({ receivedAt, response, sentAt }) => {
    const date = parseHttpDate(response.headers["date"])
    return date === undefined ? [] : [{ least: date - receivedAt, most: date + 1_000 - sentAt }]
  })
  if (bounds.length === 0) return undefined
  const least = Math.max(...bounds.map((bound) => bound.least))
  const most = Math.min(...bounds.map((bound) => bound.most))
  return least > most ? undefined : least <= 0 && most >= 0 ? 0 : Math.round((least + most) / 2)
}

const jsonForm = (bodies: ReadonlyArray<string>): Values["json"] | undefined => {
  const raw = bodies.map((body) => body.replaceAll("\\\\", ""))
  return raw.some((body) => /^\{\r?\n/.test(body))
    ? "indented"
    : raw.some((body) => /\\\/|\\u(?!00[01])/i.test(body))
    ? "escaped"
    : raw.some((body) => /[/<>&'+]|[^\0-\x7f]/.test(body))
    ? "plain"
    : undefined
}

const presentOrNot = <A>(values: ReadonlyArray<string | undefined>, present: A, absent: A): A | undefined =>
  same(values.map((value) => value === undefined ? absent : present))

const headers = (observations: Observations): Latitude.Change => {
  const own = ownResponses(observations)
  const json = own.filter(({ response }) => response.json !== undefined)
  const contentType = same(json.map(({ response }) => response.headers["content-type"]))
  const waits = responses(observations).flatMap(({ response }) => response.headers["retry-after"] ?? [])
  return {
    ...entry("dateHeader", presentOrNot(own.map(({ response }) => response.headers["date"]), "present", "absent")),
    ...entry("clockOffsetMillis", clockOffset(observations)),
    ...entry("requestId", presentOrNot(own.map(({ response }) => response.headers["x-request-id"]), true, false)),
    ...entry("contentType", contentType !== undefined && /^[!-~](?:[ -~]*[!-~])?$/.test(contentType) ? contentType : undefined),
    ...entry("json", jsonForm(json.map(({ response }) => response.body))),
    ...entry(
      "retryAfter",
      same(waits.flatMap((wait) => /^\d+$/.test(wait) ? ["seconds" as const] : parseHttpDate(wait) === undefined ? [] : ["date" as const]))
    )
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i

const cursorForm = (cursor: string): Values["cursorForm"] =>
  cursor.length >= 1_000
    ? "long"
    : /^\d+$/.test(cursor)
    ? "decimal"
    : uuid.test(cursor)
    ? "uuid"
    : /[^A-Za-z0-9_.~-]/.test(cursor)
    ? "special"
    : "base64url"

const idForm = (id: string): Values["idForm"] =>
  uuid.test(id) ? "uuid" : /[^A-Za-z0-9_.~-]/.test(id) ? "special" : /^[a-z]+_\d+$/.test(id) ? "prefixed" : "plain"

/** How pages with a successor are filled; undefined while all of them are full. */
const pageFilling = (observations: Observations): Values["pages"] | undefined => {
  const missing = pages(observations).flatMap(({ request, response }) => {
    const size = itemsOf(response).length
    const limit = limitOf(request)
    return nextCursor(response) !== undefined && limit !== undefined && size < limit ? [size] : []
  })
  return missing.length === 0 ? undefined : missing.includes(0) ? "someEmpty" : "short"
}

/** The default page size of each list. A second request with this limit rules out pages that are not filled. */
const defaultPageSizes = (observations: Observations): Readonly<Record<string, number>> =>
  Object.fromEntries(lists.flatMap(({ id, operation }) => {
    const all = Result.all([successOf(observations, `${id}.default`), successOf(observations, `${id}.size`)])
    if (Result.isFailure(all) || pageFilling(observations) === "short") return []
    const [size, again] = all.success.map(({ response }) => itemsOf(response).length)
    return size !== undefined && size === again ? [[operation, size] as const] : []
  }))

const listForms = (observations: Observations): Latitude.Change => {
  const all = pages(observations).map(({ response }) => response)
  const envelopes = all.flatMap(({ json }) => isJsonObject(json) ? [json] : [])
  const last = all.filter((response) => nextCursor(response) === undefined && isJsonObject(response.json))
    .map(({ json }) => isJsonObject(json) ? json["next_cursor"] : undefined)
  const ids = valuesOf(observations, "Post").flatMap(({ id }) => typeof id === "string" ? [id] : [])
  return {
    ...entry("pages", pageFilling(observations)),
    ...entry("cursorForm", same(all.flatMap((response) => nextCursor(response) ?? []).map(cursorForm))),
    ...entry(
      "lastCursor",
      same(
        last.flatMap((cursor) =>
          cursor === undefined ? ["omitted" as const] : cursor === null ? ["null" as const] : cursor === "" ? ["emptyString" as const] : []
        )
      )
    ),
    // A service may have changed the form: ids in the plain one show nothing about new ids.
    ...entry("idForm", same(ids.map(idForm).filter((form) => form !== "plain"))),
    ...entry("extraFields",
      same(envelopes.map((envelope) => Object.keys(envelope).some((name) => name !== "data" && name !== "next_cursor"))))
  }
}

/** The successful responses of the operations with this effect. */
const successesOf = (observations: Observations, action: Action): ReadonlyArray<Response> =>
  successes(observations).filter(({ operation }) => catalogue[operation].action === action).map(({ response }) => response)

const statusOf = (found: ReadonlyArray<Response>): 200 | 201 | 204 | undefined => {
  const status = same(found.map((one) => one.status))
  return status === 200 || status === 201 || status === 204 ? status : undefined
}

const bodyOf = (response: Response, fields: ReadonlyArray<string>): "resource" | "none" | "unexpected" | undefined =>
  response.status === 204
    ? undefined
    : response.body === ""
    ? "none"
    : isJsonObject(response.json) && ["id", ...fields].some((field) => isJsonObject(response.json) && response.json[field] !== undefined)
    ? "resource"
    : isJsonObject(response.json) && Object.keys(response.json).length > 0
    ? "unexpected"
    : undefined

const writeForms = (observations: Observations): Latitude.Change => {
  const created = successesOf(observations, "create")
  const updated = successesOf(observations, "update")
  const confirmedOnes = successesOf(observations, "confirm")
  const body = (found: ReadonlyArray<Response>, fields: ReadonlyArray<string>) =>
    same(found.flatMap((response) => bodyOf(response, fields) ?? []))
  const confirmation = same(
    confirmedOnes.flatMap((one) => one.status === 204 ? [] : [one.body === "" ? "none" as const : "unexpected" as const])
  )
  return {
    ...entry("createStatus", statusOf(created)),
    ...entry("createBody", body(created, ["text"])),
    ...entry("updateStatus", statusOf(updated)),
    ...entry("updateBody", body(updated, ["stock", "carrier", "trackingNumber"])),
    ...entry("confirmStatus", statusOf(confirmedOnes)),
    ...entry("confirmBody", confirmation)
  }
}

const texts = (observations: Observations): Latitude.Change => {
  const stored = [...valuesOf(observations, "Comment"), ...valuesOf(observations, "Message")]
    .flatMap(({ text }) => typeof text === "string" ? [text] : [])
  const text = same(stored)
  return text === undefined ? {} : recognise(probeText, text) ?? {}
}

/** The codes that the document requires where a run fails on purpose. */
const expectedCodes: ReadonlyArray<readonly [step: string, status: number, code: string]> = [
  ...lists.flatMap(({ id }) => invalidLimits.map((limit) => [`${id}.limit.${limit}`, 400, "VALIDATION_ERROR"] as const)),
  ["wrongType", 400, "VALIDATION_ERROR"],
  ["invalidJson", 400, "INVALID_JSON"],
  ["withoutKey", 401, "INVALID_API_KEY"],
  ["unknownUser", 404, "NOT_FOUND"],
  ["unknownUsername", 404, "NOT_FOUND"],
  ["shipAgain", 409, "CONFLICT"]
]

const errorForms = (observations: Observations): Latitude.Change => {
  const errors = ownResponses(observations).filter(({ response }) => !isSuccess(response.status))
  const codes = expectedCodes.flatMap(([step, status, code]) => {
    const last = lastOf(observations, step)
    const response = last && Result.getOrUndefined(last.result)
    const received = response?.status === status ? errorOf(response)?.code : undefined
    return received === undefined || isDocumentedCode(received) ? [] : [code]
  })
  return {
    ...entry(
      "extraErrorFields",
      same(errors.map(({ response: { json } }) => isJsonObject(json) && Object.keys(json).some((name) => name !== "error")))
    ),
    ...entry("newCodes", codes.length === 0 ? undefined : [...new Set(codes)])
  }
}

// At least 40 characters of the key stay unknown. A longer prefix may be part of the secret of a key in another form.
const maxPrefixLength = 12

const keyForm = ({ keyLength, keyPrefix }: Observations): Latitude.Change =>
  keyLength > Limits.keySecretLength && /^[!-~]{1,}$/.test(keyPrefix) && keyPrefix.length <= maxPrefixLength ? { keyPrefix } : {}

const hasCode = ({ response }: Received, code: string): boolean => errorOf(response)?.code === code

const operations = (observations: Observations): Readonly<Record<string, Access>> =>
  Rec.map(
    Arr.groupBy(observations.sent.filter(({ step }) => step !== "withoutKey"), ({ operation }): string => operation),
    (sent): Access => {
      const own = responses({ ...observations, sent })
      return own.some(({ response }) => isSuccess(response.status))
        ? "succeeded"
        : own.some((one) => hasCode(one, "INSUFFICIENT_SCOPE"))
        ? "insufficientScope"
        : "failed"
    }
  )

/** The scopes that errors name. */
const scopes = (observations: Observations): Readonly<Record<string, string>> =>
  Object.fromEntries(
    responses(observations).filter((one) => hasCode(one, "INSUFFICIENT_SCOPE")).flatMap(({ operation, response: { json } }) => {
      const error = isJsonObject(json) ? json["error"] : undefined
      const named = isJsonObject(error)
        ? Object.values(error).filter((value): value is string => typeof value === "string" && /^[a-z]+:[a-z]+$/.test(value))
        : []
      return named.length === 1 && named[0] !== undefined ? [[operation, named[0]] as const] : []
    })
  )

const fieldsByResource = (observations: Observations): Readonly<Record<string, ReadonlyArray<string>>> =>
  Rec.map(
    Arr.groupBy(resources(observations), ({ name }): string => name),
    (own) => [...new Set(own.flatMap(({ value }) => Object.keys(value).filter((field) => value[field] !== null).map(cut)))].sort()
  )

const successStatuses = (observations: Observations): Readonly<Record<string, ReadonlyArray<number>>> =>
  Rec.map(
    Arr.groupBy(successes(observations), ({ operation }): string => operation),
    (own) => [...new Set(own.map(({ response }) => response.status))].sort((one, other) => one - other)
  )

/** Derives everything that the observations show of the open points. */
export const learn = (observations: Observations): Learnt => {
  const sizes = defaultPageSizes(observations)
  const size = sizes["listPosts"] ?? sizes["listConversations"]
  const named = scopes(observations)
  return {
    assumptions: {
      ...(size === undefined ? {} : { defaultPageSize: size }),
      ...(Object.keys(named).length === 0 ? {} : { scopes: named })
    },
    latitude: {
      ...presences(observations),
      ...times(observations),
      ...headers(observations),
      ...listForms(observations),
      ...writeForms(observations),
      ...texts(observations),
      ...errorForms(observations),
      ...keyForm(observations)
    },
    operations: operations(observations),
    successStatuses: successStatuses(observations),
    defaultPageSizes: sizes,
    fields: fieldsByResource(observations)
  }
}

/** The file that `plaza sandbox start --assumptions` loads. */
export const assumptionsFile = ({ assumptions, latitude }: Learnt): unknown => ({ ...assumptions, latitude })
