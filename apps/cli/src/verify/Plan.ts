/** The requests of `plaza verify`, in order, with what each write changes. */
import * as PathSegment from "@plaza-legacy/domain/PathSegment"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { describe, idsOf, isJsonObject, isSuccess, itemsOf, nextCursor, type Observations, responseOf, successOf } from "./Observation.ts"

/** The objects that writes may change. */
export interface Objects {
  readonly product: string | undefined
  readonly order: string | undefined
  readonly conversation: string | undefined
  readonly user: string | undefined
  readonly post: string | undefined
  /** The stock that the product gets. */
  readonly stock: number
}

export interface Step {
  readonly id: string
  /** The operation of the contract. */
  readonly operation: string
  readonly method: "GET" | "POST" | "PATCH"
  /** The path for people, with words for values that are not known before the run. */
  readonly path: string
  /** The JSON body, sent unchanged. */
  readonly body?: string
  /** Whether the request carries the key (default: true). */
  readonly hasKey?: boolean
  /** What a write changes, and whether that can be undone. */
  readonly effect?: string
  /** The path to send, or a sentence that says why the request is not sent. */
  readonly resolve: (observations: Observations) => Either.Either<string, string>
}

/** The text of the comment and the message. Every form of a latitude changes it in another way. */
export const probeText = "  Plaza  verify: \"a\" -- it's 1 < 2 & 3\r\ncafe\u0301 \u00f6 \u2603 \u{1f389} https://example.org/plaza-verify  "

/** The carrier and the tracking number of the shipment. */
export const shipment = { carrier: "Plaza", trackingNumber: "PLAZA-VERIFY" }

const unknownName = "plaza-verify-unknown"

const isSegment = Schema.is(PathSegment.inPath(Schema.String))

const segment = (value: unknown, what: string): Either.Either<string, string> =>
  typeof value === "string" && isSegment(value) ? Either.right(PathSegment.encode(value)) : Either.left(`${what} is not known`)

const read = (id: string, operation: string, path: string, resolve: Step["resolve"] = () => Either.right(path)): Step => ({
  id,
  operation,
  method: "GET",
  path,
  resolve
})

const ofProfile = (name: "id" | "username", path: (value: string) => string): Step["resolve"] => (observations) =>
  Either.flatMap(
    Either.mapLeft(successOf(observations, "me"), (why) => `the ${name} of the account is not known: ${why}`),
    ({ response: { json } }) => Either.map(segment(isJsonObject(json) ? json[name] : undefined, `the ${name} of the account`), path)
  )

interface List {
  readonly id: "posts" | "conversations"
  readonly operation: string
  readonly path: string
  /** Items on a page of the walk. */
  readonly limit: number
  /** The maximum number of pages of the walk. */
  readonly pages: number
}

/** The lists of the document. */
export const lists: ReadonlyArray<List> = [
  { id: "posts", operation: "listPosts", path: "/me/posts", limit: 10, pages: 5 },
  { id: "conversations", operation: "listConversations", path: "/conversations", limit: 3, pages: 3 }
]

/** Values of `limit` that the document does not permit. */
export const invalidLimits = ["0", "101", "ten"]

const page = ({ id, limit, operation, path }: List, number: number): Step =>
  number === 1
    ? read(`${id}.page1`, operation, `${path}?limit=${limit}`)
    : read(`${id}.page${number}`, operation, `${path}?limit=${limit}&cursor={next_cursor of page ${number - 1}}`, (observations) =>
      Either.flatMap(
        Either.mapLeft(successOf(observations, `${id}.page${number - 1}`), (why) => `there is no page ${number}: ${why}`),
        ({ response }) => {
          const cursor = nextCursor(response)
          return cursor === undefined
            ? Either.left(`the list has ${number - 1 === 1 ? "1 page" : `${number - 1} pages`} of ${limit}`)
            : /\p{Surrogate}/u.test(cursor)
            ? Either.left("the cursor is not well-formed Unicode")
            : Either.right(`${path}?limit=${limit}&cursor=${encodeURIComponent(cursor)}`)
        }
      ))

