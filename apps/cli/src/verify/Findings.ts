/**
 * What a run shows of the points that the document leaves open, as assumptions and a latitude of the sandbox. It names a value only if the
 * responses show it for certain.
 */
import { parseHttpDate } from "@plaza/domain/ErrorResponse"
import * as Limits from "@plaza/domain/Limits"
import { type Action, operations as catalogue } from "@plaza/domain/Operations"
import type { Latitude } from "@plaza/sandbox"
import * as Arr from "effect/Array"
import * as Predicate from "effect/Predicate"
import * as Rec from "effect/Record"
import * as Result from "effect/Result"
import type { VerifyReport } from "../schema/Outputs.ts"
import {
  cut,
  errorOf,
  isDocumentedCode,
  isJsonObject,
  isSuccess,
  itemsOf,
  type Json,
  limitOf,
  nextCursor,
  type Observations,
  pages,
  type Received,
  resourceByOperation,
  type ResourceName,
  resources,
  resourceSchemas,
  responseOf,
  responses,
  statusOf,
  successes,
  successOf
} from "./Observation.ts"
import { lists, probeText, refusals, walkOf } from "./Plan.ts"
import { recognise } from "./TextForms.ts"

type Values = Latitude.Latitude

/** The points of the report, with the types of the sandbox. */
export interface Findings extends Omit<VerifyReport["learnt"], "assumptions" | "latitude"> {
  /** Assumptions as a file has them. They may agree with those of the sandbox. */
  readonly assumptions: { readonly defaultPageSize?: number; readonly scopes?: Readonly<Record<string, string>> }
  readonly latitude: Latitude.Change
}

/** The value that all of these agree on. */
const same = <A>(values: ReadonlyArray<A>): A | undefined => new Set(values).size === 1 ? values[0] : undefined

const presenceOf = (values: ReadonlyArray<Json>, field: string): Latitude.Presence | undefined =>
  values.length === 0
    ? undefined
    : values.some((value) => Predicate.isNotNullish(value[field]))
    ? "present"
    : values.some((value) => value[field] === null)
    ? "null"
    : "omitted"

const valuesOf = (observations: Observations, name: ResourceName): ReadonlyArray<Json> =>
  resources(observations, name).map(({ value }) => value)

/** Whether an object has a field of a resource. The response of a write may be another object. */
const isResource = (name: ResourceName) => (value: Json): boolean =>
  ["id", ...Object.keys(resourceSchemas[name].fields)].some((field) => value[field] !== undefined)

const presences = (observations: Observations) => {
  const read = (name: ResourceName, field: string) => presenceOf(valuesOf(observations, name), field)
  const written = (name: ResourceName, field: string) => presenceOf(valuesOf(observations, name).filter(isResource(name)), field)
  return {
    profileId: read("Profile", "id"),
    username: read("Profile", "username"),
    postTextInList: read("Post", "text"),
    postMediaIdsInList: read("Post", "mediaIds"),
    postCreatedAtInList: read("Post", "createdAt"),
    commentText: written("Comment", "text"),
    messageText: written("Message", "text"),
    stock: written("Product", "stock"),
    carrier: written("Order", "carrier"),
    trackingNumber: written("Order", "trackingNumber")
  }
}

// Fewer items can look ordered, or in whole seconds, by chance.
const minSample = 5

/** The longest part of the list of posts that was received in one order. */
const longestPosts = (observations: Observations): ReadonlyArray<Json> => {
  const walked = lists.flatMap((list) => list.id === "posts" ? walkOf(observations, list).items : [])
  const largest = Result.match(successOf(observations, "posts.max"), {
    onFailure: () => [],
    onSuccess: ({ response }) => itemsOf(response)
  })
  return (walked.length > largest.length ? walked : largest).filter(isJsonObject)
}

const times = (observations: Observations) => {
  const instants = longestPosts(observations).map(({ createdAt }) => typeof createdAt === "string" ? Date.parse(createdAt) : Number.NaN)
    .filter((millis) => !Number.isNaN(millis))
  const isMonotonic = (sign: 1 | -1) => instants.every((millis, index) => index === 0 || sign * (millis - (instants[index - 1] ?? 0)) >= 0)
  const isEnough = new Set(instants).size >= minSample
  return {
    createdAtPrecision: instants.some((millis) => millis % 1_000 !== 0) ? "milliseconds" : isEnough ? "seconds" : undefined,
    listOrder: !isEnough ? undefined : isMonotonic(-1) ? "newestFirst" : isMonotonic(1) ? "oldestFirst" : "shuffled"
  } as const
}

