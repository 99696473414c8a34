/**
 * The rules of the document, each with the check that derives its status from what was observed.
 *
 * Source: interface v1, all sections.
 */
import { count } from "@plaza/cli-kit/Text"
import { retryAfter } from "@plaza/domain/ErrorResponse"
import * as Errors from "@plaza/domain/Errors"
import * as Limits from "@plaza/domain/Limits"
import { names, type OperationName, operations } from "@plaza/domain/Operations"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import {
  cut,
  errorOf,
  fieldOf,
  idsOf,
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
  type ResourceName,
  resources,
  resourceSchemas,
  responses,
  shown,
  statusOf,
  successes,
  successOf,
  summarize
} from "./Observation.ts"
import { invalidLimitSteps, lists, missingEnd, pageSteps, walkOf } from "./Plan.ts"
import {
  accepts,
  any,
  confirmed,
  contradicted,
  each,
  every,
  isForbidden,
  type Judge,
  never,
  notObservable,
  on,
  onSuccess,
  refuses,
  serves
} from "./Verdict.ts"

export interface Rule {
  readonly id: string
  /** The section of the document. */
  readonly section: string
  /** The rule in one sentence. */
  readonly rule: string
  readonly judge: Judge
}

const ofClients = never("it is a rule for clients")
const inWebApp = never("it happens in the web app, not in the interface")

/** Requires a form of the fields of a resource, where they are present and not null (default: the form of the contract). */
const typed = (name: ResourceName, fields: ReadonlyArray<string>, isValid?: (value: unknown) => boolean): Judge => {
  const schemas: Readonly<Record<string, Schema.Constraint>> = resourceSchemas[name].fields
  return every(
    (observations) =>
      fields.flatMap((field) => {
        const schema = schemas[field]
        const is = isValid ?? (schema === undefined ? () => false : Schema.is(Schema.toEncoded(schema)))
        return resources(observations, name).flatMap(({ request, value: { [field]: value } }) =>
          Predicate.isNotNullish(value) ? [{ value, is, from: `${field} in ${request}` }] : []
        )
      }),
    ({ from, is, value }) => is(value) ? undefined : `${from} is ${shown(value)}`,
    `seen: ${fields.join(", ")}`,
    `no ${name.toLowerCase()} with ${fields.join(" or ")} was received`
  )
}

const isDate = (value: unknown): boolean =>
  typeof value === "string" && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(value) && !Number.isNaN(Date.parse(value))

/** Every resource, and every list without its one field in snake_case. */
const objects = (observations: Observations): ReadonlyArray<{ readonly request: string; readonly value: Json }> => [
  ...resources(observations),
  ...pages(observations).flatMap(({ request, response: { json } }) =>
    isJsonObject(json) ? [{ request, value: Struct.omit(json, ["next_cursor"]) }] : []
  )
]

const camelCaseNames = every(
  objects,
  ({ request, value }) => {
    const wrong = Object.keys(value).find((name) => !/^[a-z][a-zA-Z0-9]*$/.test(name))
    return wrong === undefined ? undefined : `the field "${cut(wrong)}" in ${request}`
  },
  "seen in resources and lists",
  "no resource was received"
)

const idStrings = every(
  (observations) =>
    resources(observations).flatMap(({ request, value: { id, mediaIds } }) =>
      [id, mediaIds].flat().filter(Predicate.isNotNullish).map((id) => ({ id, request }))
    ),
  ({ id, request }) => Predicate.isString(id) ? undefined : `the id ${shown(id)} in ${request}`,
  "seen in resources",
  "no response had an id"
)

const jsonBodies = every(
  (observations) => successes(observations).filter(({ response: { body } }) => body !== ""),
  (received) => received.response.json === undefined ? `${summarize(received)} with a body that is not JSON` : undefined,
  "seen in every success",
  "no response had a body"
)

const withoutData = (received: Received): string | undefined =>
  Array.isArray(fieldOf(received.response, "data")) ? undefined : `${summarize(received)} without the array data`

const listEnvelope = every(pages, (received) => {
  const cursor = fieldOf(received.response, "next_cursor")
  return withoutData(received) ??
    (Predicate.isNullish(cursor) || Predicate.isString(cursor) ? undefined : `next_cursor is ${shown(cursor)} in ${received.request}`)
}, "seen in every list", "no list was received")

