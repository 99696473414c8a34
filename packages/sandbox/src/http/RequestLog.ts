/**
 * The request log: the last requests, with the rule that decided each and the response that the caller received. It is kept in
 * memory and bounded by {@link capacity} and {@link maxBytes}. Keys with the current or an earlier prefix are masked before a
 * request is stored, and in headers and bodies when they are read; see `KeyMask` and `RequestMessages`.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { described, nonNegativeInt, optional } from "../Validation.ts"
import { FaultId, Method, Path } from "./Fault.ts"
import * as Glob from "./Glob.ts"
import * as KeyMask from "./KeyMask.ts"
import * as Page from "./RecordPage.ts"
import * as Messages from "./RequestMessages.ts"
import type { Decision } from "./Rule.ts"

/**
 * - `waiting`: no response has been sent yet.
 * - `complete`: the caller received the service's own response.
 * - `replaced`: the caller received another response.
 * - `cut`: the caller received half a response.
 * - `dropped`: the caller received no response.
 * - `abandoned`: the caller closed the connection before the response.
 *
 * @since 0.1.0
 * @category models
 */
export const Delivered = Schema.Literals(["waiting", "complete", "replaced", "cut", "dropped", "abandoned"])
/** @since 0.1.0 @category models */
export type Delivered = typeof Delivered.Type

/** @since 0.1.0 @category models */
export const RequestRecord = Schema.Struct({
  /** The same as in the `x-request-id` header of the response. */
  id: Schema.String,
  method: Schema.String,
  /** As it was sent, without the query. */
  path: Schema.String,
  /** As it was sent, without the question mark. */
  query: Schema.String,
  /** The matched operation; null if the route is unknown. */
  operation: Schema.NullOr(Schema.String),
  /** The parameters of the path, decoded. */
  params: Schema.Record(Schema.String, Schema.String),
  /** The account of its key; null without a known key. */
  accountId: Schema.NullOr(Schema.String),
  /** The id of its key; null without a known key. */
  keyId: Schema.NullOr(Schema.String),
  /** When it arrived. */
  at: Timestamp,
  /** From its arrival to the start of its response, by the sandbox's clock; null until then. */
  durationMillis: Schema.NullOr(Schema.Finite),
  /** The status of the service's own response; null if a fault kept the request from the service. */
  status: Schema.NullOr(Schema.Int),
  /** The rule that decided it, by a stable name such as `admission.rate` or `chat.block`; null until it is decided. */
  rule: Schema.NullOr(Schema.String),
  /** Why the rule applied, as a sentence. */
  reason: Schema.NullOr(Schema.String),
  delivered: Delivered,
  /** The status that the caller received; null without a response. */
  deliveredStatus: Schema.NullOr(Schema.Int),
  /** The faults that hit it. */
  faults: Schema.Array(FaultId),
  /** Whether a text of the record was too long and was cut; a cut text ends with an ellipsis. */
  truncated: Schema.Boolean
}).annotate({ identifier: "RequestRecord" })
/** @since 0.1.0 @category models */
export interface RequestRecord extends Schema.Struct.Type<typeof RequestRecord.fields> {}

/**
 * The mutable record of a request in progress.
 *
 * @since 0.1.0
 * @category models
 */
export type Entry = { -readonly [Field in Exclude<keyof RequestRecord, "at">]: RequestRecord[Field] } & {
  /** In milliseconds since 1970. */
  readonly at: number
}

/**
 * Maximum number of requests that are kept.
 *
 * @since 0.1.0
 * @category models
 */
export const capacity = 10_000

/**
 * Maximum bytes of all kept requests together.
 *
 * @since 0.1.0
 * @category models
 */
export const maxBytes = 16 * 1024 * 1024

/**
 * Maximum characters of a path, a query or a parameter. Longer ones are cut.
 *
 * @since 0.1.0
 * @category models
 */
export const maxLength = 2_000

/** Maximum characters of a reason. */
const maxReasonLength = 500

/**
 * Which requests to list: the newest, or the first after a given one. The order is always oldest first.
 *
 * @since 0.1.0
 * @category models
 */