/** Responses of the service itself, not of a gateway in front of it. */
const ownResponses = (observations: Observations): ReadonlyArray<Received> =>
  responses(observations).filter((received) => isSuccess(received) || errorOf(received.response) !== undefined)

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
  const isAny = (form: RegExp) => raw.some((body) => form.test(body))
  return isAny(/^\{\r?\n/) ? "indented" : isAny(/\\\/|\\u(?!00[01])/i) ? "escaped" : isAny(/[/<>&'+]|[^\0-\x7f]/) ? "plain" : undefined
}

const headers = (observations: Observations) => {
  const own = ownResponses(observations)
  const json = own.filter(({ response }) => response.json !== undefined)
  const contentType = same(json.map(({ response }) => response.headers["content-type"]))
  const hasHeader = (name: string) => same(own.map(({ response }) => response.headers[name] !== undefined))
  const hasDate = hasHeader("date")
  const waits = responses(observations).flatMap(({ response }) => response.headers["retry-after"] ?? [])
  return {
    dateHeader: hasDate === undefined ? undefined : hasDate ? "present" : "absent",
    clockOffsetMillis: clockOffset(observations),
    requestId: hasHeader("x-request-id"),
    contentType: contentType !== undefined && /^[!-~](?:[ -~]*[!-~])?$/.test(contentType) ? contentType : undefined,
    json: jsonForm(json.map(({ response }) => response.body)),
    retryAfter: same(
      waits.flatMap((wait) => /^\d+$/.test(wait) ? ["seconds" as const] : parseHttpDate(wait) === undefined ? [] : ["date" as const])
    )
  } as const
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
  const partial = pages(observations).flatMap(({ request, response }) => {
    const size = itemsOf(response).length
    return nextCursor(response) !== undefined && size < (limitOf(request) ?? 0) ? [size] : []
  })
  return partial.length === 0 ? undefined : partial.includes(0) ? "someEmpty" : "short"
}

/** The default page size of each list. A second request with this limit rules out pages that are not filled. */
const defaultPageSizes = (observations: Observations): Readonly<Record<string, number>> =>
  Object.fromEntries(lists.flatMap(({ id, operation }) => {
    const both = Result.all([successOf(observations, `${id}.default`), successOf(observations, `${id}.size`)])
    if (Result.isFailure(both) || pageFilling(observations) === "short") return []
    const size = same(both.success.map(({ response }) => itemsOf(response).length))
    return size === undefined ? [] : [[operation, size] as const]
  }))

/** The `next_cursor` of a page without a next one. */
const lastCursor = (cursor: unknown): Values["lastCursor"] | undefined =>
  cursor === undefined ? "omitted" : cursor === null ? "null" : cursor === "" ? "emptyString" : undefined

const listForms = (observations: Observations) => {
  const all = pages(observations)
  const envelopes = all.map(({ response }) => response.json).filter(isJsonObject)
  const last = all.filter(({ response }) => nextCursor(response) === undefined).map(({ response }) => response.json).filter(isJsonObject)
  const ids = valuesOf(observations, "Post").map(({ id }) => id).filter(Predicate.isString)
  return {
    pages: pageFilling(observations),
    cursorForm: same(all.flatMap(({ response }) => nextCursor(response) ?? []).map(cursorForm)),
    lastCursor: same(last.flatMap((envelope) => lastCursor(envelope["next_cursor"]) ?? [])),
    // A service may have changed the form: ids in the plain one show nothing about new ids.
    idForm: same(ids.map(idForm).filter((form) => form !== "plain")),
    extraFields: same(envelopes.map((envelope) => Object.keys(envelope).some((name) => name !== "data" && name !== "next_cursor")))
  }
}

const bodyOf = ({ operation, response: { body, json } }: Received): "resource" | "none" | "unexpected" | undefined => {
  const name = resourceByOperation[operation]
  return body === ""
    ? "none"
    : !isJsonObject(json)
    ? undefined
    : name !== undefined && isResource(name)(json)
    ? "resource"
    : Object.keys(json).length > 0
    ? "unexpected"
    : undefined
}

/** The status and the body of the writes with this effect. */
const writeForm = (observations: Observations, action: Action) => {
  const written = successes(observations).filter(({ operation }) => catalogue[operation].action === action)
  const status = same(written.map(({ response }) => response.status))
  const withBody = written.filter(({ response }) => response.status !== 204)
  return {
    status: status === 200 || status === 201 || status === 204 ? status : undefined,
    body: same(withBody.flatMap((received) => bodyOf(received) ?? [])),
    confirmation: same(withBody.map(({ response }) => response.body === "" ? "none" : "unexpected"))
  } as const
}

const writeForms = (observations: Observations) => {
  const created = writeForm(observations, "create")
  const updated = writeForm(observations, "update")
  const confirmed = writeForm(observations, "confirm")
  return {
    createStatus: created.status,
    createBody: created.body,
    updateStatus: updated.status,
    updateBody: updated.body,
    confirmStatus: confirmed.status,
    confirmBody: confirmed.confirmation
  }
}

const texts = (observations: Observations) => {
  const text = same(
    [...valuesOf(observations, "Comment"), ...valuesOf(observations, "Message")].map(({ text }) => text).filter(Predicate.isString)
  )
  return text === undefined ? undefined : recognise(probeText, text)
}

const errorForms = (observations: Observations) => {
  const errors = ownResponses(observations).filter((received) => !isSuccess(received))
  // The codes that the document requires where the service has others.
  const codes = Object.entries(refusals).flatMap(([step, expected]) => {
    const received = Result.getOrUndefined(responseOf(observations, step))
    const code = received?.response.status === statusOf(expected) ? errorOf(received.response)?.code : undefined
    return code === undefined || isDocumentedCode(code) ? [] : [expected]
  })
  return {
    extraErrorFields: same(
      errors.map(({ response: { json } }) => isJsonObject(json) && Object.keys(json).some((name) => name !== "error"))
    ),
    newCodes: codes.length === 0 ? undefined : Arr.dedupe(codes)
  }
}

// At least 40 characters of the key stay unknown. A longer prefix may be part of the secret of a key in another form.
const maxPrefixLength = 12

const knownPrefix = ({ keyLength, keyPrefix }: Observations): string | undefined =>
  keyLength > Limits.keySecretLength && /^[!-~]+$/.test(keyPrefix) && keyPrefix.length <= maxPrefixLength ? keyPrefix : undefined

type Point = keyof Latitude.Change

/** The points of the latitude that the observations show. */
const latitudeOf = (observations: Observations): Latitude.Change => {
  const points: { readonly [Name in Point]?: Latitude.Change[Name] | undefined } = {
    ...presences(observations),
    ...times(observations),
    ...headers(observations),
    ...listForms(observations),
    ...writeForms(observations),
    ...texts(observations),
    ...errorForms(observations),
    keyPrefix: knownPrefix(observations)
  }
  // True because only points without a value are left out.
  return Rec.filter(points as Readonly<Record<string, unknown>>, Predicate.isNotUndefined) as Latitude.Change
}

const isOutOfScope = ({ response }: Received): boolean => errorOf(response)?.code === "INSUFFICIENT_SCOPE"

/** What the responses of each operation have in common. */
const byOperation = <A, One extends { readonly operation: string }>(sent: ReadonlyArray<One>, summary: (own: ReadonlyArray<One>) => A) =>
  Rec.map(Arr.groupBy(sent, ({ operation }) => operation), summary)

/** The scopes that errors name. */
const scopes = (observations: Observations): Readonly<Record<string, string>> =>
  Object.fromEntries(
    responses(observations).filter(isOutOfScope).flatMap(({ operation, response }) => {
      const named = Object.values<unknown>(errorOf(response) ?? {}).filter(Predicate.isString).filter((value) =>
        /^[a-z]+:[a-z]+$/.test(value)
      )
      return named.length === 1 && named[0] !== undefined ? [[operation, named[0]] as const] : []
    })
  )

/** Derives everything that the observations show of the open points. */
export const make = (observations: Observations): Findings => {
  const sizes = defaultPageSizes(observations)
  const size = sizes["listPosts"] ?? sizes["listConversations"]
  const named = scopes(observations)
  return {
    assumptions: {
      ...(size === undefined ? {} : { defaultPageSize: size }),
      ...(Object.keys(named).length === 0 ? {} : { scopes: named })
    },
    latitude: latitudeOf(observations),
    operations: byOperation(observations.sent.filter(({ step }) => step !== "withoutKey"), (sent) => {
      const own = responses({ sent })
      return own.some(isSuccess) ? "succeeded" : own.some(isOutOfScope) ? "insufficientScope" : "failed"
    }),
    successStatuses: byOperation(successes(observations),
      (own) => Arr.dedupe(own.map(({ response }) => response.status)).toSorted((one, other) => one - other)),
    defaultPageSizes: sizes,
    fields: Rec.map(
      Arr.groupBy(resources(observations), ({ name }): string => name),
      (own) =>
        Arr.dedupe(own.flatMap(({ value }) => Object.keys(value).filter((field) => value[field] !== null).map((field) => cut(field))))
          .toSorted()
    )
  }
}

/** The file that `plaza sandbox start --assumptions` loads. */
export const assumptionsFile = ({ assumptions, latitude }: Findings): unknown => ({ ...assumptions, latitude })
