/** The requests of `plaza verify`, in order, with what each write changes. */
import { count } from "@plaza/cli-kit/Text"
import type { ErrorCode } from "@plaza/domain/Errors"
import * as Limits from "@plaza/domain/Limits"
import { type OperationName, operations } from "@plaza/domain/Operations"
import * as PathSegment from "@plaza/domain/PathSegment"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import {
  fieldOf,
  idsOf,
  isSuccess,
  itemsOf,
  nextCursor,
  type Observations,
  type Response,
  responseOf,
  successOf,
  summarize
} from "./Observation.ts"

// The first of them that is named gets the two invalid requests. A wrong shipment can't be undone, so the order is last.
type ObjectName = "product" | "post" | "conversation" | "user" | "order"

/** The ids of the objects that writes may change. */
export type Objects = { readonly [Name in ObjectName]?: string | undefined } & {
  /** The stock that the product gets. */
  readonly stock: number
}

export interface Step {
  readonly id: string
  readonly operation: OperationName
  /** The path for people, with words for values that are not known before the run. */
  readonly path: string
  /** The JSON body, sent unchanged. */
  readonly body?: string
  /** Whether the request carries the key (default: true). */
  readonly hasKey?: boolean
  /** What a write changes, and whether that can be undone. */
  readonly effect?: string
  /** The path to send, or a sentence that says why the request is not sent. */
  readonly resolve: (observations: Observations) => Result.Result<string, string>
}

/** The text of the comment and the message. Every form of a latitude changes it in another way. */
export const probeText = "  Plaza  verify: \"a\" -- it's 1 < 2 & 3\r\ncafe\u0301 \u00f6 \u2603 \u{1f389} https://example.org/plaza-verify  "

const shipment = { carrier: "Plaza", trackingNumber: "PLAZA-VERIFY" }

const unknownName = "plaza-verify-unknown"

const isSegment = Schema.is(PathSegment.inPath(Schema.String))

const segment = (value: unknown, what: string): Result.Result<string, string> =>
  typeof value === "string" && isSegment(value) ? Result.succeed(PathSegment.encode(value)) : Result.fail(`${what} is not known`)

/** The path of an operation with this segment in place of its parameter. */
const pathOf = (operation: OperationName, value = ""): string => operations[operation].path.replace(/:\w+/, () => value)

const read = (
  id: string,
  operation: OperationName,
  path = pathOf(operation),
  resolve: Step["resolve"] = () => Result.succeed(path)
): Step => ({ id, operation, path, resolve })

/** Resolves a path from the successful response of an earlier step. `why` begins the sentence if there is none. */
const from = (
  step: string,
  resolve: (response: Response, observations: Observations) => Result.Result<string, string>,
  why = ""
): Step["resolve"] =>
(observations) =>
  Result.mapError(successOf(observations, step), (reason) => why + reason).pipe(
    Result.flatMap(({ response }) => resolve(response, observations))
  )

/** Reads the user that the account is, by a field of `GET /me`. */
const readOwn = (id: string, operation: OperationName, field: "id" | "username"): Step => {
  const what = `the ${field} of the account`
  return read(id, operation, pathOf(operation, `{${field} of the account}`), from(
    "me",
    (response) => Result.map(segment(fieldOf(response, field), what), (value) => pathOf(operation, value)),
    `${what} is not known: `
  ))
}

interface List {
  readonly id: "posts" | "conversations"
  readonly operation: "listPosts" | "listConversations"
  readonly path: string
  /** Items on a page of the walk. */
  readonly limit: number
  /** The maximum number of pages of the walk. */
  readonly pages: number
}

/** The lists of the document. */
export const lists: ReadonlyArray<List> = [
  { id: "posts", operation: "listPosts", path: pathOf("listPosts"), limit: 10, pages: 5 },
  { id: "conversations", operation: "listConversations", path: pathOf("listConversations"), limit: 3, pages: 3 }
]

/** The steps of the pages of a walk. */
export const pageSteps = ({ id, pages }: List): ReadonlyArray<string> =>
  Array.from({ length: pages }, (_, index) => `${id}.page${index + 1}`)