const pageSize = every(
  (observations) =>
    pages(observations).flatMap(({ request, response }) => {
      const limit = limitOf(request) ?? 0
      return limit < Limits.minPageSize || limit > Limits.maxPageSize ? [] : [{ request, limit, size: itemsOf(response).length }]
    }),
  ({ limit, request, size }) => size > limit ? `${request} returned ${size} items` : undefined,
  "seen in every list",
  "no list was received"
)

const validLimit = any(
  lists.flatMap(({ id }) =>
    ["max", "page1"].map((step) =>
      on(`${id}.${step}`, (received) =>
        (isSuccess(received) ? confirmed : received.response.status === 400 ? contradicted : notObservable)(summarize(received)))
    )
  )
)

/** The step of each page that continues another one, with the earlier page. */
const continued = (observations: Observations) =>
  lists.flatMap((list) =>
    pageSteps(list).flatMap((step, index, steps) => {
      const earlier = successOf(observations, steps[index - 1] ?? "")
      return Result.isSuccess(earlier) && nextCursor(earlier.success.response) !== undefined
        ? [{ earlier: idsOf(earlier.success.response), step }]
        : []
    })
  )

const nextPage = each(continued, ({ earlier, step }, observations) =>
  on(step, (received) =>
    received.response.status === 400
      ? contradicted(`${summarize(received)} for the cursor of the previous page`)
      : !isSuccess(received)
      ? notObservable(summarize(received))
      : earlier.length > 0 && earlier.join() === idsOf(received.response).join()
      ? contradicted(`${received.request} returned the previous page again`)
      : confirmed("seen in the next pages"))(observations), "no list of the account has a second page")

// An item that is missing between others was deleted during the run. A walk that ended too early misses all items from one on, and
// so does one of a list whose last items were deleted: then the list, received again, is another one.
const endOfList = any(lists.map((list) =>
  onSuccess(`${list.id}.max`, ({ request, response }, observations) => {
    const walk = walkOf(observations, list)
    const ids = idsOf(response)
    const missing = missingEnd(ids, walk.ids)
    const changed = notObservable(`${list.path} changed during the run`)
    return !walk.isComplete
      ? notObservable(`the walk through ${list.path} did not reach the end of the list`)
      : ids.length === 0
      ? notObservable(`${list.path} has no items with ids`)
      : ids.every((id) => walk.ids.includes(id))
      ? confirmed(`${list.path} ended after ${count(walk.ids.length, "item")} on ${walk.pages}`)
      : missing === undefined
      ? changed
      : onSuccess(`${list.id}.again`, (again) =>
        idsOf(again.response).join() === ids.join()
          ? contradicted(
            `${list.path} ended without the item ${cut(missing)}, which ${request.replace("GET ", "")} returned before and after`
          )
          : changed)(observations)
  })
))

const listEndpoint = (list: string): Judge =>
  any(["max", "page1", "default"].map((step) =>
    serves(`${list}.${step}`, (_, received) => {
      const problem = withoutData(received)
      return problem === undefined ? confirmed(summarize(received)) : contradicted(problem)
    })
  ))

const noBody = every(
  (observations) => successes(observations).filter(({ response: { status } }) => status === 204),
  (received) => received.response.body === "" ? undefined : `${summarize(received)} with a body`,
  summarize,
  "no response had status 204"
)

/** The document calls the response of `GET /me` the account, so its id and name may be none of a user: a 404 contradicts nothing. */
const ownProfile = (step: string, field: "id" | "username"): Judge =>
  on(step, (received, observations) =>
    received.response.status === 404
      ? notObservable(`${summarize(received)}, and the ${field} of GET /me may not be that of a user`)
      : serves(step, ({ [field]: value }) => {
        const own = Result.map(successOf(observations, "me"), ({ response }) => fieldOf(response, field)).pipe(Result.getOrUndefined)
        return Predicate.isString(value) && Predicate.isString(own) && value !== own
          ? contradicted(`${received.request} has the ${field} ${shown(value)}, and GET /me ${shown(own)}`)
          : confirmed(summarize(received))
      })(observations))

