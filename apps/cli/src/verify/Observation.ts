/** What a run of `plaza verify` observed: requests with their responses as received, and the steps that were not sent. */
import { json } from "@plaza/cli-kit/Text"
import * as Errors from "@plaza/domain/Errors"
import { isList, type OperationName } from "@plaza/domain/Operations"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

export interface Response {
  readonly status: number
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** As received, with the key redacted. */
  readonly body: string
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown
}

export interface Observation {
  /** The id of its step. */
  readonly step: string
  readonly operation: OperationName
  /** Such as `GET /me/posts?limit=10`. */
  readonly request: string
  /** The body of the request. */
  readonly body: string | undefined
  /** Milliseconds since 1970. */
  readonly sentAt: number
  /** Milliseconds since 1970. */
  readonly receivedAt: number
  /** A response, or the reason why there is none. */
  readonly result: Result.Result<Response, string>
}

/** Everything that rules and learnt values derive from. */
export interface Observations {
  readonly baseUrl: string
  /** The number of characters of the key. */
  readonly keyLength: number
  /** The characters before the last 40 of the key. */
  readonly keyPrefix: string
  /** In the order in which they were sent. A step that was repeated occurs several times. */
  readonly sent: ReadonlyArray<Observation>
  /** Why a step was not sent, by its id. */
  readonly skipped: Readonly<Record<string, string>>
}

export type Json = Readonly<Record<string, unknown>>

export const isJsonObject = (value: unknown): value is Json => Predicate.isObject(value)

/** The JSON value of a text. Rules report a body that is not JSON, for which it is undefined. */
export const parse = (text: string): unknown => Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))

/** Statuses that a gateway may send instead of the service, and faults: they show nothing about a rule. */
export const isTransient = (status: number): boolean => status >= 500 || status === 408 || status === 429 || status >= 300 && status < 400

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

export interface ServiceError {
  readonly code: string
  readonly message: string
}

/** The error of an error envelope, or undefined for any other body. */
export const errorOf = ({ json }: Response): ServiceError | undefined => {
  const error = isJsonObject(json) ? json["error"] : undefined
  return isJsonObject(error) && typeof error["code"] === "string" && typeof error["message"] === "string"
    ? { code: error["code"], message: error["message"] }
    : undefined
}

export const isDocumentedCode = (code: string): code is Errors.ErrorCode => Object.hasOwn(Errors.byCode, code)

const maxShown = 60

/** The beginning of a text of the service, which may have any length. */
export const cut = (text: string): string => text.length > maxShown ? `${text.slice(0, maxShown)}...` : text

/** A value of the service as JSON, cut. */
export const shown = (value: unknown): string => cut(json(value))

/** A response in a few words: `404 NOT_FOUND`. */
export const describe = (response: Response): string => {
  const code = errorOf(response)?.code
  return code === undefined ? `${response.status}` : `${response.status} ${cut(code)}`
}

/** The last observation of a step. */
export const lastOf = ({ sent }: Observations, step: string): Observation | undefined => sent.findLast((one) => one.step === step)

/** An observation with a response that shows something about rules. */
export interface Received extends Observation {
  readonly response: Response
}

/** The response of a step, or a sentence that says why there is none. */
export const responseOf = (observations: Observations, step: string): Result.Result<Received, string> => {
  const last = lastOf(observations, step)
  if (last === undefined) return Result.fail(observations.skipped[step] ?? "the request was not sent")
  return Result.flatMap(
    Result.mapError(last.result, (problem) => `${last.request} got no response (${problem})`),
    (response) =>
      isTransient(response.status)
        ? Result.fail(`${last.request} got ${describe(response)}`)
        : Result.succeed({ ...last, response })
  )
}

/** The successful response of a step, or a sentence that says why there is none. */
export const successOf = (observations: Observations, step: string): Result.Result<Received, string> =>
  Result.flatMap(responseOf(observations, step), (received) =>
    isSuccess(received.response.status)
      ? Result.succeed(received)
      : Result.fail(`${received.request} got ${describe(received.response)}`))

/** Every response. */
export const responses = ({ sent }: Observations): ReadonlyArray<Received> =>
  sent.flatMap((one) => Result.match(one.result, { onFailure: () => [], onSuccess: (response) => [{ ...one, response }] }))

/** Every successful response. */
export const successes = (observations: Observations): ReadonlyArray<Received> =>
  responses(observations).filter(({ response }) => isSuccess(response.status))

export type ResourceName = "Profile" | "Post" | "Comment" | "Product" | "Order" | "Conversation" | "Message"

const resourceByOperation: { readonly [Name in OperationName]?: ResourceName } = {
  getMe: "Profile",
  getUser: "Profile",
  getUserByUsername: "Profile",
  listPosts: "Post",
  listConversations: "Conversation",
  createComment: "Comment",
  setStock: "Product",
  shipOrder: "Order",
  sendMessage: "Message"
}

export interface Resource {
  readonly name: ResourceName
  readonly value: Json
  /** The request whose response has it. */
  readonly request: string
}

/** Every resource of a successful response. */
export const resources = (observations: Observations): ReadonlyArray<Resource> =>
  successes(observations).flatMap(({ operation, request, response }) => {
    const name = resourceByOperation[operation]
    const values: ReadonlyArray<unknown> = isList(operation) ? itemsOf(response) : [response.json]
    return name === undefined ? [] : values.filter(isJsonObject).map((value) => ({ name, value, request }))
  })

/** Every resource of this name in a successful response. */
export const resourcesOf = (observations: Observations, name: ResourceName): ReadonlyArray<Resource> =>
  resources(observations).filter((resource) => resource.name === name)

/** Every successful response of a list. */
export const pages = (observations: Observations): ReadonlyArray<Received> =>
  successes(observations).filter(({ operation }) => isList(operation))

/** The limit that a request of a list asks for; undefined for the default. */
export const limitOf = (request: string): number | undefined => {
  const limit = /[?&]limit=(\d+)/.exec(request)?.[1]
  return limit === undefined ? undefined : Number(limit)
}

/** The items of a page; none if the response is not a list envelope. */
export const itemsOf = ({ json }: Response): ReadonlyArray<unknown> => isJsonObject(json) && Array.isArray(json["data"]) ? json["data"] : []

/** The ids of the items of a page as JSON; an item without an id of the right or a likely type is left out. */
export const idsOf = (response: Response): ReadonlyArray<string> =>
  itemsOf(response).flatMap((item) => {
    const id = isJsonObject(item) ? item["id"] : undefined
    return typeof id === "string" || typeof id === "number" ? [JSON.stringify(id)] : []
  })

/** The cursor of the next page; undefined on the last one. */
export const nextCursor = ({ json }: Response): string | undefined => {
  const cursor = isJsonObject(json) ? json["next_cursor"] : undefined
  return typeof cursor === "string" && cursor !== "" ? cursor : undefined
}
