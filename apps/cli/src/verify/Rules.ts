/**
 * The rules of the document, each with the check that derives its status from what was observed.
 *
 * Source: interface v1, all sections.
 */
import { retryAfter } from "@plaza/domain/ErrorResponse"
import * as Errors from "@plaza/domain/Errors"
import * as Limits from "@plaza/domain/Limits"
import { names, type OperationName, operations } from "@plaza/domain/Operations"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import {
  cut,
  errorOf,
  idsOf,
  isDocumentedCode,
  isJsonObject,
  isSuccess,
  itemsOf,
  limitOf,
  nextCursor,
  type Observations,
  pages,
  type Received,
  type Resource,
  type ResourceName,
  resources,
  resourcesOf,
  responses,
  shown,
  successes,
  successOf
} from "./Observation.ts"
import { invalidLimits, lists, missingEnd, walkOf } from "./Plan.ts"
import {
  accepts,
  account,
  combine,
  confirmed,
  contradicted,
  each,
  isForbidden,
  type Judge,
  never,
  notObservable,
  on,
  onSuccess,
  refuses,
  serves,
  type Verdict
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

/** The values of a field in the observed resources; null and absent ones are left out. */
const valuesOf = (observations: Observations, name: ResourceName, field: string) =>
  resourcesOf(observations, name).flatMap(({ request, value: { [field]: value } }) =>
    value === undefined || value === null ? [] : [{ value, from: `${field} in ${request}` }]
  )

const isString = (value: unknown): boolean => typeof value === "string"
const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every(isString)

/** Requires a form of the fields of a resource, where they are present. */
const typed = (name: ResourceName, fields: Readonly<Record<string, (value: unknown) => boolean>>): Judge => (observations) =>
  each(
    Object.entries(fields).flatMap(([field, isValid]) => valuesOf(observations, name, field).map((one) => ({ ...one, field, isValid }))),
    ({ from, isValid, value }) =>
      isValid(value) ? confirmed(`seen: ${Object.keys(fields).join(", ")}`) : contradicted(`${from} is ${shown(value)}`),
    `no ${name.toLowerCase()} with ${Object.keys(fields).join(" or ")} was received`
  )

const isDate = (value: unknown): boolean =>
  typeof value === "string" && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(value) && !Number.isNaN(Date.parse(value))

const camelCase = /^[a-z][a-zA-Z0-9]*$/

const wrongName = ({ value }: Pick<Resource, "value">): string | undefined => Object.keys(value).find((name) => !camelCase.test(name))

const camelCaseNames: Judge = (observations) =>
  each(
    [
      ...resources(observations).map(({ request, value }) => ({ value, request })),
      ...pages(observations).flatMap(({ request, response: { json } }) => {
        if (!isJsonObject(json)) return []
        const { next_cursor: _, ...value } = json
        return [{ value, request }]
      })
    ],
    ({ request, value }) => {
      const wrong = wrongName({ value })
      return wrong === undefined ? confirmed("seen in resources and lists") : contradicted(`the field "${cut(wrong)}" in ${request}`)
    },
    "no resource was received"
  )

const idStrings: Judge = (observations) =>
  each(
    resources(observations).flatMap(({ request, value }) => {
      const { id, mediaIds } = value
      return [id, ...(Array.isArray(mediaIds) ? mediaIds.map((one: unknown) => one) : [])]
        .flatMap((one) => one === undefined || one === null ? [] : [{ id: one, request }])
    }),
    ({ id, request }) => isString(id) ? confirmed("seen in resources") : contradicted(`the id ${shown(id)} in ${request}`),
    "no response had an id"
  )

const jsonBodies: Judge = (observations) =>
  each(
    successes(observations).filter(({ response: { body } }) => body !== ""),
    (received) =>
      received.response.json === undefined
        ? contradicted(`${account(received)} with a body that is not JSON`)
        : confirmed("seen in every success"),
    "no response had a body"
  )

const listEnvelope: Judge = (observations) =>
  each(pages(observations), (received) => {
    const { json } = received.response
    const cursor = isJsonObject(json) ? json["next_cursor"] : undefined
    return !isJsonObject(json) || !Array.isArray(json["data"])
      ? contradicted(`${account(received)} without the array data`)
      : cursor === undefined || cursor === null || isString(cursor)
      ? confirmed("seen in every list")
      : contradicted(`next_cursor is ${shown(cursor)} in ${received.request}`)
  }, "no list was received")

const limitHonoured: Judge = (observations) =>
  each(
    pages(observations).flatMap((received) => {
      const limit = limitOf(received.request)
      return limit === undefined || limit < Limits.minPageSize || limit > Limits.maxPageSize ? [] : [{ received, limit }]
    }),
    ({ limit, received }) => {
      const size = itemsOf(received.response).length
      return size > limit ? contradicted(`${received.request} returned ${size} items`) : confirmed("seen in every list")
    },
    "no list was received"
  )

const invalidLimit: Judge = (observations) =>
  combine(
    lists.flatMap(({ id }) =>
      invalidLimits.map((limit) => refuses(`${id}.limit.${limit}`, { status: 400, code: "VALIDATION_ERROR" }, isForbidden)(observations))
    )
  )

const validLimit: Judge = (observations) =>
  combine(
    lists.flatMap(({ id }) => ["max", "page1"].map((step) => `${id}.${step}`)).map((step) =>
      on(step, (received) =>
        isSuccess(received.response.status)
          ? confirmed(account(received))
          : received.response.status === 400
          ? contradicted(account(received))
          : notObservable(account(received)))(observations)
    )
  )

/** Each page that continues another one, with the earlier page. */
const continued = (observations: Observations): ReadonlyArray<readonly [earlier: Received, step: string]> =>
  lists.flatMap(({ id, pages }) =>
    Array.from({ length: pages - 1 }, (_, index) => index + 1).flatMap((number) => {
      const earlier = successOf(observations, `${id}.page${number}`)
      return Result.isSuccess(earlier) && nextCursor(earlier.success.response) !== undefined
        ? [[earlier.success, `${id}.page${number + 1}`] as const]
        : []
    })
  )

const cursorContinues: Judge = (observations) =>
  each(continued(observations), ([earlier, step]) =>
    on(step, (received) => {
      const before = idsOf(earlier.response)
      const after = idsOf(received.response)
      return received.response.status === 400
        ? contradicted(`${account(received)} for the cursor of the previous page`)
        : !isSuccess(received.response.status)
        ? notObservable(account(received))
        : before.length > 0 && before.join() === after.join()
        ? contradicted(`${received.request} returned the previous page again`)
        : confirmed("seen in the next pages")
    })(observations), "no list of the account has a second page")

// An item that is missing between others was deleted during the run. A walk that ended too early misses all items from one on, and
// so does one of a list whose last items were deleted: then the list, received again, is another one.
const endOfList: Judge = (observations) =>
  combine(lists.map((list) =>
    onSuccess(`${list.id}.max`, ({ response }) => {
      const walk = walkOf(observations, list)
      const ids = idsOf(response)
      const missing = missingEnd(ids, walk.ids)
      return !walk.isComplete
        ? notObservable(`the walk through ${list.path} did not reach the end of the list`)
        : ids.length === 0
        ? notObservable(`${list.path} has no items with ids`)
        : ids.every((id) => walk.ids.includes(id))
        ? confirmed(`${list.path} ended after ${walk.ids.length} items on ${walk.pages === 1 ? "1 page" : `${walk.pages} pages`}`)
        : missing === undefined
        ? notObservable(`${list.path} changed during the run`)
        : onSuccess(`${list.id}.again`, (again) =>
          idsOf(again.response).join() === ids.join()
            ? contradicted(`${list.path} ended without the item ${cut(missing)}, which ${list.path}?limit=100 returned before and after`)
            : notObservable(`${list.path} changed during the run`))(observations)
    })(observations)
  ))

const listEndpoint = (list: string): Judge => (observations) =>
  combine(
    [`${list}.max`, `${list}.page1`, `${list}.default`].map((step) =>
      serves(step,
        (body, received) =>
          Array.isArray(body["data"]) ? confirmed(account(received)) : contradicted(`${account(received)} without the array data`))(
          observations
        )
    )
  )

const noBody: Judge = (observations) =>
  each(
    successes(observations).filter(({ response: { status } }) => status === 204),
    (received) => received.response.body === "" ? confirmed(account(received)) : contradicted(`${account(received)} with a body`),
    "no response had status 204"
  )

/** The document calls the response of `GET /me` the account, so its id and name may be none of a user: a 404 contradicts nothing. */
const ownProfile = (step: string, field: "id" | "username"): Judge =>
  on(step, (received, observations) =>
    received.response.status === 404
      ? notObservable(`${account(received)}, and the ${field} of GET /me may not be that of a user`)
      : serves(step, (body) => {
        const me = successOf(observations, "me")
        const own = Result.isSuccess(me) && isJsonObject(me.success.response.json) ? me.success.response.json[field] : undefined
        return isString(body[field]) && isString(own) && body[field] !== own
          ? contradicted(`${received.request} has the ${field} ${shown(body[field])}, and GET /me ${shown(own)}`)
          : confirmed(account(received))
      })(observations))

/** Errors of the service itself. A gateway sends 408 and 5xx other than 500 in its own form. */
const serviceErrors = (observations: Observations) =>
  responses(observations).filter(({ response: { status } }) => status >= 400 && status < 500 && status !== 408 || status === 500)

const errorEnvelope: Judge = (observations) =>
  each(serviceErrors(observations), (received) =>
    errorOf(received.response) === undefined
      ? contradicted(`${account(received)} without an error that has code and message`)
      : confirmed("seen in every error"), "no request failed")

const unseenCodes: Readonly<Record<Errors.ErrorCode, string>> = {
  VALIDATION_ERROR: "no request failed with it",
  INVALID_JSON: "a body that is not valid JSON requires --write and --product, --post, --conversation or --order",
  INVALID_API_KEY: "no request failed with it",
  INSUFFICIENT_SCOPE: "the key has the scopes of all requests",
  DEVELOPER_ACCESS_REVOKED: "the account has developer access",
  PROFILE_INCOMPLETE: "it requires a write of an account without photo or cover",
  CHAT_NOT_ALLOWED: "it requires a conversation with a person who has not written to the account and does not follow it",
  CHAT_BLOCKED: "it requires a conversation with a person who blocked the account",
  STORE_BLOCKED: "it requires a store that blocked the account",
  USER_UNAVAILABLE: "it requires a user who is blocked, private or suspended",
  FORBIDDEN: "it requires an object of another account",
  NOT_FOUND: "no request failed with it",
  CONFLICT: "it requires --write and --order",
  PAYLOAD_TOO_LARGE: "the document does not show the size limits, and no large body is sent",
  RATE_LIMITED: "no limit is exceeded on purpose",
  INTERNAL_ERROR: "a fault of the service can't be caused on purpose"
}

const statusOfCode = (code: Errors.ErrorCode): number => Errors.fromCode(code, { message: code }).status

/** Requires the documented status of a code, if a response has the code. */
const code = (code: Errors.ErrorCode): Judge => (observations) =>
  each(
    serviceErrors(observations).filter(({ response }) => errorOf(response)?.code === code),
    (received) => received.response.status === statusOfCode(code) ? confirmed(account(received)) : contradicted(account(received)),
    unseenCodes[code]
  )

const codeRules: ReadonlyArray<Rule> = Object.keys(Errors.byCode).filter(isDocumentedCode).map((name) => ({
  id: `errors.${name}`,
  section: "Errors",
  rule: `The code ${name} has status ${statusOfCode(name)}.`,
  judge: code(name)
}))

const namesField: Judge = (observations) =>
  each(
    responses(observations).filter(({ response }) => errorOf(response)?.code === "VALIDATION_ERROR"),
    (received): Verdict => {
      const field = /[?&](limit|cursor)=/.exec(received.request)?.[1]
      return field !== undefined && received.response.body.includes(field)
        ? confirmed(`${account(received)} with the name "${field}"`)
        : notObservable("no error has the name of the field in a recognised form")
    },
    "no request failed with VALIDATION_ERROR"
  )

const retryAfterHeader: Judge = (observations) =>
  each(
    responses(observations).filter(({ response: { status } }) => status === 429),
    (received) => {
      const header = received.response.headers["retry-after"]
      return header !== undefined && Option.isSome(retryAfter(header, received.receivedAt, received.response.headers["date"]))
        ? confirmed(`${account(received)} with Retry-After: ${header}`)
        : contradicted(`${account(received)} ${header === undefined ? "without Retry-After" : `with Retry-After: ${shown(header)}`}`)
    },
    "no request got 429: no limit is exceeded on purpose"
  )

const bearer: Judge = (observations) =>
  on("withoutKey", (received) =>
    isSuccess(received.response.status)
      ? contradicted(`${account(received)} without a key`)
      : onSuccess("me", () => confirmed(`${account(received)} without the key, and 200 with it`))(observations))(observations)

const keyForm: Judge = (observations) =>
  onSuccess("me", () =>
    observations.keyLength > Limits.keySecretLength
      ? confirmed(`the key has ${observations.keyLength} characters`)
      : contradicted(`the service accepts a key of ${observations.keyLength} characters`))(observations)

const version: Judge = (observations) => {
  const path = URL.canParse(observations.baseUrl) ? new URL(observations.baseUrl).pathname : ""
  return onSuccess("me", () =>
    path.replace(/\/+$/, "").endsWith("/open/v1")
      ? confirmed(`the service responds at ${observations.baseUrl}`)
      : contradicted(`the service responds at ${observations.baseUrl}`))(observations)
}

const sameText = (field: string) => (body: Readonly<Record<string, unknown>>, received: Received): Verdict | undefined =>
  isString(body[field]) ? confirmed(`${account(received)} with ${field}`) : undefined

const shipOnce: Judge = (observations) =>
  on("ship", (received) =>
    received.response.status === 409
      ? notObservable(`${account(received)}: the order was already shipped`)
      : accepts("ship", (body) =>
        isString(body["carrier"]) && isString(body["trackingNumber"])
          ? confirmed(`${account(received)} with carrier and trackingNumber`)
          : undefined)(observations))(observations)

/** A refusal for another reason: the document does not say which reason comes first. */
const isOtherRefusal = ({ response: { status } }: Received): boolean => status > 400 && status < 500

const section = (name: string, rules: ReadonlyArray<readonly [id: string, rule: string, judge: Judge]>): ReadonlyArray<Rule> =>
  rules.map(([id, rule, judge]) => ({ id, section: name, rule, judge }))

const noUpload = never("an upload can't be deleted again")

/** What each endpoint does and how a run shows it, in the order of the document. */
const endpoints: ReadonlyArray<readonly [operation: OperationName, does: string, judge: Judge]> = [
  ["getMe", "returns the account of the key", serves("me", (_, received) => confirmed(account(received)))],
  ["getUser", "returns the profile of the user", ownProfile("user", "id")],
  ["getUserByUsername", "returns the profile of the user", ownProfile("username", "username")],
  ["uploadMedia", "returns an object with mediaId", noUpload],
  ["createPost", "returns the created post", never("a post can't be deleted again, and only objects that --write names are changed")],
  ["listPosts", "returns a list of posts", listEndpoint("posts")],
  ["createComment", "returns the created comment", accepts("comment", sameText("text"))],
  ["likePost", "is confirmed", accepts("like", (_, received) => confirmed(account(received)))],
  ["followUser", "is confirmed", accepts("follow", (_, received) => confirmed(account(received)))],
  [
    "setStock",
    "returns the updated product",
    accepts("stock", ({ stock }, received) =>
      typeof stock !== "number"
        ? undefined
        : received.body === JSON.stringify({ stock })
        ? confirmed(`${account(received)} with the new stock`)
        : contradicted(`${account(received)} with stock ${stock} after ${received.body}`))
  ],
  ["shipOrder", "returns the updated order", shipOnce],
  ["listConversations", "returns a list of conversations", listEndpoint("conversations")],
  ["sendMessage", "returns the created message", accepts("message", sameText("text"))],
  ["createStory", "creates a story", never("the document does not show its payload")]
]

/** A rule for each operation of the catalogue. */
const endpointRules = [
  ...endpoints,
  ...names.filter((name) => !endpoints.some(([known]) => known === name))
    .map((name) => [name, "returns the documented response", never("a run does not send it")] as const)
].map(([name, does, judge]) => {
  const { method, path } = operations[name]
  return [`endpoints.${name}`, `${method} ${path.replace(/:(\w+)/, "{$1}")} ${does}.`, judge] as const
})

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
    ["fields.dates", "Dates are ISO 8601 in UTC with milliseconds and Z.", typed("Post", { createdAt: isDate })],
    ["fields.absent", "Null and omitted optional values mean the same.", ofClients],
    ["fields.unknown", "Clients ignore unknown fields of responses.", ofClients],
    ["fields.Profile", "A profile has the username as a string.", typed("Profile", { username: isString })],
    ["fields.Post", "A post has text (string) and mediaIds (strings).", typed("Post", { text: isString, mediaIds: isStrings })],
    ["fields.Comment", "A comment has text (string).", typed("Comment", { text: isString })],
    ["fields.Message", "A message has text (string).", typed("Message", { text: isString })],
    ["fields.Product", "A product has stock (number).", typed("Product", { stock: (value) => typeof value === "number" })],
    [
      "fields.Order",
      "A shipped order has carrier and trackingNumber (strings).",
      typed("Order", { carrier: isString, trackingNumber: isString })
    ],
    ["fields.Media", "An upload returns mediaId (string).", noUpload]
  ]),
  ...section("States and transitions", [
    ["states.ship", "The first shipment records carrier and tracking number.", shipOnce],
    [
      "states.shipAgain",
      "A second shipment gets 409 CONFLICT.",
      refuses("shipAgain", { status: 409, code: "CONFLICT" }, (received) => isForbidden(received) || received.response.status === 404)
    ],
    ["states.keyRevoked", "A revoked key gets 401 INVALID_API_KEY.", never("it requires a revoked key")],
    ["states.access", "Suspended or revoked access gets 403 DEVELOPER_ACCESS_REVOKED.", code("DEVELOPER_ACCESS_REVOKED")]
  ]),
  ...section("Endpoints", [
    ...endpointRules,
    [
      "endpoints.invalidJson",
      "A body that is not valid JSON gets 400 INVALID_JSON.",
      refuses("invalidJson", { status: 400, code: "INVALID_JSON" }, isOtherRefusal)
    ],
    [
      "endpoints.invalidField",
      "An invalid field gets 400 VALIDATION_ERROR.",
      refuses("wrongType", { status: 400, code: "VALIDATION_ERROR" }, isOtherRefusal)
    ],
    ["endpoints.noBody", "A response with status 204 has no body.", noBody],
    [
      "endpoints.unknownId",
      "An unknown id gets 404 NOT_FOUND.",
      (observations) =>
        combine(
          ["unknownUser", "unknownUsername"].map((step) =>
            refuses(step, { status: 404, code: "NOT_FOUND" },
              (received) => isForbidden(received) || errorOf(received.response)?.code === "VALIDATION_ERROR")(
                observations
              )
          )
        )
    ],
    ["lists.envelope", "A list is an object with data (array) and next_cursor (string or null).", listEnvelope],
    ["lists.limit", "limit is an integer from 1 to 100.", validLimit],
    ["lists.invalidLimit", "An invalid limit gets 400 VALIDATION_ERROR.", invalidLimit],
    ["lists.size", "A page has at most limit items.", limitHonoured],
    ["lists.cursor", "The next_cursor of a page returns the next page.", cursorContinues],
    ["lists.end", "A list without next_cursor has no more pages.", endOfList],
    ["lists.opaque", "Cursors are opaque: clients don't build or alter them.", ofClients]
  ]),
  ...section("Authentication", [
    ["auth.bearer", "Every call carries the key as a bearer token.", bearer],
    ["auth.missing", "A missing key gets 401 INVALID_API_KEY.", refuses("withoutKey", { status: 401, code: "INVALID_API_KEY" })],
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