export const RequestQuery = Schema.Struct({
  /** Lists from the request after this id. `req_0` and ids of an earlier run list from the oldest. */
  after: optional(Schema.String.check(Schema.isPattern(/^req_\d{1,15}$/u))),
  /** The method in capitals; `*` matches any run of characters, here and in the other filters. */
  method: optional(Method),
  /** The path as it was sent, without `/open/v1` and the query. */
  path: optional(Path),
  /** The operation, such as `createPost`. */
  operation: optional(Schema.String),
  /** The rule that decided it. */
  rule: optional(Schema.String),
  /** The status of the service's own response, such as `200` or `4*`. A request that a fault kept from the service has none. */
  status: optional(Schema.String),
  /** The status that the caller received. */
  deliveredStatus: optional(Schema.String),
  /** The account of the key; over HTTP also its username. */
  account: optional(Schema.String),
  /** A fault that hit it. */
  fault: optional(Schema.String),
  /** Maximum number of requests (default: 1,000). A page has fewer if they are large. */
  limit: optional(Page.Limit),
  /** Returns the number of matching requests instead of a page. `after` and `limit` have no effect on it. */
  count: optional(described(Schema.Literals(["", "true"]), "true or empty"))
  // Without an identifier: OpenAPI would have no parameters.
})
/** @since 0.1.0 @category models */
export type RequestQuery = typeof RequestQuery.Type

/**
 * A page of the log.
 *
 * @since 0.1.0
 * @category models
 */
export const RequestPage = Schema.Struct({
  /** Oldest first. */
  data: Schema.Array(RequestRecord),
  /** The value of `after` for the next page; null if no request follows yet. */
  next: Schema.NullOr(Schema.String)
}).annotate({ identifier: "RequestPage" })
/** @since 0.1.0 @category models */
export interface RequestPage extends Schema.Struct.Type<typeof RequestPage.fields> {}

/**
 * A request with its headers and bodies.
 *
 * @since 0.1.0
 * @category models
 */
export const RequestDetail = Schema.Struct({
  ...RequestRecord.fields,
  /** Null while the request waits for its response, and once newer requests have taken the room. */
  messages: Schema.NullOr(Messages.RequestMessages)
}).annotate({ identifier: "RequestDetail" })
/** @since 0.1.0 @category models */
export interface RequestDetail extends Schema.Struct.Type<typeof RequestDetail.fields> {}

/**
 * The number of requests that match.
 *
 * @since 0.1.0
 * @category models
 */
export const RequestCount = Schema.Struct({ count: nonNegativeInt }).annotate({ identifier: "RequestCount" })

/**
 * The filters of a {@link RequestQuery}.
 *
 * @since 0.1.0
 * @category models
 */
export type RequestFilter = Omit<RequestQuery, "after" | "limit" | "count">

const prefix = "req_"

const matches = (filter: RequestFilter): (entry: Entry) => boolean => {
  const { account, deliveredStatus, fault, method, operation, path, rule, status } = filter
  /** Whether a pattern matches one of the values. */
  const test = (pattern: string | undefined, valuesOf: (entry: Entry) => ReadonlyArray<string | number | null>) => {
    if (pattern === undefined) {
      return []
    }
    const glob = Glob.make(pattern)
    return [(entry: Entry) => valuesOf(entry).some((value) => value !== null && glob(String(value)).matches)]
  }
  const tests = [
    ...test(account, ({ accountId }) => [accountId]),
    ...test(deliveredStatus, (entry) => [entry.deliveredStatus]),
    ...test(fault, ({ faults }) => faults),
    ...test(method, (entry) => [entry.method]),
    ...test(operation, (entry) => [entry.operation]),
    ...test(path, (entry) => [entry.path]),
    ...test(rule, (entry) => [entry.rule]),
    ...test(status, (entry) => [entry.status])
  ]
  return (entry) => tests.every((isMatch) => isMatch(entry))
}

/** Cuts a text that is too long. It copies the rest, because a substring keeps the whole text in memory. */
const cut = (entry: Pick<Entry, "truncated">, text: string, most: number): string => {
  if (text.length <= most) {
    return text
  }
  entry.truncated = true
  return `${Buffer.from(text.slice(0, most)).toString()}…`
}

/** Upper bound of the bytes of a record with the longest reason, without its path and query. */
const overhead = 1_600

