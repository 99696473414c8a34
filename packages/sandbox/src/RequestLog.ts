/**
 * What was asked of the sandbox lately, what it decided and what the caller got. Kept in memory, the last
 * {@link capacity} requests. Knows nothing of keys: none is ever noted.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { FaultId } from "./Fault.js"

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
  /** What the service decided; null when the request never reached it. */
  status: Schema.NullOr(Schema.Int),
  /** What decided it, by a name that stays, such as `gate.rate` or `chat.block`; null until it is decided. */
  rule: Schema.NullOr(Schema.String),
  /** Why, in a sentence. */
  reason: Schema.NullOr(Schema.String),
  delivered: Delivered,
  /** The status that the caller saw; null when none. */
  deliveredStatus: Schema.NullOr(Schema.Int),
  /** The faults that hit it. */
  faults: Schema.Array(FaultId)
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

const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/**
 * Which requests to tell of; all that are kept unless told.
 *
 * @since 0.1.0
 * @category models
 */
export const RequestQuery = Schema.Struct({
  /** Those that came after the one with this id: all of them when it is of an earlier run. */
  after: optional(Schema.String.pipe(Schema.pattern(/^req_\d{1,15}$/))),
  /** Those that mean this operation of the contract. */
  operation: optional(Schema.String),
  /** Those that this rule decided. */
  rule: optional(Schema.String),
  /** The last ones, at most so many. */
  limit: optional(Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, capacity)))
}).annotations({ identifier: "RequestQuery", parseOptions: { onExcessProperty: "error" } })
/** @since 0.1.0 @category models */
export type RequestQuery = typeof RequestQuery.Type

/** @since 0.1.0 @category services */
export class RequestLog extends Context.Tag("@plaza/sandbox/RequestLog")<RequestLog, {
  /** Opens the record of a request. */
  readonly open: (method: string, path: string, query: string, at: number) => Entry
  /** A copy of what is kept, oldest first. */
  readonly all: Effect.Effect<ReadonlyArray<RequestRecord>>
  /** A copy of a part of it, oldest first. */
  readonly read: (query: RequestQuery) => Effect.Effect<ReadonlyArray<RequestRecord>>
  readonly clear: Effect.Effect<void>
}>() {}

const prefix = "req_"
const numberOf = (id: string): number => Number(id.slice(prefix.length))

const matches = ({ after, operation, rule }: RequestQuery, opened: number) => {
  const number = after === undefined ? 0 : numberOf(after)
  // Numbers begin again with every start, so one that is still to come is of an earlier run.
  const last = number > opened ? 0 : number
  return (entry: Entry): boolean =>
    numberOf(entry.id) > last &&
    (operation === undefined || entry.operation === operation) &&
    (rule === undefined || entry.rule === rule)
}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<RequestLog> = Layer.sync(RequestLog, () => {
  let entries: Array<Entry> = []
  let opened = 0
  const read = (query: RequestQuery): Effect.Effect<ReadonlyArray<RequestRecord>> =>
    Effect.sync(() =>
      entries.slice(-capacity).filter(matches(query, opened)).slice(-(query.limit ?? capacity)).map((entry) => ({ ...entry, at: DateTime.unsafeMake(entry.at) }))
    )
  return {
    open: (method, path, query, at) => {
      const entry: Entry = {
        id: `${prefix}${++opened}`,
        method,
        path,
        query,
        operation: null,
        params: {},
        accountId: null,
        at,
        status: null,
        rule: null,
        reason: null,
        delivered: "waiting",
        deliveredStatus: null,
        faults: []
      }
      entries.push(entry)
      // Thrown away in bulk, since taking one from the front moves all the others.
      if (entries.length >= 2 * capacity) {
        entries = entries.slice(-capacity)
      }
      return entry
    },
    all: read({}),
    read,
    clear: Effect.sync(() => {
      entries = []
    })
  }
})
