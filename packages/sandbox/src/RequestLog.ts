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
import { FaultId } from "./Faults.js"

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
export type Entry = { -readonly [Field in keyof RequestRecord]: RequestRecord[Field] }

/**
 * Requests that are kept.
 *
 * @since 0.1.0
 * @category models
 */
export const capacity = 10_000

/** @since 0.1.0 @category services */
export class RequestLog extends Context.Tag("@plaza/sandbox/RequestLog")<RequestLog, {
  /** Opens the record of a request. */
  readonly open: (method: string, path: string, query: string, at: number) => Entry
  /** A copy of what is kept, oldest first. */
  readonly all: Effect.Effect<ReadonlyArray<RequestRecord>>
  readonly clear: Effect.Effect<void>
}>() {}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<RequestLog> = Layer.sync(RequestLog, () => {
  let entries: Array<Entry> = []
  let opened = 0
  return {
    open: (method, path, query, at) => {
      const entry: Entry = {
        id: `req_${++opened}`,
        method,
        path,
        query,
        operation: null,
        params: {},
        accountId: null,
        at: DateTime.unsafeMake(at),
        status: null,
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
    all: Effect.sync(() => entries.slice(-capacity).map((entry) => ({ ...entry }))),
    clear: Effect.sync(() => {
      entries = []
    })
  }
})