const page = ({ id, limit, operation, path }: List, step: string, index: number): Step =>
  index === 0
    ? read(step, operation, `${path}?limit=${limit}`)
    : read(step, operation, `${path}?limit=${limit}&cursor={next_cursor of page ${index}}`, from(
      `${id}.page${index}`,
      (response) => {
        const cursor = nextCursor(response)
        return cursor === undefined
          ? Result.fail(`the list has ${count(index, "page")} of ${limit}`)
          : /\p{Surrogate}/u.test(cursor)
          ? Result.fail("the cursor is not well-formed Unicode")
          : Result.succeed(`${path}?limit=${limit}&cursor=${encodeURIComponent(cursor)}`)
      },
      `there is no page ${index + 1}: `
    ))

/** Values of `limit` that the document does not permit. */
const invalidLimits = [Limits.minPageSize - 1, Limits.maxPageSize + 1, "ten"]

/** The steps with an invalid limit. */
export const invalidLimitSteps = lists.flatMap(({ id }) => invalidLimits.map((limit) => `${id}.limit.${limit}`))

const stepsOfList = (list: List): ReadonlyArray<Step> => {
  const { id, operation, path } = list
  const largest = `${path}?limit=${Limits.maxPageSize}`
  return [
    read(`${id}.default`, operation),
    read(`${id}.size`, operation, `${path}?limit={items on the page without limit}`, from(`${id}.default`, (response) => {
      const size = itemsOf(response).length
      return size >= Limits.minPageSize && size <= Limits.maxPageSize && nextCursor(response) !== undefined
        ? Result.succeed(`${path}?limit=${size}`)
        : Result.fail("the page without limit does not show the default page size")
    })),
    // Before the walk, so that an item that is added meanwhile is not missing there.
    read(`${id}.max`, operation, largest),
    ...pageSteps(list).map((step, index) => page(list, step, index)),
    read(`${id}.again`, operation, largest, from(`${id}.max`, (response, observations) => {
      const walk = walkOf(observations, list)
      return walk.isComplete && missingEnd(idsOf(response), walk.ids) !== undefined
        ? Result.succeed(largest)
        : Result.fail("no items are missing at the end of the list")
    })),
    ...invalidLimits.map((limit) => read(`${id}.limit.${limit}`, operation, `${path}?limit=${limit}`))
  ]
}

const reads: ReadonlyArray<Step> = [
  read("me", "getMe"),
  { ...read("withoutKey", "getMe"), hasKey: false },
  readOwn("user", "getUser", "id"),
  readOwn("username", "getUserByUsername", "username"),
  read("unknownUser", "getUser", pathOf("getUser", unknownName)),
  read("unknownUsername", "getUserByUsername", pathOf("getUserByUsername", unknownName)),
  ...lists.flatMap(stepsOfList)
]

interface Write {
  readonly object: ObjectName
  readonly id: string
  readonly operation: OperationName
  readonly body?: string
  /** A valid JSON body with a field of the wrong type. A write without a body has none. */
  readonly wrongType?: string
  /** What it changes, with `ID` for the id of the object. */
  readonly effect: string
  /** Why the write is not sent after what was observed; undefined if it is. */
  readonly unless?: (observations: Observations) => string | undefined
}

/** A second shipment is one only if the first was carried out. */
const notShipped = (observations: Observations): string | undefined =>
  Result.match(responseOf(observations, "ship"), {
    onFailure: (why) => `the outcome of the first shipment is unknown: ${why}`,
    onSuccess: (received) => isSuccess(received) || received.response.status === 409 ? undefined : summarize(received)
  })

const ship = {
  object: "order",
  operation: "shipOrder",
  body: JSON.stringify(shipment),
  wrongType: `{"carrier":5,"trackingNumber":5}`
} as const

const text = { body: JSON.stringify({ text: probeText }), wrongType: `{"text":5}` }

