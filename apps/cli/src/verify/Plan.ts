/** The requests of `plaza verify`, in order, with what each write changes. */
import { type OperationName, operations } from "@plaza/domain/Operations"
import * as PathSegment from "@plaza/domain/PathSegment"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describe, idsOf, isJsonObject, isSuccess, itemsOf, nextCursor, type Observations, responseOf, successOf } from "./Observation.ts"

// The first of them that is named gets the two invalid requests. A wrong shipment can't be undone, so the order is last.
const objectNames = ["product", "post", "conversation", "user", "order"] as const

type ObjectName = (typeof objectNames)[number]

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

/** The carrier and the tracking number of the shipment. */
export const shipment = { carrier: "Plaza", trackingNumber: "PLAZA-VERIFY" }

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

/** Reads the user that the account is, by a field of `GET /me`. */
const readOwn = (id: string, operation: OperationName, field: "id" | "username"): Step =>
  read(id, operation, pathOf(operation, `{${field} of the account}`), (observations) =>
    Result.flatMap(
      Result.mapError(successOf(observations, "me"), (why) => `the ${field} of the account is not known: ${why}`),
      ({ response: { json } }) =>
        Result.map(
          segment(isJsonObject(json) ? json[field] : undefined, `the ${field} of the account`),
          (value) => pathOf(operation, value)
        )
    ))

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

/** Values of `limit` that the document does not permit. */
export const invalidLimits = ["0", "101", "ten"]

const page = ({ id, limit, operation, path }: List, number: number): Step =>
  number === 1
    ? read(`${id}.page1`, operation, `${path}?limit=${limit}`)
    : read(`${id}.page${number}`, operation, `${path}?limit=${limit}&cursor={next_cursor of page ${number - 1}}`, (observations) =>
      Result.flatMap(
        Result.mapError(successOf(observations, `${id}.page${number - 1}`), (why) => `there is no page ${number}: ${why}`),
        ({ response }) => {
          const cursor = nextCursor(response)
          return cursor === undefined
            ? Result.fail(`the list has ${number - 1 === 1 ? "1 page" : `${number - 1} pages`} of ${limit}`)
            : /\p{Surrogate}/u.test(cursor)
            ? Result.fail("the cursor is not well-formed Unicode")
            : Result.succeed(`${path}?limit=${limit}&cursor=${encodeURIComponent(cursor)}`)
        }
      ))

