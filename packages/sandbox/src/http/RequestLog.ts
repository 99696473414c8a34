/**
 * What was asked of the sandbox lately, what it decided and what the caller got. Kept in memory: the last
 * {@link capacity} requests, and of those no more than fit into {@link maxBytes}. Keys of this sandbox, of the current and of
 * earlier prefixes, are masked before a request is kept; see `KeyMask`.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Page from "../control/RecordPage.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import { FaultId } from "./Fault.js"
import * as KeyMask from "./KeyMask.js"
import type { Decision } from "./Rule.js"

/**
 * - `waiting`: nothing has been delivered yet.
 * - `answered`: the caller got what was decided.
 * - `replaced`: the caller got another answer.
 * - `cut`: the caller got half an answer.
 * - `dropped`: the caller got nothing.
 * - `abandoned`: the caller went away before.
 *
 * @since 0.1.0
 * @category models
 */
export const Delivered = Schema.Literal("waiting", "answered", "replaced", "cut", "dropped", "abandoned")
/** @since 0.1.0 @category models */
export type Delivered = typeof Delivered.Type

/** @since 0.1.0 @category models */
export const RequestRecord = Schema.Struct({
  /** The same as in the `x-request-id` header of its answer. */
  id: Schema.String,
  method: Schema.String,
  /** As it was sent, without the query. */
  path: Schema.String,
  /** As it was sent, without the question mark. */
  query: Schema.String,
  /** The operation of the contract that it means; null when it means none. */
  operation: Schema.NullOr(Schema.String),
  /** The parts of its path, decoded. */
  params: Schema.Record({ key: Schema.String, value: Schema.String }),
  /** Whose key it carried; null when it carried none that is known. */
  accountId: Schema.NullOr(Schema.String),
  /** When it arrived. */
  at: Timestamp,
  /** What the service decided; null when a fault kept the request from it. */
  status: Schema.NullOr(Schema.Int),
  /** What decided it, by a name that stays, such as `gate.rate` or `chat.block`; null until it is decided. */
  rule: Schema.NullOr(Schema.String),
  /** Why, in a sentence. */
  reason: Schema.NullOr(Schema.String),
  delivered: Delivered,
  /** The status that the caller saw; null when none. */
  deliveredStatus: Schema.NullOr(Schema.Int),
  /** The faults that hit it. */
  faults: Schema.Array(FaultId),
  /** Whether something of it was too long to be kept; it then ends with an ellipsis. */
  truncated: Schema.Boolean
}).annotations({ identifier: "RequestRecord" })
/** @since 0.1.0 @category models */
export interface RequestRecord extends Schema.Schema.Type<typeof RequestRecord> {}

/**
 * A record while its request is on the way.
 *
 * @since 0.1.0
 * @category models
 */
export type Entry = { -readonly [Field in Exclude<keyof RequestRecord, "at">]: RequestRecord[Field] } & {
  /** In milliseconds since 1970. */
  readonly at: number
}

/**
 * Requests that are kept.
 *
 * @since 0.1.0
 * @category models
 */
export const capacity = 10_000

/**
 * Most bytes that all kept requests take together.
 *
 * @since 0.1.0
 * @category models
 */
export const maxBytes = 16 * 1024 * 1024

/**
 * Most characters of a path, a query and a parameter that are kept.
 *
 * @since 0.1.0
 * @category models
 */
export const maxLength = 2_000

/** Most characters of a reason that are kept. */
const maxReasonLength = 500

/** Most requests in one response, and how many there are without a `limit`. */
const maxPage = Page.maxItems

const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/**
 * Which requests to list: the newest, or the first after a known one, always oldest first.
 *
 * @since 0.1.0
 * @category models
 */
export const RequestQuery = Schema.Struct({
  /** The first ones after the one with this id; from the oldest on when it is `req_0` or of an earlier run. */
  after: optional(Schema.String.pipe(Schema.pattern(/^req_\d{1,15}$/))),
  /** Those that mean this operation of the contract. */
  operation: optional(Schema.String),
  /** Those that this rule decided. */
  rule: optional(Schema.String),
  /** At most so many (default: 1,000). Fewer come where they are large. */
  limit: optional(Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, maxPage)))
}).annotations({ identifier: "RequestQuery", parseOptions: { onExcessProperty: "error" } })
/** @since 0.1.0 @category models */
export type RequestQuery = typeof RequestQuery.Type

