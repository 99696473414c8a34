/** What a run of `plaza verify` observed: requests with their responses as received, and the steps that were not sent. */
import { json } from "@plaza/cli-kit/Text"
import * as Errors from "@plaza/domain/Errors"
import { isList, type OperationName } from "@plaza/domain/Operations"
import { Comment, Conversation, Message, Order, Post, Product, Profile } from "@plaza/domain/Resources"
import * as Arr from "effect/Array"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

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

/** An observation with a response. */
export interface Received extends Observation {
  readonly response: Response
}

/** Everything that rules and findings derive from. */
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

export const isJsonObject: Predicate.Refinement<unknown, Json> = Predicate.isObject

/** Whether a gateway may have sent a status instead of the service, or it is a fault: it shows nothing about a rule. */
export const isTransient = ({ status }: Response): boolean =>
  status >= 500 || status === 408 || status === 429 || status >= 300 && status < 400

export const isSuccess = ({ response: { status } }: Received): boolean => status >= 200 && status < 300

const decodeEnvelope = Schema.decodeUnknownOption(Errors.envelope({ code: Schema.String, message: Schema.String }))

/** The error of an error envelope, or undefined for any other body. */
export const errorOf = ({ json }: Response) => Option.getOrUndefined(decodeEnvelope(json))?.error

export const isDocumentedCode = (code: string): code is Errors.ErrorCode => Object.hasOwn(Errors.byCode, code)

/** The documented status of a code. */
export const statusOf = (code: Errors.ErrorCode): number => Errors.fromCode(code, { message: code }).status

/** The beginning of a text of the service, which may have any length. Two of 60 characters fit into a line of a terminal. */
export const cut = (text: string, length = 60): string => text.length > length ? `${text.slice(0, length)}...` : text

/** A value of the service as JSON, cut. */
export const shown = (value: unknown): string => cut(json(value))

/** A response in a few words: `404 NOT_FOUND`. */
export const describe = (response: Response): string => {
  const code = errorOf(response)?.code
  return code === undefined ? `${response.status}` : `${response.status} ${cut(code)}`
}

/** A request and its response in a few words. */
export const summarize = ({ request, response }: Received): string => `${request} got ${describe(response)}`

const received = (one: Observation): Result.Result<Received, string> =>
  Result.mapBoth(one.result, {
    onFailure: (problem) => `${one.request} got no response (${problem})`,
    onSuccess: (response) => ({ ...one, response })
  })

/** The response of a step that shows something about rules, or a sentence that says why there is none. */
export const responseOf = ({ sent, skipped }: Observations, step: string): Result.Result<Received, string> => {
  const last = sent.findLast((one) => one.step === step)
  return last === undefined
    ? Result.fail(skipped[step] ?? "the request was not sent")
    : Result.filterOrFail(received(last), ({ response }) => !isTransient(response), summarize)
}

/** The successful response of a step, or a sentence that says why there is none. */
export const successOf = (observations: Observations, step: string): Result.Result<Received, string> =>
  Result.filterOrFail(responseOf(observations, step), isSuccess, summarize)

/** Every response. */
export const responses = ({ sent }: Pick<Observations, "sent">): ReadonlyArray<Received> => Arr.filterMap(sent, received)

/** Every successful response. */
export const successes = (observations: Observations): ReadonlyArray<Received> => responses(observations).filter(isSuccess)

/** The schemas of the resources that a run may receive. */
export const resourceSchemas = { Profile, Post, Comment, Product, Order, Conversation, Message }

export type ResourceName = keyof typeof resourceSchemas

/** The resource in the response of an operation. */
export const resourceByOperation: { readonly [Name in OperationName]?: ResourceName } = {
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

interface Resource {
  readonly name: ResourceName
  readonly value: Json
  /** The request whose response has it. */
  readonly request: string
}

/** Every resource of a successful response, or those with a name. */
export const resources = (observations: Observations, only?: ResourceName): ReadonlyArray<Resource> =>
  successes(observations).flatMap(({ operation, request, response }) => {
    const name = resourceByOperation[operation]
    const values: ReadonlyArray<unknown> = isList(operation) ? itemsOf(response) : [response.json]
    return name === undefined || name !== (only ?? name)
      ? []
      : values.filter(isJsonObject).map((value) => ({ name, value, request }))
  })

/** Every successful response of a list. */
export const pages = (observations: Observations): ReadonlyArray<Received> =>
  successes(observations).filter(({ operation }) => isList(operation))

/** The limit that a request of a list asks for; undefined for the default. */
export const limitOf = (request: string): number | undefined => {
  const limit = /[?&]limit=(\d+)/.exec(request)?.[1]
  return limit === undefined ? undefined : Number(limit)
}

/** A field of a JSON object; undefined for any other body. */
export const fieldOf = ({ json }: Response, name: string): unknown => isJsonObject(json) ? json[name] : undefined

/** The items of a page; none if the response is not a list envelope. */
export const itemsOf = (response: Response): ReadonlyArray<unknown> => {
  const data = fieldOf(response, "data")
  return Array.isArray(data) ? data : []
}

/** The ids of the items of a page as JSON; an item without an id of the right or a likely type is left out. */
export const idsOf = (response: Response): ReadonlyArray<string> =>
  itemsOf(response).flatMap((item) => {
    const id = isJsonObject(item) ? item["id"] : undefined
    return typeof id === "string" || typeof id === "number" ? [JSON.stringify(id)] : []
  })

/** The cursor of the next page; undefined on the last one. */
export const nextCursor = (response: Response): string | undefined => {
  const cursor = fieldOf(response, "next_cursor")
  return typeof cursor === "string" && cursor !== "" ? cursor : undefined
}