const stepsOfList = (list: List): ReadonlyArray<Step> => {
  const { id, operation, path } = list
  return [
    read(`${id}.default`, operation, path),
    read(`${id}.size`, operation, `${path}?limit={items on the page without limit}`,
      (observations) =>
        Either.flatMap(successOf(observations, `${id}.default`), ({ response }) => {
          const size = itemsOf(response).length
          return size >= 1 && size <= 100 && nextCursor(response) !== undefined
            ? Either.right(`${path}?limit=${size}`)
            : Either.left("the page without limit does not show the default page size")
        })),
    // Before the walk, so that an item that is added meanwhile is not missing there.
    read(`${id}.max`, operation, `${path}?limit=100`),
    ...Array.from({ length: list.pages }, (_, index) => page(list, index + 1)),
    read(`${id}.again`, operation, `${path}?limit=100`,
      (observations) =>
        Either.flatMap(successOf(observations, `${id}.max`), ({ response }) => {
          const walk = walkOf(observations, list)
          return walk.isComplete && missingEnd(idsOf(response), walk.ids) !== undefined
            ? Either.right(`${path}?limit=100`)
            : Either.left("no items are missing at the end of the list")
        })),
    ...invalidLimits.map((limit) => read(`${id}.limit.${limit}`, operation, `${path}?limit=${limit}`))
  ]
}

const reads: ReadonlyArray<Step> = [
  read("me", "getMe", "/me"),
  { ...read("withoutKey", "getMe", "/me"), hasKey: false },
  read("user", "getUser", "/users/{id of the account}", ofProfile("id", (id) => `/users/${id}`)),
  read("username", "getUserByUsername", "/users/by-username/{username of the account}",
    ofProfile("username", (username) => `/users/by-username/${username}`)),
  read("unknownUser", "getUser", `/users/${unknownName}`),
  read("unknownUsername", "getUserByUsername", `/users/by-username/${unknownName}`),
  ...lists.flatMap(stepsOfList)
]

interface Write {
  readonly id: string
  readonly operation: string
  readonly method: "POST" | "PATCH"
  readonly path: (id: string) => string
  readonly body?: string
  readonly effect: (id: string) => string
  /** Why the write is not sent after what was observed; undefined if it is. */
  readonly unless?: (observations: Observations) => string | undefined
}

/** A second shipment is one only if the first was carried out. */
const notShipped = (observations: Observations): string | undefined =>
  Either.match(responseOf(observations, "ship"), {
    onLeft: (why) => `the outcome of the first shipment is unknown: ${why}`,
    onRight: ({ request, response }) =>
      isSuccess(response.status) || response.status === 409 ? undefined : `${request} got ${describe(response)}`
  })