/**
 * A part of the log.
 *
 * @since 0.1.0
 * @category models
 */
export const RequestPage = Schema.Struct({
  /** Oldest first. */
  data: Schema.Array(RequestRecord),
  /** What to pass as `after` for those that follow; null when there are none yet. */
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "RequestPage" })
/** @since 0.1.0 @category models */
export interface RequestPage extends Schema.Schema.Type<typeof RequestPage> {}

/** @since 0.1.0 @category services */
export class RequestLog extends Context.Tag("@plaza/sandbox/RequestLog")<RequestLog, {
  /** Opens the record of a request. */
  readonly open: (method: string, path: string, query: string, at: number) => Entry
  /** Notes which operation a request means. */
  readonly noteOperation: (entry: Entry, operation: string, params: Readonly<Record<string, string>>) => void
  /** Notes what decided a request. */
  readonly noteDecision: (entry: Entry, decision: Decision) => void
  /** A copy of what is kept, oldest first. */
  readonly all: Effect.Effect<ReadonlyArray<RequestRecord>>
  /** A copy of a part of it, oldest first. */
  readonly read: (query: RequestQuery) => Effect.Effect<RequestPage>
  readonly clear: Effect.Effect<void>
}>() {}

const prefix = "req_"

const matches = ({ operation, rule }: RequestQuery) => (entry: Entry): boolean =>
  (operation === undefined || entry.operation === operation) && (rule === undefined || entry.rule === rule)

/** A text as it is kept, cut where it is too long. A copy then, since a part of a text keeps the whole of it in memory. */
const cut = (entry: Pick<Entry, "truncated">, text: string, most: number): string => {
  if (text.length <= most) {
    return text
  }
  entry.truncated = true
  return `${Buffer.from(text.slice(0, most)).toString()}…`
}

/** More than a record takes beside its path and query, with the longest reason. */
const overhead = 1_600

/** Bytes that a record takes at most: two for a character, and parameters are parts of the path. */
const sizeOf = ({ method, path, query }: Entry): number => overhead + 2 * (method.length + 2 * path.length + query.length)

const toRecord = (entry: Entry): RequestRecord => ({ ...entry, at: DateTime.unsafeMake(entry.at) })

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<RequestLog["Type"], never, CurrentLatitude> = Effect.map(CurrentLatitude, ({ keyPrefixes }) => {
  const mask = KeyMask.make(keyPrefixes)
  let entries: Array<Entry | undefined> = []
  /** Where the oldest that is kept stands. */
  let first = 0
  let bytes = 0
  let opened = 0
  const kept = (): ReadonlyArray<Entry> => entries.slice(first).filter((entry) => entry !== undefined)
  const forgetOldest = () => {
    while (entries.length - first > capacity || bytes > maxBytes) {
      const oldest = entries[first]
      bytes -= oldest === undefined ? 0 : sizeOf(oldest)
      entries[first++] = undefined
    }
    // In bulk, since taking one from the front moves all the others.
    if (first >= capacity) {
      entries = entries.slice(first)
      first = 0
    }
  }
  return {
    open: (method, path, query, at) => {
      const entry: Entry = {
        id: `${prefix}${++opened}`,
        method: "",
        path: "",
        query: "",
        operation: null,
        params: {},
        accountId: null,
        at,
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
    noteOperation: (entry, operation, params) => {
      entry.operation = operation
      entry.params = Object.fromEntries(
        Object.entries(params).map(([name, value]) => [name, cut(entry, mask.segment(value), maxLength)])
      )
    },
    noteDecision: (entry, { reason, rule }) => {
      entry.rule = rule
      entry.reason = cut(entry, mask.segment(reason), maxReasonLength)
    },
    all: Effect.sync(() => kept().map(toRecord)),
    read: (query) =>
      Effect.sync(() => {
        const { after, limit } = query
        const { data, last } = Page.read(
          kept().filter(matches(query)),
          { after: after === undefined ? undefined : Page.numberOf(after), limit },
          { newest: opened, bytesOf: sizeOf }
        )
        return { data: data.map(toRecord), next: last?.id ?? null }
      }),
    clear: Effect.sync(() => {
      entries = []
      first = 0
      bytes = 0
    })
  }
})

/** @since 0.1.0 @category layers */
export const layer = Layer.effect(RequestLog, make)