/** Errors of the service itself. A gateway sends 408 and 5xx other than 500 in its own form. */
const serviceErrors = (observations: Observations) =>
  responses(observations).filter(({ response: { status } }) => status >= 400 && status < 500 && status !== 408 || status === 500)

const errorEnvelope = every(
  serviceErrors,
  (received) => errorOf(received.response) === undefined ? `${summarize(received)} without an error that has code and message` : undefined,
  "seen in every error",
  "no request failed"
)

const unseenCodes: { readonly [Code in Errors.ErrorCode]?: string } = {
  INVALID_JSON: "a body that is not valid JSON requires --write and --product, --post, --conversation or --order",
  INSUFFICIENT_SCOPE: "the key has the scopes of all requests",
  DEVELOPER_ACCESS_REVOKED: "the account has developer access",
  PROFILE_INCOMPLETE: "it requires a write of an account without photo or cover",
  CHAT_NOT_ALLOWED: "it requires a conversation with a person who has not written to the account and does not follow it",
  CHAT_BLOCKED: "it requires a conversation with a person who blocked the account",
  STORE_BLOCKED: "it requires a store that blocked the account",
  USER_UNAVAILABLE: "it requires a user who is blocked, private or suspended",
  FORBIDDEN: "it requires an object of another account",
  CONFLICT: "it requires --write and --order",
  PAYLOAD_TOO_LARGE: "the document does not show the size limits, and no large body is sent",
  RATE_LIMITED: "no limit is exceeded on purpose",
  INTERNAL_ERROR: "a fault of the service can't be caused on purpose"
}

/** Requires the documented status of a code, if a response has the code. */
const code = (code: Errors.ErrorCode): Judge =>
  every(
    (observations) => serviceErrors(observations).filter(({ response }) => errorOf(response)?.code === code),
    (received) => received.response.status === statusOf(code) ? undefined : summarize(received),
    summarize,
    unseenCodes[code] ?? "no request failed with it"
  )

const codeRules: ReadonlyArray<Rule> = Object.keys(Errors.byCode).filter(isDocumentedCode).map((name) => ({
  id: `errors.${name}`,
  section: "Errors",
  rule: `The code ${name} has status ${statusOf(name)}.`,
  judge: code(name)
}))

const namesField = each(
  (observations) => responses(observations).filter(({ response }) => errorOf(response)?.code === "VALIDATION_ERROR"),
  (received) => {
    const field = /[?&](limit|cursor)=/.exec(received.request)?.[1]
    return field !== undefined && received.response.body.includes(field)
      ? confirmed(`${summarize(received)} with the name "${field}"`)
      : notObservable("no error has the name of the field in a recognised form")
  },
  "no request failed with VALIDATION_ERROR"
)

const retryAfterHeader = each(
  (observations) => responses(observations).filter(({ response: { status } }) => status === 429),
  (received) => {
    const { date, "retry-after": header } = received.response.headers
    return header === undefined
      ? contradicted(`${summarize(received)} without Retry-After`)
      : Option.isSome(retryAfter(header, received.receivedAt, date))
      ? confirmed(`${summarize(received)} with Retry-After: ${header}`)
      : contradicted(`${summarize(received)} with Retry-After: ${shown(header)}`)
  },
  "no request got 429: no limit is exceeded on purpose"
)

const bearer = on("withoutKey", (received, observations) =>
  isSuccess(received)
    ? contradicted(`${summarize(received)} without a key`)
    : onSuccess("me", () => confirmed(`${summarize(received)} without the key, and 200 with it`))(observations))

const keyForm = onSuccess("me", (_, { keyLength }) =>
  keyLength > Limits.keySecretLength
    ? confirmed(`the key has ${keyLength} characters`)
    : contradicted(`the service accepts a key of ${keyLength} characters`))