const writesByObject: Readonly<Record<"product" | "user" | "post" | "conversation" | "order", (objects: Objects) => ReadonlyArray<Write>>> =
  {
    product: ({ stock }) => [{
      id: "stock",
      operation: "setStock",
      method: "PATCH",
      path: (id) => `/store/products/${id}/stock`,
      body: JSON.stringify({ stock }),
      effect: (id) =>
        `Sets the stock of product ${id} to ${stock}. The document shows no request that reads the stock before: ` +
        "use --stock with its current stock to leave it unchanged."
    }],
    user: () => [{
      id: "follow",
      operation: "followUser",
      method: "POST",
      path: (id) => `/users/${id}/follow`,
      effect: (id) => `Follows user ${id}. The document shows no request that ends it.`
    }],
    post: () => [
      {
        id: "like",
        operation: "likePost",
        method: "POST",
        path: (id) => `/posts/${id}/like`,
        effect: (id) => `Likes post ${id}. The document shows no request that removes a like.`
      },
      {
        id: "comment",
        operation: "createComment",
        method: "POST",
        path: (id) => `/posts/${id}/comments`,
        body: JSON.stringify({ text: probeText }),
        effect: (id) => `Adds a comment to post ${id}, which others can read. The document shows no request that deletes it.`
      }
    ],
    conversation: () => [{
      id: "message",
      operation: "sendMessage",
      method: "POST",
      path: (id) => `/conversations/${id}/messages`,
      body: JSON.stringify({ text: probeText }),
      effect: (id) => `Sends a message in conversation ${id}. It can't be undone.`
    }],
    order: () => [
      {
        id: "ship",
        operation: "shipOrder",
        method: "POST",
        path: (id) => `/store/orders/${id}/ship`,
        body: JSON.stringify(shipment),
        effect: (id) =>
          `Ships order ${id} with carrier ${shipment.carrier} and tracking number ${shipment.trackingNumber}. It can't be undone.`
      },
      {
        id: "shipAgain",
        operation: "shipOrder",
        method: "POST",
        path: (id) => `/store/orders/${id}/ship`,
        body: JSON.stringify(shipment),
        effect: (id) => `Ships order ${id} a second time. The document says that this changes nothing.`,
        unless: notShipped
      }
    ]
  }

// The first of them that is named gets the two invalid requests. A wrong shipment can't be undone, so the order is last.
const objectNames = ["product", "post", "conversation", "user", "order"] as const

/** A valid JSON body with a field of the wrong type, by step. A step without a body has none. */
const wrongTypes: Readonly<Record<string, string>> = {
  stock: `{"stock":"many"}`,
  comment: `{"text":5}`,
  message: `{"text":5}`,
  ship: `{"carrier":5,"trackingNumber":5}`
}

const toStep = ({ effect, id, path, unless, ...write }: Write, objectId: string): Step => {
  const resolved = Either.map(segment(objectId, "the id"), path)
  return {
    ...write,
    id,
    path: Either.getOrElse(resolved, () => path(objectId)),
    effect: effect(objectId),
    resolve: (observations) => {
      const reason = unless?.(observations)
      return reason === undefined ? resolved : Either.left(reason)
    }
  }
}

const invalidWrites = (write: Write, objectId: string): ReadonlyArray<Step> =>
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
      body: wrongTypes[write.id] ?? "{}",
      effect: () => "Sends a field of the wrong type, which the service must refuse. Nothing changes then."
    }
  ].map((invalid) => toStep(invalid, objectId))

const writes = (objects: Objects): ReadonlyArray<Step> => {
  const named = objectNames.flatMap((name) => {
    const id = objects[name]
    return id === undefined ? [] : writesByObject[name](objects).map((write) => ({ write, id }))
  })
  const first = named.find(({ write }) => wrongTypes[write.id] !== undefined)
  return [...(first === undefined ? [] : invalidWrites(first.write, first.id)), ...named.map(({ id, write }) => toStep(write, id))]
}

/** The steps in their order. Without objects there are only reads. */
export const make = (objects: Objects | undefined): ReadonlyArray<Step> => [...reads, ...(objects === undefined ? [] : writes(objects))]

const option = { product: "product", user: "user", post: "post", conversation: "conversation", order: "order" } as const

/** Why a write is not in a plan, by its step. */
export const absentWrites: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    objectNames.flatMap((name) =>
      writesByObject[name]({ product: "", order: "", conversation: "", user: "", post: "", stock: 0 })
        .map(({ id }) => [id, `it requires --write and --${option[name]}`] as const)
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
    .flatMap((one) => Either.isRight(one) ? [one.right.response] : [])
  const last = found.at(-1)
  return { ids: found.flatMap(idsOf), pages: found.length, isComplete: last !== undefined && nextCursor(last) === undefined }
}

/** The first of these ids from which on a walk has none of them. Undefined if it has the last one. */
export const missingEnd = (ids: ReadonlyArray<string>, walked: ReadonlyArray<string>): string | undefined =>
  ids[ids.findLastIndex((id) => walked.includes(id)) + 1]