const writesWith = (stock: number): ReadonlyArray<Write> => [
  {
    object: "product",
    id: "stock",
    operation: "setStock",
    body: JSON.stringify({ stock }),
    wrongType: `{"stock":"many"}`,
    effect: `Sets the stock of product ID to ${stock}. The document shows no request that reads the stock before: ` +
      "use --stock with its current stock to leave it unchanged."
  },
  { object: "post", id: "like", operation: "likePost", effect: "Likes post ID. The document shows no request that removes a like." },
  {
    object: "post",
    id: "comment",
    operation: "createComment",
    ...text,
    effect: "Adds a comment to post ID, which others can read. The document shows no request that deletes it."
  },
  {
    object: "conversation",
    id: "message",
    operation: "sendMessage",
    ...text,
    effect: "Sends a message in conversation ID. It can't be undone."
  },
  { object: "user", id: "follow", operation: "followUser", effect: "Follows user ID. The document shows no request that ends it." },
  {
    ...ship,
    id: "ship",
    effect: `Ships order ID with carrier ${shipment.carrier} and tracking number ${shipment.trackingNumber}. It can't be undone.`
  },
  {
    ...ship,
    id: "shipAgain",
    effect: "Ships order ID a second time. The document says that this changes nothing.",
    unless: notShipped
  }
]

/** The two invalid requests of a write with a body. */
const invalidWrites = (write: Write): ReadonlyArray<Write> =>
  write.wrongType === undefined ? [] : [
    {
      ...write,
      id: "invalidJson",
      body: "{",
      effect: "Sends a body that is not valid JSON, which the service must refuse. Nothing changes then."
    },
    {
      ...write,
      id: "wrongType",
      body: write.wrongType,
      effect: "Sends a field of the wrong type, which the service must refuse. Nothing changes then."
    }
  ]

const writes = (objects: Objects): ReadonlyArray<Step> => {
  const named = writesWith(objects.stock).filter(({ object }) => objects[object] !== undefined)
  const invalid = named.map(invalidWrites).find(({ length }) => length > 0) ?? []
  return [...invalid, ...named].map(({ effect, object, unless, wrongType: _, ...write }) => {
    const objectId = objects[object] ?? ""
    const path = Result.map(segment(objectId, "the id"), (id) => pathOf(write.operation, id))
    return {
      ...write,
      path: Result.getOrElse(path, () => pathOf(write.operation, objectId)),
      effect: effect.replace("ID", () => objectId),
      resolve: (observations) => {
        const reason = unless?.(observations)
        return reason === undefined ? path : Result.fail(reason)
      }
    }
  })
}

/** The steps in their order. Without objects there are only reads. */
export const make = (objects: Objects | undefined): ReadonlyArray<Step> => [...reads, ...(objects === undefined ? [] : writes(objects))]

/** Why a write is not in a plan, by its step. */
export const absentWrites: Readonly<Record<string, string>> = {
  ...Object.fromEntries(writesWith(0).map(({ id, object }) => [id, `it requires --write and --${object}`])),
  invalidJson: "it requires --write and a test object",
  wrongType: "it requires --write and --product, --post, --conversation or --order"
}

/** The code that the document requires, by the step that must fail. */
export const refusals: Readonly<Record<string, ErrorCode>> = {
  ...Object.fromEntries(invalidLimitSteps.map((step) => [step, "VALIDATION_ERROR" as const])),
  wrongType: "VALIDATION_ERROR",
  invalidJson: "INVALID_JSON",
  withoutKey: "INVALID_API_KEY",
  unknownUser: "NOT_FOUND",
  unknownUsername: "NOT_FOUND",
  shipAgain: "CONFLICT"
}

/** The items of all observed pages of a walk, and whether the walk reached the end of the list. */
export const walkOf = (observations: Observations, list: List) => {
  const pages = pageSteps(list).flatMap((step) => {
    const page = successOf(observations, step)
    return Result.isSuccess(page) ? [page.success.response] : []
  })
  const last = pages.at(-1)
  return {
    items: pages.flatMap(itemsOf),
    ids: pages.flatMap(idsOf),
    pages: count(pages.length, "page"),
    isComplete: last !== undefined && nextCursor(last) === undefined
  }
}

/** The first of these ids from which on a walk has none of them. Undefined if it has the last one. */
export const missingEnd = (ids: ReadonlyArray<string>, walked: ReadonlyArray<string>): string | undefined =>
  ids[ids.findLastIndex((id) => walked.includes(id)) + 1]