const stepsOfList = (list: List): ReadonlyArray<Step> => {
  const { id, operation, path } = list
  return [
    read(`${id}.default`, operation),
    read(`${id}.size`, operation, `${path}?limit={items on the page without limit}`,
      (observations) =>
        Result.flatMap(successOf(observations, `${id}.default`), ({ response }) => {
          const size = itemsOf(response).length
          return size >= 1 && size <= 100 && nextCursor(response) !== undefined
            ? Result.succeed(`${path}?limit=${size}`)
            : Result.fail("the page without limit does not show the default page size")
        })),
    // Before the walk, so that an item that is added meanwhile is not missing there.
    read(`${id}.max`, operation, `${path}?limit=100`),
    ...Array.from({ length: list.pages }, (_, index) => page(list, index + 1)),
    read(`${id}.again`, operation, `${path}?limit=100`,
      (observations) =>
        Result.flatMap(successOf(observations, `${id}.max`), ({ response }) => {
          const walk = walkOf(observations, list)
          return walk.isComplete && missingEnd(idsOf(response), walk.ids) !== undefined
            ? Result.succeed(`${path}?limit=100`)
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
  readonly id: string
  readonly operation: OperationName
  readonly body?: string
  /** A valid JSON body with a field of the wrong type. A write without a body has none. */
  readonly wrongType?: string
  readonly effect: (id: string) => string
  /** Why the write is not sent after what was observed; undefined if it is. */
  readonly unless?: (observations: Observations) => string | undefined
}

/** A second shipment is one only if the first was carried out. */
const notShipped = (observations: Observations): string | undefined =>
  Result.match(responseOf(observations, "ship"), {
    onFailure: (why) => `the outcome of the first shipment is unknown: ${why}`,
    onSuccess: ({ request, response }) =>
      isSuccess(response.status) || response.status === 409 ? undefined : `${request} got ${describe(response)}`
  })

const ship = { operation: "shipOrder", body: JSON.stringify(shipment), wrongType: `{"carrier":5,"trackingNumber":5}` } as const

const text = { body: JSON.stringify({ text: probeText }), wrongType: `{"text":5}` }

const writesTo = ({ stock }: Pick<Objects, "stock">): { readonly [Name in ObjectName]: ReadonlyArray<Write> } => ({
  product: [{
    id: "stock",
    operation: "setStock",
    body: JSON.stringify({ stock }),
    wrongType: `{"stock":"many"}`,
    effect: (id) =>
      `Sets the stock of product ${id} to ${stock}. The document shows no request that reads the stock before: ` +
      "use --stock with its current stock to leave it unchanged."
  }],
  user: [{
    id: "follow",
    operation: "followUser",
    effect: (id) => `Follows user ${id}. The document shows no request that ends it.`
  }],
  post: [
    { id: "like", operation: "likePost", effect: (id) => `Likes post ${id}. The document shows no request that removes a like.` },
    {
      id: "comment",
      operation: "createComment",
      ...text,
      effect: (id) => `Adds a comment to post ${id}, which others can read. The document shows no request that deletes it.`
    }
  ],
  conversation: [{
    id: "message",
    operation: "sendMessage",
    ...text,
    effect: (id) => `Sends a message in conversation ${id}. It can't be undone.`
  }],
  order: [
    {
      id: "ship",
      ...ship,
      effect: (id) =>
        `Ships order ${id} with carrier ${shipment.carrier} and tracking number ${shipment.trackingNumber}. It can't be undone.`
    },
    {
      id: "shipAgain",
      ...ship,
      effect: (id) => `Ships order ${id} a second time. The document says that this changes nothing.`,
      unless: notShipped
    }
  ]
})

const toStep = ({ effect, unless, wrongType: _, ...write }: Write, objectId: string): Step => {
  const path = Result.map(segment(objectId, "the id"), (id) => pathOf(write.operation, id))
  return {
    ...write,
    path: Result.getOrElse(path, () => pathOf(write.operation, objectId)),
    effect: effect(objectId),
    resolve: (observations) => {
      const reason = unless?.(observations)
      return reason === undefined ? path : Result.fail(reason)
    }
  }
}

const invalidWrites = (write: Write, wrongType: string, objectId: string): ReadonlyArray<Step> =>
  [
    {
      ...write,
      id: "invalidJson",
      body: "{",
      effect: () => "Sends a body that is not valid JSON, which the service must refuse. Nothing changes then."
    },
    {
      ...write,
      id: "wrongType",
      body: wrongType,
      effect: () => "Sends a field of the wrong type, which the service must refuse. Nothing changes then."
    }
  ].map((invalid) => toStep(invalid, objectId))

const writes = (objects: Objects): ReadonlyArray<Step> => {
  const all = writesTo(objects)
  const named = objectNames.flatMap((name) => {
    const id = objects[name]
    return id === undefined ? [] : all[name].map((write) => ({ write, id }))
  })
  const invalid = named.flatMap(({ id, write }) => write.wrongType === undefined ? [] : [invalidWrites(write, write.wrongType, id)])[0]
  return [...invalid ?? [], ...named.map(({ id, write }) => toStep(write, id))]
}

/** The steps in their order. Without objects there are only reads. */
export const make = (objects: Objects | undefined): ReadonlyArray<Step> => [...reads, ...(objects === undefined ? [] : writes(objects))]

/** Why a write is not in a plan, by its step. */
export const absentWrites: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(writesTo({ stock: 0 })).flatMap(([name, writes]) =>
      writes.map(({ id }) => [id, `it requires --write and --${name}`] as const)
    )
  ),
  invalidJson: "it requires --write and a test object",
  wrongType: "it requires --write and --product, --post, --conversation or --order"
}

/** The ids of the items of all observed pages of a walk, and whether the walk reached the end of the list. */
export const walkOf = (
  observations: Observations,
  { id, pages }: List
): { readonly ids: ReadonlyArray<string>; readonly pages: number; readonly isComplete: boolean } => {
  const found = Array.from({ length: pages }, (_, index) => successOf(observations, `${id}.page${index + 1}`))
    .flatMap((one) => Result.isSuccess(one) ? [one.success.response] : [])
  const last = found.at(-1)
  return { ids: found.flatMap(idsOf), pages: found.length, isComplete: last !== undefined && nextCursor(last) === undefined }
}

/** The first of these ids from which on a walk has none of them. Undefined if it has the last one. */
export const missingEnd = (ids: ReadonlyArray<string>, walked: ReadonlyArray<string>): string | undefined =>
  ids[ids.findLastIndex((id) => walked.includes(id)) + 1]