const version = onSuccess("me", (_, { baseUrl }) => {
  const path = URL.canParse(baseUrl) ? new URL(baseUrl).pathname : ""
  return (/\/open\/v1\/*$/.test(path) ? confirmed : contradicted)(`the service responds at ${baseUrl}`)
})

/** Requires that a write is accepted. Reports the fields that the response shows as they were sent. */
const records = (step: string, ...fields: ReadonlyArray<string>): Judge =>
  accepts(step, (body, received) =>
    fields.every((field) => Predicate.isString(body[field]))
      ? confirmed(`${summarize(received)} with ${fields.join(" and ")}`)
      : undefined)

const isConfirmed = (step: string): Judge => accepts(step, (_, received) => confirmed(summarize(received)))

const setsStock = accepts("stock", ({ stock }, received) =>
  typeof stock !== "number"
    ? undefined
    : received.body === JSON.stringify({ stock })
    ? confirmed(`${summarize(received)} with the new stock`)
    : contradicted(`${summarize(received)} with stock ${stock} after ${received.body}`))

const shipOnce = on("ship", (received, observations) =>
  received.response.status === 409
    ? notObservable(`${summarize(received)}: the order was already shipped`)
    : records("ship", "carrier", "trackingNumber")(observations))

/** A refusal for another reason: the document does not say which reason comes first. */
const isOtherRefusal = ({ response: { status } }: Received): boolean => status > 400 && status < 500

const noUpload = never("an upload can't be deleted again")

/** What each endpoint does and how a run shows it, in the order of the document. */
const endpoints = new Map<OperationName, readonly [does: string, judge: Judge]>([
  ["getMe", ["returns the account of the key", serves("me", (_, received) => confirmed(summarize(received)))]],
  ["getUser", ["returns the profile of the user", ownProfile("user", "id")]],
  ["getUserByUsername", ["returns the profile of the user", ownProfile("username", "username")]],
  ["uploadMedia", ["returns an object with mediaId", noUpload]],
  ["createPost", ["returns the created post", never("a post can't be deleted again, and only objects that --write names are changed")]],
  ["listPosts", ["returns a list of posts", listEndpoint("posts")]],
  ["createComment", ["returns the created comment", records("comment", "text")]],
  ["likePost", ["is confirmed", isConfirmed("like")]],
  ["followUser", ["is confirmed", isConfirmed("follow")]],
  ["setStock", ["returns the updated product", setsStock]],
  ["shipOrder", ["returns the updated order", shipOnce]],
  ["listConversations", ["returns a list of conversations", listEndpoint("conversations")]],
  ["sendMessage", ["returns the created message", records("message", "text")]],
  ["createStory", ["creates a story", never("the document does not show its payload")]]
])

/** A rule for each operation of the catalogue. */
const endpointRules = [...new Set([...endpoints.keys(), ...names])].map((name) => {
  const { method, path } = operations[name]
  const [does, judge] = endpoints.get(name) ?? ["returns the documented response", never("a run does not send it")]
  return [`endpoints.${name}`, `${method} ${path.replace(/:(\w+)/, "{$1}")} ${does}.`, judge] as const
})

const section = (name: string, rules: ReadonlyArray<readonly [id: string, rule: string, judge: Judge]>): ReadonlyArray<Rule> =>
  rules.map(([id, rule, judge]) => ({ id, section: name, rule, judge }))

/** Every rule, by section of the document. */
export const rules: ReadonlyArray<Rule> = [
  ...section("What the service does", [
    ["service.json", "The interface has JSON bodies.", jsonBodies],
    ["service.review", "A person reviews access requests; keys exist only after approval.", inWebApp],
    ["service.requestStatus", "An access request is pending, approved or declined.", inWebApp],
    ["service.profile", "Writes of an account without photo or cover get 403 PROFILE_INCOMPLETE.", code("PROFILE_INCOMPLETE")]
  ]),
  ...section("Resources and their fields", [
    ["fields.camelCase", "Field names are camelCase, except next_cursor.", camelCaseNames],
    ["fields.ids", "Ids are strings.", idStrings],
    ["fields.dates", "Dates are ISO 8601 in UTC with milliseconds and Z.", typed("Post", ["createdAt"], isDate)],
    ["fields.absent", "Null and omitted optional values mean the same.", ofClients],
    ["fields.unknown", "Clients ignore unknown fields of responses.", ofClients],
    ["fields.Profile", "A profile has the username as a string.", typed("Profile", ["username"])],
    ["fields.Post", "A post has text (string) and mediaIds (strings).", typed("Post", ["text", "mediaIds"])],
    ["fields.Comment", "A comment has text (string).", typed("Comment", ["text"])],
    ["fields.Message", "A message has text (string).", typed("Message", ["text"])],
    ["fields.Product", "A product has stock (number).", typed("Product", ["stock"])],
    ["fields.Order", "A shipped order has carrier and trackingNumber (strings).", typed("Order", ["carrier", "trackingNumber"])],
    ["fields.Media", "An upload returns mediaId (string).", noUpload]
  ]),
  ...section("States and transitions", [
    ["states.ship", "The first shipment records carrier and tracking number.", shipOnce],
    [
      "states.shipAgain",
      "A second shipment gets 409 CONFLICT.",
      refuses(["shipAgain"], (received) => isForbidden(received) || received.response.status === 404)
    ],
    ["states.keyRevoked", "A revoked key gets 401 INVALID_API_KEY.", never("it requires a revoked key")],
    ["states.access", "Suspended or revoked access gets 403 DEVELOPER_ACCESS_REVOKED.", code("DEVELOPER_ACCESS_REVOKED")]
  ]),
  ...section("Endpoints", [
    ...endpointRules,
    ["endpoints.invalidJson", "A body that is not valid JSON gets 400 INVALID_JSON.", refuses(["invalidJson"], isOtherRefusal)],
    ["endpoints.invalidField", "An invalid field gets 400 VALIDATION_ERROR.", refuses(["wrongType"], isOtherRefusal)],
    ["endpoints.noBody", "A response with status 204 has no body.", noBody],
    [
      "endpoints.unknownId",
      "An unknown id gets 404 NOT_FOUND.",
      refuses(
        ["unknownUser", "unknownUsername"],
        (received) => isForbidden(received) || errorOf(received.response)?.code === "VALIDATION_ERROR"
      )
    ],
    ["lists.envelope", "A list is an object with data (array) and next_cursor (string or null).", listEnvelope],
    ["lists.limit", "limit is an integer from 1 to 100.", validLimit],
    ["lists.invalidLimit", "An invalid limit gets 400 VALIDATION_ERROR.", refuses(invalidLimitSteps, isForbidden)],
    ["lists.size", "A page has at most limit items.", pageSize],
    ["lists.cursor", "The next_cursor of a page returns the next page.", nextPage],
    ["lists.end", "A list without next_cursor has no more pages.", endOfList],
    ["lists.opaque", "Cursors are opaque: clients don't build or alter them.", ofClients]
  ]),
  ...section("Authentication", [
    ["auth.bearer", "Every call carries the key as a bearer token.", bearer],
    ["auth.missing", "A missing key gets 401 INVALID_API_KEY.", refuses(["withoutKey"])],
    ["auth.malformed", "A malformed key gets 401 INVALID_API_KEY.", never("no wrong key is sent: it would look like an attack")],
    ["auth.keyForm", "A key is a fixed prefix and 40 characters.", keyForm],
    ["auth.scopes", "There are 13 scopes of the form area:action.", never("the interface does not list scopes")],
    ["auth.insufficientScope", "A key without the scope of an endpoint gets 403 INSUFFICIENT_SCOPE.", code("INSUFFICIENT_SCOPE")],
    ["auth.keys", "An account has at most 5 active keys, each shown once.", inWebApp]
  ]),
  ...section("Errors", [
    ["errors.envelope", "Every error has the form { error: { code, message } }.", errorEnvelope],
    ["errors.field", "A validation error names the invalid field.", namesField],
    ["errors.newCodes", "Clients treat an unknown code by its status.", ofClients],
    ["errors.retries", "Clients retry after 429, 500, 502, 503 and 504 only.", ofClients]
  ]),
  ...codeRules,
  ...section("Limits", [
    ["limits.rate", "A key may send 120 requests a minute.", never("a run sends at most a tenth of that")],
    ["limits.quotas", "Daily quotas are counted for each account.", never("no limit is exceeded on purpose")],
    ["limits.retryAfter", "A 429 has a Retry-After header.", retryAfterHeader],
    ["limits.size", "A body or file that is too large gets 413.", never("the document does not show the size limits")]
  ]),
  ...section("Versioning", [
    ["version.path", "The base URL ends with /open/v1.", version],
    ["version.changes", "Changes within v1 are backward-compatible.", never("it concerns future versions")]
  ])
]