/** Upper bound of the bytes of a record: two for each character. Parameters are parts of the path, which counts twice. */
const sizeOf = ({ method, path, query }: Entry): number => overhead + 2 * (method.length + 2 * path.length + query.length)

const toRecord = (entry: Entry): RequestRecord => ({ ...entry, at: DateTime.makeUnsafe(entry.at) })

const make = (keyPrefixes: ReadonlySet<string>) => {
  const mask = KeyMask.make(keyPrefixes)
  let entries: Array<Entry | undefined> = []
  /** Index of the oldest kept entry. */
  let first = 0
  let bytes = 0
  let opened = 0
  const messages = Messages.makeStore()
  const kept = (): ReadonlyArray<Entry> => entries.slice(first).filter((entry) => entry !== undefined)
  const forgetOldest = () => {
    while (entries.length - first > capacity || bytes > maxBytes) {
      const oldest = entries[first]
      bytes -= oldest === undefined ? 0 : sizeOf(oldest)
      entries[first++] = undefined
    }
    // In bulk, because removing one item from the front of an array moves all others.
    if (first >= capacity) {
      entries = entries.slice(first)
      first = 0
    }
  }
  return {
    /** Opens the record of a request. */
    open: (method: string, path: string, query: string, at: number): Entry => {
      const entry: Entry = {
        id: `${prefix}${++opened}`,
        method: "",
        path: "",
        query: "",
        operation: null,
        params: {},
        accountId: null,
        keyId: null,
        at,
        durationMillis: null,
        status: null,
        rule: null,
        reason: null,
        delivered: "waiting",
        deliveredStatus: null,
        faults: [],
        truncated: false
      }
      entry.method = cut(entry, mask.text(method), maxReasonLength)
      entry.path = cut(entry, mask.text(path), maxLength)
      entry.query = cut(entry, mask.text(query), maxLength)
      entries.push(entry)
      bytes += sizeOf(entry)
      forgetOldest()
      return entry
    },
    /** Records the operation of a request. */
    noteOperation: (entry: Entry, operation: string, params: Readonly<Record<string, string | undefined>>): void => {
      entry.operation = operation
      entry.params = Object.fromEntries(
        Object.entries(params).flatMap(([name, value]) => value === undefined ? [] : [[name, cut(entry, mask.segment(value), maxLength)]])
      )
    },
    /** Records the rule that decided a request. */
    noteDecision: (entry: Entry, { reason, rule }: Decision): void => {
      entry.rule = rule
      entry.reason = cut(entry, mask.segment(reason), maxReasonLength)
    },
    /** Stores the headers and bodies of a completed request while there is room. */
    keepMessages: (entry: Entry, original: Messages.Original): void => messages.add(entry.id, original),
    /** A request with its headers and bodies; undefined if it is unknown or forgotten. */
    detail: (id: string): RequestDetail | undefined => {
      const entry = entries.findLast((known) => known?.id === id)
      const original = messages.find(id)
      return entry === undefined
        ? undefined
        : { ...entry, at: DateTime.makeUnsafe(entry.at), messages: original === undefined ? null : Messages.read(original, mask) }
    },
    /** The request as it was sent, with its key; undefined if it is no longer kept. */
    original: (id: string): Messages.Original | undefined => messages.find(id),
    /** A copy of all kept requests, oldest first. */
    all: (): ReadonlyArray<RequestRecord> => kept().map(toRecord),
    /** A copy of one page, oldest first. */
    read: (query: RequestQuery): RequestPage => {
      const { after, limit } = query
      const { data, last } = Page.read(
        kept().filter(matches(query)),
        { after: after === undefined ? undefined : Page.numberOf(after), limit },
        { newest: opened, bytesOf: sizeOf }
      )
      return { data: data.map(toRecord), next: last?.id ?? null }
    },
    /** The number of kept requests that match. */
    count: (filter: RequestFilter): number => kept().filter(matches(filter)).length,
    clear: (): void => {
      entries = []
      first = 0
      bytes = 0
      messages.clear()
    }
  }
}

/** @since 0.1.0 @category services */
export class RequestLog extends Context.Service<RequestLog, ReturnType<typeof make>>()("@plaza/sandbox/RequestLog") {
  static readonly layer = Layer.effect(RequestLog, Effect.map(CurrentLatitude, ({ keyPrefixes }) => make(keyPrefixes)))
}
